"""Choices about the pages that a cookie of the browser stores: theme, language, single keys."""

from fastapi import Request, Response

from recibo.portal import next_paths, pages
from recibo.web.cookies import LAX, is_secure
from recibo.web.services import Services

_YEAR_SECONDS = 365 * 86_400


def remember(
    request: Request, services: Services, *, cookie: str, value: str, next_path: str
) -> Response:
    """Store a choice for a year and return to the page where it was made."""
    answer = pages.see_other(next_paths.of(next_path))
    answer.set_cookie(
        cookie,
        value,
        max_age=_YEAR_SECONDS,
        path="/",
        httponly=True,
        samesite=LAX,
        secure=is_secure(request, services),
    )
    return answer
