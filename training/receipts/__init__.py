"""Draws synthetic receipts and invoices with their exact truth."""
