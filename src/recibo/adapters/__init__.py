"""The world the service does not own, each part behind a small Protocol."""
