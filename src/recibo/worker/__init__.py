"""Background work: the task queue, periodic jobs, and the workers for mail, webhooks and usage."""
