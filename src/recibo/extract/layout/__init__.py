"""Puts words into lines, rows and columns."""
