"""The state of the service: database, files, rate limits, pub/sub."""
