"""The client without asyncio, generated from `_async`: `make clients`."""
