"""Webhooks: events, endpoints and deliveries."""
