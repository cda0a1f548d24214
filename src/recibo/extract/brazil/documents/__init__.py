"""Brazilian fiscal documents: one module per kind, which reads the header fields."""
