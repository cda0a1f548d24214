"""Finds line items: rows of a receipt, columns of a table, the description of a service."""
