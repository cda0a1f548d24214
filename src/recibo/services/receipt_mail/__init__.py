"""Receipts by email: addresses of organizations, mails to them, and replies."""
