"""A small receipt in every format."""
