"""Uploads, what is read from them, and what that costs."""
