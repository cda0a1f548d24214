"""The command line's own work; `recibo.__main__` parses and calls it."""
