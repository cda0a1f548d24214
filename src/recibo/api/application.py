"""The ASGI app: all routes, the middleware around them, the documents that describe them."""

from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
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
    responses,
    sign_in,
    two_factor,
    webhooks,
)
from recibo.api.cors import CorsHeaders, Preflights
from recibo.api.request_log import RequestMiddleware
from recibo.web.security_headers import SecurityHeaders
from recibo.web.services import Services

_DESCRIPTION = """
Upload a photo, scan or PDF of a receipt, an invoice or a Brazilian fiscal document and get back a
typed record. Send your API key in the `X-API-Key` header.

Amounts are strings with a decimal point; what is not on the page is `null`. Every answer carries
`X-Request-ID`; every error has the shape `{"error": {"code", "message", "request_id"}}`.
"""

_BUSY = {
    "description": responses.MEANINGS[503],
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorAnswer"}}},
}


def create_app(services: Services) -> FastAPI:
    """Build the app over its services."""
    # The documents bring their scripts along: they show on a machine without the outside, too.
    app = FastAPIOffline(
        title="Recibo",
        version=version("recibo"),
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        static_url=docs_page.STATIC,
        redirect_slashes=False,
        separate_input_output_schemas=False,
    )
    app.state.services = services
    # Tried in this order, at 2 us each: first what is asked most. The framework's `include_router`
    # would try all routes of a module twice, and take ten times as long to find a receipt.
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
    # Each stands outside of those before it.
    app.add_middleware(Preflights)
    app.add_middleware(RequestMiddleware)
    app.add_middleware(CorsHeaders)
    app.add_middleware(SecurityHeaders, services=services)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Describe the routes; the framework's own 422 is taken out, as it is answered as 400 here."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        for path in schema["paths"].values():
            for operation in path.values():
                _drop_framework_422(operation["responses"])
                # Any of them may find the database away.
                operation["responses"].setdefault("503", _BUSY)
        for name in ("HTTPValidationError", "ValidationError"):
            schema["components"]["schemas"].pop(name, None)
        app.openapi_schema = schema
    return app.openapi_schema


def _drop_framework_422(responses: dict[str, Any]) -> None:
    content = responses.get("422", {}).get("content", {}).get("application/json", {})
    if content.get("schema", {}).get("$ref", "").endswith("/HTTPValidationError"):
        del responses["422"]
