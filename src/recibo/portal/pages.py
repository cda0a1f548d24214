"""Templates, and what all of them may show."""

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
#: Where the development inbox is.
INBOX = "/portal/inbox"
#: Where the request keeps who is signed in, whom every page shows the ways to the sections.
VIEWER = "portal_viewer"


class Redirect(Exception):  # noqa: N818 - no error: the page is another one
    """Another page is shown instead."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(path)


def show(request: Request, template: str, *, status: int = 200, **said: Any) -> HTMLResponse:
    """Return a page."""
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
            **said,
        )
    )
    return HTMLResponse(text, status_code=status)


def form(request: Request, template: str, values: Mapping[str, str] | None = None) -> HTMLResponse:
    """Return a page with a form to fill in."""
    return show(request, template, values=values or {}, refusal=ErrorMessage())


def form_errors(request: Request, filled: Filled, error: ServiceError) -> HTMLResponse:
    """Return the page with the form that was sent, and what is wrong with it."""
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
    **said: Any,
) -> HTMLResponse:
    """Return the page of a section, with what was filled in and refused, if anything was."""
    status = error.status if error else HTTPStatus.OK
    refusal = ErrorMessage.of(error, values) if error else ErrorMessage()
    answer = show(request, template, status=status, values=values, refusal=refusal, **said)
    if error:
        flash(answer, error)
    return answer


def flash(answer: Response, error: ServiceError) -> None:
    """Tell the browser by headers what the answer to an error must tell."""
    if error.status == HTTPStatus.UNAUTHORIZED:
        # RFC 9110 wants a challenge; browsers know none of this name and show the page.
        answer.headers["WWW-Authenticate"] = 'Session realm="recibo"'
    if error.retry_after is not None:
        answer.headers["Retry-After"] = str(error.retry_after)


def see_other(path: str) -> RedirectResponse:
    """Lead on to another page, by GET."""
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
    """Return where people find mail that is not sent: `inbox`, `files`, or nowhere."""
    if services.outbox is None:
        return ""
    return "inbox" if loopback.is_local(request) else "files"


@cache
def _static(name: str) -> str:
    content = (_FOLDER / "static" / name).read_bytes()
    return f"/portal/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"
