"""How long what is owed to servers of others waits after a failed try."""

import datetime as dt
import random

# After each failed try; from then on the last. The payment provider tells doubles by their ids for
# a day, so all stay well below that.
_PAUSES = (
    dt.timedelta(seconds=5),
    dt.timedelta(seconds=30),
    dt.timedelta(minutes=2),
    dt.timedelta(minutes=10),
    dt.timedelta(minutes=30),
    dt.timedelta(hours=1),
)
# Many that failed together come again spread out.
_JITTER = 0.2


def after(attempt: int) -> dt.timedelta:
    """Return the pause after so many tries, the first one being 1."""
    pause = _PAUSES[min(attempt, len(_PAUSES)) - 1]
    return pause * random.uniform(1, 1 + _JITTER)  # noqa: S311 - no secret
