"""Which requests are sent again, when, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenacity import RetryCallState, retry_if_exception, stop_before_delay, wait_random_exponential

from recibo_client import errors

if TYPE_CHECKING:
    from recibo_client._calls import Call

_WAIT = wait_random_exponential(multiplier=0.5, max=10)
# A server that restarts is back by then; a wrong URL is not worth the wait.
_UNREACHABLE_SECONDS = 5.0
_BUSY = {408, 429, 500, 502, 503, 504}
# These were refused before anything was done.
_REFUSED = {408, 429}


def policy(call: Call, retry_seconds: float) -> dict[str, Any]:
    """Return the arguments of tenacity's Retrying for a request.

    The last error is raised when the next attempt would begin later than `retry_seconds` after
    the first; so a quota that is used up until next month is an error at once.
    """

    def may_retry(error: BaseException) -> bool:
        if isinstance(error, errors.ConnectionFailedError):
            return call.is_repeatable or not error.was_sent
        if isinstance(error, errors.APIError):
            return error.status in (_BUSY if call.is_repeatable else _REFUSED)
        return False

    def should_stop(state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        is_unreachable = isinstance(error, errors.ConnectionFailedError) and not error.was_sent
        limit = min(retry_seconds, _UNREACHABLE_SECONDS) if is_unreachable else retry_seconds
        return stop_before_delay(limit)(state)

    return {
        "retry": retry_if_exception(may_retry),
        "wait": _pause,
        "stop": should_stop,
        "reraise": True,
    }


def _pause(state: RetryCallState) -> float:
    """Return the seconds until the next attempt: as the server says, else growing."""
    error = state.outcome.exception() if state.outcome else None
    backoff = _WAIT(state)
    if isinstance(error, errors.APIError) and error.retry_after is not None:
        # Clients that were refused together should not come back together.
        return max(error.retry_after, 0) + min(backoff, 1.0)
    return backoff
