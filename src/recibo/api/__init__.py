"""The /v1 interface as JSON: one file a resource."""
