"""The limits of a receipt's metadata."""

import re
from collections.abc import Mapping

MAX_KEYS, MAX_KEY, MAX_VALUE = 16, 64, 256
#: What PostgreSQL cannot store, and why a value with it is refused.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
NO_TEXT = "holds a NUL character or half of a surrogate pair; leave it out"


def checked(entries: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """Return the entries; raises ValueError if they exceed a limit."""
    given = entries or {}
    if len(given) > MAX_KEYS:
        message = f"at most {MAX_KEYS} keys"
        raise ValueError(message)
    for key, value in given.items():
        if not 1 <= len(key) <= MAX_KEY or len(value) > MAX_VALUE:
            message = f"keys have 1 to {MAX_KEY} characters, values at most {MAX_VALUE}"
            raise ValueError(message)
        if UNSTORABLE.search(key + value):
            raise ValueError(NO_TEXT)
    return entries
