"""OCR engines behind one Protocol."""
