"""Candidates of every field to one receipt, and its confidence."""
