"""The pages as one ASGI app, and the route by which it joins the API's."""

from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.routing import BaseRoute, Match
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from recibo.portal import (
    account,
    analytics,
    audit,
    billing,
    email_links,
    errors,
    home,
    inbox,
    invitations,
    keys,
    members,
    next_paths,
    organization,
    pages,
    receipts,
    security,
    sign_in,
    two_factor,
    webhooks,
)
from recibo.portal.headers import Headers
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
    members,
    organization,
    receipts,
    security,
    sign_in,
    two_factor,
    webhooks,
)


class Pages(BaseRoute):
    """`/`, `/portal` and whatever is below it."""

    def __init__(self, services: Services) -> None:
        self._app = Headers(create_app(services), services)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Take the paths of pages, and no other."""
        path = scope["path"] if scope["type"] == "http" else ""
        is_page = path in ("/", "/portal") or path.startswith("/portal/")
        return (Match.FULL if is_page else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a page."""
        await self._app(scope, receive, send)


class _Static(StaticFiles):
    """Their addresses change with what is in them, so browsers may keep them for good."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
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
    for module in SECTIONS:
        if module is not billing or services.identity.plans.are_sold:
            app.include_router(module.router)
    app.mount("/portal/static", _Static(directory=_STATIC))
    for path in ("/", "/portal/"):
        app.add_route(path, _lead_home)
    errors.install(app)
    return app


async def _lead_home(_request: Request) -> Response:
    return pages.see_other(next_paths.HOME)
