"""Text recognition engines behind one Protocol."""
