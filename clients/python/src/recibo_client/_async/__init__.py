"""The client for asyncio and trio. `_sync` is generated from these files: `make clients`."""
