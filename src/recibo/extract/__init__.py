"""The reading library: bytes of a document in, a typed receipt out."""
