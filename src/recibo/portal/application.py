"""The pages as one ASGI app, and the route by which it joins the API's."""

from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import BaseRoute, Match
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from recibo.errors import ServiceError, ValidationFailed
from recibo.portal import (
    account,
    analytics,
    audit,
    billing,
    duplicates,
    email_links,
    errors,
    headers,
    home,
    inbox,
    invitations,
    keys,
    language,
    members,
    next_paths,
    organization,
    pages,
    receipt_exports,
    receipt_mail,
    receipt_selection,
    receipts,
    review,
    security,
    shortcuts,
    sign_in,
    style,
    theme,
    translations,
    two_factor,
    webhook_endpoints,
    webhooks,
)
from recibo.portal.compression import CompressedPages
from recibo.portal.headers import Headers
from recibo.portal.language import Languages
from recibo.web.services import Services

_STATIC = Path(__file__).parent / "static"
SECTIONS = (
    account,
    analytics,
    audit,
    billing,
    home,
    inbox,
    invitations,
    keys,
    email_links,
    language,
    members,
    organization,
    receipt_mail,
    # Their paths would be ids of receipts, too.
    receipt_exports,
    receipt_selection,
    receipts,
    duplicates,
    review,
    security,
    shortcuts,
    sign_in,
    style,
    theme,
    two_factor,
    webhook_endpoints,
    webhooks,
)


class Pages(BaseRoute):
    """`/`, `/portal` and whatever is below it."""

    def __init__(self, services: Services) -> None:
        self._pages = create_app(services)
        self._app = Languages(Headers(CompressedPages(self._pages), services))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Take the paths of pages, and no other."""
        return (Match.FULL if _is_page(scope) else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a page."""
        await self._app(scope, receive, send)

    async def refused(self, scope: Scope, error: ServiceError) -> Response | None:
        """Return the page for an error that the server answers itself; None for other paths."""
        if not _is_page(scope):
            return None
        # Nobody is identified and nothing is read: the service may be overloaded.
        scope = {**scope, "app": self._pages}
        with translations.using(language.of(Request(scope))):
            # Users cannot correct the encoding of a request.
            is_invalid = isinstance(error, ValidationFailed)
            answer = errors.page(Request(scope), ValidationFailed() if is_invalid else error)
        headers.add_to(answer)
        return answer


def _is_page(scope: Scope) -> bool:
    path = scope["path"] if scope["type"] == "http" else ""
    return path in ("/", "/portal") or path.startswith("/portal/")


class _Static(StaticFiles):
    """Their addresses change with what is in them, so browsers may keep them for a year."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        # Python's table of media types lacks it before 3.14.
        if str(arguments[0]).endswith(".woff2"):
            response.headers["Content-Type"] = "font/woff2"
        return response


def create_app(services: Services) -> FastAPI:
    """Build the app of the pages; it answers their whole paths."""
    app = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.services = services
    # The framework's `include_router` would match a section's routes twice, and would build each
    # again for its first request.
    for module in SECTIONS:
        if module is not billing or services.identity.plans.are_sold:
            app.router.routes.extend(module.router.routes)
    # Files without secrets are always compressed: they cannot leak by their size.
    app.mount("/portal/static", GZipMiddleware(_Static(directory=_STATIC), minimum_size=1024))
    for path in ("/", "/portal/"):
        app.add_route(path, _lead_home)
    errors.install(app)
    return app


async def _lead_home(_request: Request) -> Response:
    return pages.see_other(next_paths.HOME)
