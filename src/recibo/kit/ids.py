"""Identifiers: a prefix that names the kind, then a time-ordered unique id (UUIDv7, RFC 9562)."""

import uuid_utils


def new(prefix: str) -> str:
    """Return a new id such as `rcp_01964f…`: 32 hex digits, later ids sort after earlier ones."""
    return f"{prefix}_{uuid_utils.uuid7().hex}"
