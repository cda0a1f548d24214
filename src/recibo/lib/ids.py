"""Identifiers: a prefix that names the kind, then a time-ordered unique id (UUIDv7, RFC 9562)."""

import re

import uuid_utils

# RFC 9562, section 5.7: an id begins with the Unix time in milliseconds.
_TIME_BITS = 48
_RANDOM_DIGITS = 20
_WELL_FORMED = re.compile(r"[a-z]+_[0-9a-f]{32}")


def new(prefix: str) -> str:
    """Return a new id such as `rcp_01964f…`: 32 hex digits, later ids sort after earlier ones."""
    return f"{prefix}_{uuid_utils.uuid7().hex}"


def is_well_formed(text: str) -> bool:
    """Return whether a text has the form of an id; other texts are not looked up."""
    return _WELL_FORMED.fullmatch(text) is not None


def first_at(prefix: str, unix_seconds: float) -> str:
    """Return the smallest id of a time, clamped to the range of ids."""
    milliseconds = min(max(int(unix_seconds * 1000), 0), 2**_TIME_BITS - 1)
    return f"{prefix}_{milliseconds:012x}{'0' * _RANDOM_DIGITS}"
