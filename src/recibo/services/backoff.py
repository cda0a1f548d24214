"""Backoff for retries of requests to external servers."""

import datetime as dt
import random
from collections.abc import Sequence

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
# Only adds time: retries of requests that failed together are spread out, and none is early.
_JITTER = 0.2
_RANDOM = random.SystemRandom()


def after(
    attempt: int, pauses: Sequence[dt.timedelta] = _PAUSES, *, jitter: float = _JITTER
) -> dt.timedelta:
    """Return the pause after an attempt; the first attempt is 1."""
    pause = pauses[min(attempt, len(pauses)) - 1]
    return pause * _RANDOM.uniform(1, 1 + jitter)
