"""Fits the weights of the reading library, and generates receipts to test it with."""
