"""The ASGI app: all routes, the middleware around them, the OpenAPI document."""

from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException

from recibo.api import (
    account,
    analytics,
    audit,
    billing,
    docs_page,
    email_links,
    errors,
    extract,
    invitations,
    keys,
    members,
    not_found,
    operations,
    orgs,
    receipts,
    sign_in,
    two_factor,
    webhooks,
)
from recibo.api.cors import CorsHeaders, Preflights
from recibo.api.openapi import document
from recibo.api.request_log import PageOf, RequestMiddleware
from recibo.web.security_headers import SecurityHeaders
from recibo.web.services import Services

# Reading it takes milliseconds.
_VERSION = version("recibo")
_DESCRIPTION = """
Upload a photo, scan or PDF of a receipt, an invoice or a Brazilian fiscal document and get back a
typed record. Send your API key in the `X-API-Key` header.

Amounts are strings with a decimal point; missing values are `null`. Every answer has the header
`X-Request-ID`; every error has the body `{"error": {"code", "message", "request_id"}}`.
"""


def create_app(services: Services, page_of: PageOf | None = None) -> FastAPI:
    """Build the app over its services; `page_of` answers refused requests for pages."""
    # Swagger UI is served from here, so /docs works without internet access.
    app = FastAPIOffline(
        title="Recibo",
        version=_VERSION,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        static_url=docs_page.STATIC,
        redirect_slashes=False,
        separate_input_output_schemas=False,
    )
    app.state.services = services
    # Routes are matched in this order, at 2 us each: the most frequent first. The framework's
    # `include_router` would match a module's routes twice and take ten times as long.
    for module in (
        extract,
        receipts,
        orgs,
        account,
        analytics,
        audit,
        billing,
        invitations,
        keys,
        email_links,
        members,
        sign_in,
        two_factor,
        webhooks,
        operations,
        docs_page,
    ):
        app.router.routes.extend(module.router.routes)
    errors.install(app)
    app.add_exception_handler(HTTPException, not_found.not_found)
    # Each is outside of those before it.
    app.add_middleware(docs_page.CompressedDocs)
    app.add_middleware(Preflights)
    app.add_middleware(RequestMiddleware, page_of=page_of)
    app.add_middleware(CorsHeaders)
    app.add_middleware(SecurityHeaders, services=services)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        # The routes can be described without the services behind them.
        base_url = getattr(app.state.services, "base_url", "")
        app.openapi_schema = document.build(app, base_url)
    return app.openapi_schema
