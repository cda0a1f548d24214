"""Backoff for retries of requests to external servers."""

import datetime as dt
import random

# The pause after each failed attempt; the last one repeats. The payment provider recognizes
# duplicate ids for a day, so all pauses are well below that.
_PAUSES = (
    dt.timedelta(seconds=5),
    dt.timedelta(seconds=30),
    dt.timedelta(minutes=2),
    dt.timedelta(minutes=10),
    dt.timedelta(minutes=30),
    dt.timedelta(hours=1),
)
# Spreads out retries of requests that failed together.
_JITTER = 0.2


def after(attempt: int) -> dt.timedelta:
    """Return the pause after an attempt; the first attempt is 1."""
    pause = _PAUSES[min(attempt, len(_PAUSES)) - 1]
    return pause * random.uniform(1, 1 + _JITTER)  # noqa: S311 - no secret
