"""Decodes the bytes of a file into pages, and checks all limits."""
