"""Render errors as pages: on the submitted form, or else on an error page."""

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from recibo.errors import (
    CrossSiteRequest,
    MethodNotAllowed,
    NotFound,
    RateLimitExceeded,
    ServerError,
    ServiceError,
    ValidationFailed,
)
from recibo.portal import error_messages, forms, pages, request_user
from recibo.portal.translations import _, lazy_gettext
from recibo.web import methods, rate_limits

_TITLES = {
    400: lazy_gettext("That did not work"),
    403: lazy_gettext("Not allowed"),
    404: lazy_gettext("Page not found"),
    405: lazy_gettext("That did not work"),
    408: lazy_gettext("That did not work"),
    409: lazy_gettext("That did not work"),
    422: lazy_gettext("The document cannot be read"),
    429: lazy_gettext("Too many requests"),
    431: lazy_gettext("That did not work"),
    503: lazy_gettext("Not available at the moment"),
}
# A page that fails so may be shown later.
_MAY_PASS = (429, 500, 503)


def install(app: FastAPI) -> None:
    """Install handlers that answer every error of an app with a page."""
    app.add_exception_handler(pages.Redirect, _redirect)
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unexpected)


async def _page(request: Request, error: ServiceError) -> Response:
    # Renew tokens only for our own pages, and keep rate-limited requests cheap.
    may_refresh = not isinstance(error, CrossSiteRequest | RateLimitExceeded)
    await request_user.note_viewer(request, request.app.state.services, may_refresh=may_refresh)
    return page(request, error)


def page(request: Request, error: ServiceError) -> Response:
    """Return the page of an error, with the navigation of the user who is known, if any."""
    title = _TITLES.get(error.status, _("Something went wrong"))
    answer = pages.show(
        request,
        "error.html",
        status=error.status,
        title=title,
        message=_sentence(request, error),
        may_pass=request.method == "GET" and error.status in _MAY_PASS,
    )
    pages.set_error_headers(answer, error)
    return answer


def _sentence(request: Request, error: ServiceError) -> str:
    counted = rate_limits.status_of(request.scope)
    if isinstance(error, RateLimitExceeded) and counted and counted.retry_after is not None:
        return error_messages.of_address(counted.retry_after)
    return error_messages.sentence(error)


async def _redirect(_request: Request, error: Exception) -> Response:
    assert isinstance(error, pages.Redirect)  # noqa: S101 - registered for nothing else
    return pages.see_other(error.path)


async def _service_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)  # noqa: S101 - registered for nothing else
    filled: forms.Filled | None = getattr(request.state, forms.FILLED, None)
    if filled is None:
        return await _page(request, error)
    answer = pages.form_errors(request, filled, error)
    pages.set_error_headers(answer, error)
    return answer


async def _invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for nothing else
    return await _page(request, ValidationFailed())


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
    try:
        await rate_limits.count(request)
    except RateLimitExceeded as e:
        return await _service_error(request, e)
    kinds: dict[int, type[ServiceError]] = {404: NotFound, 405: MethodNotAllowed}
    answer = await _page(request, kinds.get(error.status_code, ValidationFailed)())
    answer.headers.update(error.headers or {})
    if error.status_code == MethodNotAllowed.status and (allowed := methods.allowed(request)):
        answer.headers["Allow"] = allowed
    return answer


async def _unexpected(request: Request, _error: Exception) -> Response:
    """Answer an unexpected error; Starlette raises it again, so that it is logged."""
    return await _page(request, ServerError())
