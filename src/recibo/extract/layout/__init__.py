"""Words to lines, rows and columns."""
