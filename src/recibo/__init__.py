"""Reads receipts: a photo, scan or PDF in, a typed record out."""
