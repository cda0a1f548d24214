"""One file a field: lines in, candidates with their evidence out."""
