"""What is fitted of each field."""
