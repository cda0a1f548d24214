"""How goods are printed: rows of a till roll, columns of a table, the description of a service."""
