"""Parses the UTC offset that is printed after a time of day."""

import datetime as dt
import re

# ISO 8601: "12:41:00+05:30", "12:41:00Z"; "10:00-18:00" is a range of hours.
_BARE = re.compile(r"(?:\.\d{1,9})?(?:z(?![^\W_])|\s?([+\-\u2212])(\d{2}):?(00|15|30|45)(?![\d:]))")
# With a name: "12:41 UTC+5:30", "12:41 (GMT+2)", "12:41 UTC".
_NAMED = re.compile(
    r"\s{0,2}\(?(?:utc|gmt)(?![^\W\d_])(?:\s?([+\-\u2212])\s?(\d{1,2})(?::?(00|15|30|45))?(?![\d:]))?"
)
_MINUS = "-\u2212"
_WITH_SECONDS = 2
# The largest offset, that of Kiribati.
_FARTHEST = dt.timedelta(hours=14)


def after(text: str, start: int, end: int) -> dt.timedelta | None:
    """Return the offset after a time in folded `text`; None if none is printed."""
    is_exact = text[start:end].count(":") == _WITH_SECONDS or text[:start].endswith("t")
    match = _NAMED.match(text, end) or (_BARE.match(text, end) if is_exact else None)
    if match is None:
        return None
    sign, hours, minutes = match.groups()
    offset = dt.timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    if offset > _FARTHEST:
        return None
    return -offset if sign and sign in _MINUS else offset
