"""Pure tools without state."""
