"""PP-OCRv6 small, run directly on ONNX Runtime or OpenVINO."""
