"""Requests that no route takes: counted for whoever they show, as those are that one takes."""

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from recibo.api import deps, errors, rate_limits
from recibo.errors import RateLimitExceeded, ServiceError


async def not_found(request: Request, error: Exception) -> Response:
    """Answer an unknown path or a wrong method, or tell whoever asks that it is too often."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
    if rate_limits.is_due(request.scope):
        try:
            await deps.identify_user(request)
        except RateLimitExceeded as e:
            return errors.render(e, request.state.request_id)
        except ServiceError:
            # Nobody known: the address alone is counted, as the answer goes out.
            pass
    return errors.of_framework(request, error)
