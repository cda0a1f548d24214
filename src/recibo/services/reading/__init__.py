"""Uploads, readings, receipts and usage."""
