"""The fitters of the fields."""
