"""What runs away from requests: tasks and the clockwork."""
