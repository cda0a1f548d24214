"""Words and conventions of languages and countries, as data."""
