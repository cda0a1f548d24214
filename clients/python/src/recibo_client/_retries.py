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
# Where no server has answered yet, the URL may be wrong, which is not worth a longer wait.
_UNREACHABLE_SECONDS = 5.0
# A server that restarts is back by then.
_RESTART_SECONDS = 30.0
_SERVER_ERRORS = 500
# These were refused before anything was done.
_REFUSED = {408, 429}


class Retries:
    """Decides after each failure of a request whether it is sent again.

    A failure is final when so many seconds have passed since the first one, or when the server
    says to wait longer; so a quota that is used up until next month is an error at once.
    """

    def __init__(self, call: Call, retry_seconds: float, *, is_known: bool) -> None:
        """Begin with a request.

        Args:
            call: The request.
            retry_seconds: How long after the first failure it may be sent again.
            is_known: Whether the server answered an earlier request.
        """
        self._is_repeatable = call.is_repeatable
        self._seconds = retry_seconds
        self._is_known = is_known
        self._first_failure: float | None = None
        self._failures = 0

    def pause_after(self, error: errors.ReciboError) -> float | None:
        """Return the seconds until the next attempt, or None if the error is final."""
        if not self._may_retry(error):
            return None
        now = time.monotonic()
        self._failures += 1
        self._first_failure = now if self._first_failure is None else self._first_failure
        self._is_known = self._is_known or not _is_unreachable(error)
        limit = self._seconds
        if _is_unreachable(error):
            longest = _RESTART_SECONDS if self._is_known else _UNREACHABLE_SECONDS
            limit = min(limit, longest)
        left = self._first_failure + limit - now
        asked = _retry_after(error)
        if left <= 0 or asked > left:
            return None
        # The last attempt is at the end of the time, not before.
        return min(asked + self._backoff(has_asked=asked > 0), left)

    def _may_retry(self, error: errors.ReciboError) -> bool:
        if isinstance(error, errors.ConnectionFailedError):
            return self._is_repeatable or not error.was_sent
        if isinstance(error, errors.APIError):
            is_busy = (error.status or 0) >= _SERVER_ERRORS
            return error.status in _REFUSED or (is_busy and self._is_repeatable)
        return False

    def _backoff(self, *, has_asked: bool) -> float:
        """Return a pause at random, growing; after the time that the server asked for, a short one.

        Clients that were refused together should not come back together.
        """
        longest = min(_FIRST_PAUSE_SECONDS * 2 ** (self._failures - 1), _MAX_PAUSE_SECONDS)
        return random.SystemRandom().uniform(0, min(longest, 1.0) if has_asked else longest)


def _is_unreachable(error: errors.ReciboError) -> bool:
    return isinstance(error, errors.ConnectionFailedError) and not error.was_sent


def _retry_after(error: errors.ReciboError) -> float:
    given = error.retry_after if isinstance(error, errors.APIError) else None
    return max(given or 0, 0)
