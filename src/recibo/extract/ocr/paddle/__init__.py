"""PP-OCRv6 small run directly on onnxruntime."""
