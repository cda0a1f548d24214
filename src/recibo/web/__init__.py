"""What the doors to the web share: services, a session's cookies, who may use them."""
