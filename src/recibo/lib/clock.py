"""The current time, in one place, so that tests can move it."""

import datetime as dt
import time
from collections.abc import Iterator
from contextlib import contextmanager

_offset = dt.timedelta(0)


def now() -> dt.datetime:
    """Return the current time, aware, in UTC."""
    return dt.datetime.now(dt.UTC) + _offset


def monotonic() -> float:
    """Return the seconds of a clock that is never set back."""
    return time.monotonic()


@contextmanager
def moved(by: dt.timedelta) -> Iterator[None]:
    """Move the clock of this process while the block lasts; can be nested."""
    global _offset  # noqa: PLW0603 - one clock a process is the point
    before, _offset = _offset, _offset + by
    try:
        yield
    finally:
        _offset = before
