"""The OpenAPI document: the routes' own descriptions, with examples, tags and webhooks."""
