"""The rules: one file a resource. SQL is written here and below."""
