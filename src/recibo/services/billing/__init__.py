"""What an org pays for: checkouts, subscriptions, and what the payment provider tells."""
