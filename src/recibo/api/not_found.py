"""Requests that no route takes: they count against the same limits as the others."""

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from recibo.api import deps, errors, rate_limits
from recibo.errors import RateLimitExceeded, ServiceError


async def not_found(request: Request, error: Exception) -> Response:
    """Answer an unknown path or a wrong method, or 429 when there were too many requests."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
    if rate_limits.is_due(request.scope):
        try:
            await deps.identify_sender(request)
        except RateLimitExceeded as e:
            return errors.render(e, request.state.request_id)
        except ServiceError:
            # Without a valid credential it is counted for its address when the answer is sent.
            pass
    return errors.of_framework(request, error)
