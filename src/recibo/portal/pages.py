"""Render templates, with the values that every page needs."""

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fastapi import Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from starlette.responses import HTMLResponse, RedirectResponse

from recibo.errors import ServiceError
from recibo.portal import (
    field_labels,
    formats,
    headers,
    names,
    navigation,
    next_paths,
    review_checks,
    samples,
    translations,
    vendored,
)
from recibo.portal.error_messages import ErrorMessage
from recibo.portal.forms import FILLED, Filled
from recibo.schemas.actor import SignedIn
from recibo.schemas.permissions import Permission
from recibo.services.reading import receipt_details
from recibo.web import loopback

if TYPE_CHECKING:
    from recibo.web.services import Services

_FOLDER = Path(__file__).parent
_SEE_OTHER = 303
#: The path of the development inbox.
INBOX = "/portal/inbox"
#: The attribute of the request's state with the signed-in user, for the navigation.
VIEWER = "portal_viewer"
#: The attribute of the request's state with the use of the org's quota.
QUOTA = "portal_quota"
#: The attribute of the request's state with the number of receipts to review.
TO_REVIEW = "portal_to_review"
#: The attribute of the request's state with the orgs of the signed-in user.
ORGS = "portal_orgs"
#: Longer lists show `99+`: no page counts a million receipts.
MOST_COUNTED = 100
#: The cookie with the chosen theme.
THEME_COOKIE = "service_theme"
#: The cookie of users who turned single keys off.
KEYS_COOKIE = "service_keys"
_THEMES = ("light", "dark")


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
            here=_here(request),
            theme=_theme(request),
            has_keys=request.cookies.get(KEYS_COOKIE) != "off",
            language=translations.current(),
            plan_quota=getattr(request.state, QUOTA, None),
            to_review=getattr(request.state, TO_REVIEW, 0),
            viewer=viewer,
            may_upload=_may_upload(viewer),
            orgs=getattr(request.state, ORGS, ()),
            menu=navigation.groups(viewer, plans=identity.plans),
            sells_plans=identity.plans.are_sold,
            signup=identity.signup.value,
            mail_goes=_mail_goes(request, services),
            **context,
        )
    )
    answer = HTMLResponse(text, status_code=status)
    if viewer:
        # Scripts upload files and look for results.
        answer.headers["Content-Security-Policy"] = headers.policy(connects=True)
    return answer


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


def _here(request: Request) -> str:
    """Return the page that the language switch returns to; a refused form is loaded again."""
    page = next_paths.form_of_visitors(request.url.path)
    if request.method == "GET" or not page:
        return next_paths.wanted(request)
    filled = getattr(request.state, FILLED, None)
    return next_paths.after(page, next_paths.of(filled.values.get("next") if filled else None))


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    environment.policies["ext.i18n.trimmed"] = True
    # The extension adds this method when it is loaded.
    extended: Any = environment
    extended.install_gettext_callables(
        translations.translate,
        translations.ntranslate,
        pgettext=translations.ptranslate,
        npgettext=translations.nptranslate,
        newstyle=True,
    )
    environment.globals.update(
        static=_static,
        samples=samples,
        ranked_reasons=review_checks.ranked,
        has_picture=receipt_details.has_picture,
        integrity=vendored.INTEGRITY,
        navigation=navigation,
        document_types=names.DOCUMENT_TYPES,
        receipt_fields=field_labels.FIELDS,
        cell_labels=field_labels.CELLS,
        languages=translations.NAMES,
        lazy_gettext=translations.lazy_gettext,
        lazy_pgettext=translations.lazy_pgettext,
    )
    environment.filters.update({name: _of_request(one) for name, one in formats.FILTERS.items()})
    return environment


def _of_request(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter for Jinja2, which keeps what other filters return for constants."""

    @pass_context
    def call(_context: Context, *arguments: Any, **options: Any) -> Any:
        return function(*arguments, **options)

    return call


def _mail_goes(request: Request, services: "Services") -> str:
    """Return where users find unsent mail: `inbox`, `files`, or empty if mail is sent."""
    if services.outbox is None:
        return ""
    return "inbox" if loopback.is_local(request) else "files"


def _may_upload(viewer: SignedIn | None) -> bool:
    member = viewer.member if viewer else None
    return member is not None and member.may(Permission.RECEIPTS_WRITE)


def _theme(request: Request) -> str:
    """Return the theme that the user chose; empty for that of the system."""
    chosen = request.cookies.get(THEME_COOKIE, "")
    return chosen if chosen in _THEMES else ""


@cache
def _static(name: str) -> str:
    content = (_FOLDER / "static" / name).read_bytes()
    return f"/portal/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"
