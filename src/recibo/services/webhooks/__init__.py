"""Webhooks: the events that orgs are told of, and how these reach them."""
