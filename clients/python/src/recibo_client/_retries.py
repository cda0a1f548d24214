"""Which requests are sent again, when, and for how long."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from recibo_client import errors

if TYPE_CHECKING:
    from recibo_client._calls import Call

_FIRST_PAUSE_SECONDS = 0.5
_MAX_PAUSE_SECONDS = 10.0
# A server that restarts is back by then; a wrong URL is not worth the wait.
_UNREACHABLE_SECONDS = 5.0
_BUSY = {408, 429, 500, 502, 503, 504}
# These were refused before anything was done.
_REFUSED = {408, 429}


class Retries:
    """Decides after each failure of a request whether it is sent again.

    A failure is final when the next attempt would begin later than `retry_seconds` after the
    first; so a quota that is used up until next month is an error at once.
    """

    def __init__(self, call: Call, retry_seconds: float) -> None:
        self._is_repeatable = call.is_repeatable
        self._seconds = retry_seconds
        self._start = time.monotonic()
        self._failures = 0

    def pause_after(self, error: errors.ReciboError) -> float | None:
        """Return the seconds until the next attempt, or None if the error is final."""
        if not self._may_retry(error):
            return None
        self._failures += 1
        pause = self._pause(error)
        is_unreachable = isinstance(error, errors.ConnectionFailedError) and not error.was_sent
        limit = min(self._seconds, _UNREACHABLE_SECONDS) if is_unreachable else self._seconds
        return pause if time.monotonic() - self._start + pause < limit else None

    def _may_retry(self, error: errors.ReciboError) -> bool:
        if isinstance(error, errors.ConnectionFailedError):
            return self._is_repeatable or not error.was_sent
        if isinstance(error, errors.APIError):
            return error.status in (_BUSY if self._is_repeatable else _REFUSED)
        return False

    def _pause(self, error: errors.ReciboError) -> float:
        """Return how long to wait: as long as the server says, else at random and growing."""
        longest = min(_FIRST_PAUSE_SECONDS * 2 ** (self._failures - 1), _MAX_PAUSE_SECONDS)
        # Clients that were refused together should not come back together.
        pause = random.SystemRandom().uniform(0, longest)
        if isinstance(error, errors.APIError) and error.retry_after is not None:
            return max(error.retry_after, 0) + min(pause, 1.0)
        return pause
