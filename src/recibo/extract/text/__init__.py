"""Parses text: numbers, dates, labels; languages and countries as data."""
