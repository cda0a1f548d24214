"""Render templates, with the values that every page needs."""

import hashlib
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fastapi import Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse

from recibo.errors import ServiceError
from recibo.portal import formats, navigation
from recibo.portal.error_messages import ErrorMessage
from recibo.portal.forms import Filled
from recibo.web import loopback

if TYPE_CHECKING:
    from recibo.web.services import Services

_FOLDER = Path(__file__).parent
_SEE_OTHER = 303
#: The path of the development inbox.
INBOX = "/portal/inbox"
#: The attribute of the request's state with the signed-in user, for the navigation.
VIEWER = "portal_viewer"


class Redirect(Exception):  # noqa: N818 - a redirect is no error
    """Raised to redirect to another page."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(path)


def show(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """Render a template as a response."""
    services = cast("Services", request.app.state.services)
    identity = services.identity
    viewer = getattr(request.state, VIEWER, None)
    text = (
        _templates()
        .get_template(template)
        .render(
            request_id=request.state.request_id,
            path=request.url.path,
            is_signed_in=viewer is not None,
            sections=navigation.seen_by(viewer, plans=identity.plans),
            sells_plans=identity.plans.are_sold,
            signup=identity.signup.value,
            mail_goes=_mail_goes(request, services),
            **context,
        )
    )
    return HTMLResponse(text, status_code=status)


def form(request: Request, template: str, values: Mapping[str, str] | None = None) -> HTMLResponse:
    """Render a page with a form."""
    return show(request, template, values=values or {}, refusal=ErrorMessage())


def form_errors(request: Request, filled: Filled, error: ServiceError) -> HTMLResponse:
    """Render a submitted form again, with its errors."""
    refusal = ErrorMessage.of(error, filled.visible)
    return show(
        request, filled.template, status=error.status, values=filled.values, refusal=refusal
    )


def section(
    request: Request,
    template: str,
    *,
    values: Mapping[str, str],
    error: ServiceError | None = None,
    **context: Any,
) -> HTMLResponse:
    """Render the page of a section, with the submitted values and the error, if there is one."""
    status = error.status if error else HTTPStatus.OK
    refusal = ErrorMessage.of(error, values) if error else ErrorMessage()
    answer = show(request, template, status=status, values=values, refusal=refusal, **context)
    if error:
        set_error_headers(answer, error)
    return answer


def set_error_headers(answer: Response, error: ServiceError) -> None:
    """Set the headers that the response to an error must have."""
    if error.status == HTTPStatus.UNAUTHORIZED:
        # RFC 9110 requires a challenge; browsers ignore unknown ones and show the page.
        answer.headers["WWW-Authenticate"] = 'Session realm="recibo"'
    if error.retry_after is not None:
        answer.headers["Retry-After"] = str(error.retry_after)


def see_other(path: str) -> RedirectResponse:
    """Return a redirect to another page (303)."""
    return RedirectResponse(path, status_code=_SEE_OTHER)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["static"] = _static
    environment.filters.update(formats.FILTERS)
    return environment


def _mail_goes(request: Request, services: "Services") -> str:
    """Return where users find unsent mail: `inbox`, `files`, or empty if mail is sent."""
    if services.outbox is None:
        return ""
    return "inbox" if loopback.is_local(request) else "files"


@cache
def _static(name: str) -> str:
    content = (_FOLDER / "static" / name).read_bytes()
    return f"/portal/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"
