"""Billing: checkouts, subscriptions and events of the payment provider."""
