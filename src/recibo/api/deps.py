"""What routes ask for: the services, the actor, guards."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader
from pydantic import BaseModel

from recibo.errors import InsufficientScope, ValidationFailed
from recibo.services.identity import keys
from recibo.services.reading.extraction import Extraction
from recibo.shapes.actor import KeyActor, Visit
from recibo.shapes.states import Scope
from recibo.store.blobs import Blobs
from recibo.store.db import Database

#: Tells whether a part of the service works.
Probe = Callable[[], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Services:
    """What the routes work with; `recibo.app` builds it."""

    database: Database
    blobs: Blobs
    extraction: Extraction
    #: Where uploads lie while their request lasts.
    spool: Path
    #: Signs the cursors of lists.
    cursor_key: str
    #: How long POST /v1/extract waits for the reading.
    extract_wait_seconds: float
    #: Whether webhooks must be https, as in production.
    https_webhooks_only: bool
    #: Whether webhooks may go to loopback and private addresses.
    private_webhooks_allowed: bool
    metrics_token: str | None
    is_production: bool
    #: By the name of the part.
    probes: Mapping[str, Probe]


def services_of(request: Request) -> Services:
    """Return what the app was built with."""
    return cast("Services", request.app.state.services)


def visit_of(request: Request) -> Visit:
    """Return where a request comes from."""
    return Visit(
        request_id=request.state.request_id,
        ip_address=request.client.host if request.client else None,
        user_agent=request.headers.get("user-agent"),
    )


TheServices = Annotated[Services, Depends(services_of)]

_api_key = APIKeyHeader(
    name="X-API-Key", auto_error=False, description="A secret key, `sk_live_…`."
)


async def _authenticated(
    request: Request, services: TheServices, secret: Annotated[str | None, Security(_api_key)]
) -> KeyActor:
    async with services.database.read() as session:
        return await keys.authenticate(session, secret, visit=visit_of(request))


AnyKey = Annotated[KeyActor, Depends(_authenticated)]


async def _reads(actor: AnyKey) -> KeyActor:
    return _require(actor, Scope.READ)


async def _extracts(actor: AnyKey) -> KeyActor:
    if Scope.EXTRACT_WRITE in actor.scopes:
        return actor
    return _require(actor, Scope.WRITE)


async def _deletes(actor: AnyKey) -> KeyActor:
    return _require(_require(actor, Scope.READ), Scope.WRITE)


def _require(actor: KeyActor, scope: Scope) -> KeyActor:
    if scope not in actor.scopes:
        message = f"the scope `{scope}`"
        raise InsufficientScope.lacking(message)
    return actor


CanRead = Annotated[KeyActor, Depends(_reads)]
CanExtract = Annotated[KeyActor, Depends(_extracts)]
CanDelete = Annotated[KeyActor, Depends(_deletes)]


def refuse_repeated(request: Request, query: type[BaseModel]) -> None:
    """Refuse a query parameter that is given twice: nobody can tell which one was meant."""
    given = [name for name, _ in request.query_params.multi_items()]
    for name in given:
        is_known = name in query.model_fields or name.startswith("metadata.")
        if is_known and given.count(name) > 1:
            raise ValidationFailed.of(name, "is given more than once; give it once")
