"""Brazilian fiscal papers, one file a kind: a form in, its header fields out."""
