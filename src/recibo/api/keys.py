"""API keys: created, listed and revoked by members; GET /v1/key returns the calling key."""

import contextlib
import datetime as dt
from typing import Annotated, TypeAlias

from fastapi import Depends, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from recibo.api import json_body, routers
from recibo.api.deps import AnySecretKey, MayReadKeys, MayWriteKeys
from recibo.api.responses import errors_of
from recibo.schemas.keys import Key
from recibo.schemas.plans import PlanName
from recibo.schemas.states import KeyKind, Scope
from recibo.services.identity import keys
from recibo.services.reading import usage
from recibo.web.services import TheServices

router = routers.make("/v1", tag="api keys")


def _instant(given: object) -> object:
    """Accept ISO 8601 only; a time without an offset is UTC."""
    if given is None:
        return None
    with contextlib.suppress(ValueError, OverflowError):
        instant = dt.datetime.fromisoformat(given if isinstance(given, str) else "")
        if instant.tzinfo is None:
            return instant.replace(tzinfo=dt.UTC)
        return instant.astimezone(dt.UTC)
    message = "must be an ISO 8601 timestamp, such as 2027-01-31T00:00:00Z"
    raise ValueError(message)


Instant: TypeAlias = Annotated[dt.datetime | None, BeforeValidator(_instant)]


class NewKey(BaseModel):
    """The key to create."""

    # Without it, Swagger UI suggests an expiry in the past.
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "Expenses", "scopes": ["read", "write"]}]}
    )

    name: str = Field(min_length=1, max_length=255)
    kind: KeyKind = Field(default=KeyKind.SECRET, description="`publishable` for browsers.")
    scopes: list[Scope] = Field(
        default=[Scope.READ, Scope.WRITE],
        min_length=1,
        description="A publishable key has `extract:write`, whatever is given here.",
    )
    expires_at: Instant = Field(default=None, description="In the future; never expires if absent.")


class IssuedKey(Key):
    """A new key with its secret, which is shown only once."""

    secret: str


class KeyList(BaseModel):
    """The keys of an org."""

    data: list[Key]


class OwnKey(Key):
    """An API key with its org's plan and use."""

    plan: PlanName
    quota_receipts_month: int | None = Field(description="`null` where there is no quota.")
    usage_this_month: int = Field(description="Receipts completed this calendar month, UTC.")
    credits_used_this_month: int


@router.post(
    "/api-keys",
    summary="Create an API key",
    status_code=201,
    openapi_extra=json_body.documented(NewKey),
    responses=errors_of(400, 401, 403, 409, 429, 500),
)
async def create_key(
    member: MayWriteKeys,
    response: Response,
    services: TheServices,
    body: Annotated[NewKey, Depends(json_body.json_body(NewKey))],
) -> IssuedKey:
    """Create a key and return its secret, which cannot be read again later."""
    wanted = keys.NewKey(
        name=body.name,
        kind=body.kind,
        scopes=body.scopes if "scopes" in body.model_fields_set else None,
        expires_at=body.expires_at,
    )
    async with services.database.write() as session:
        issued = await keys.issue(session, member, wanted)
    # It holds the secret.
    response.headers["Cache-Control"] = "no-store"
    return IssuedKey(**issued.key.model_dump(), secret=issued.secret)


@router.get("/api-keys", summary="List API keys", responses=errors_of(401, 403, 429, 500))
async def list_keys(member: MayReadKeys, services: TheServices) -> KeyList:
    """List the org's keys, newest first, with those that are revoked or expired."""
    async with services.database.read() as session:
        listed = await keys.newest_first(session, member, services.identity.key_uses)
    return KeyList(data=listed)


@router.delete(
    "/api-keys/{key_id}",
    summary="Revoke an API key",
    status_code=204,
    # A 204 has no content type.
    response_class=Response,
    responses=errors_of(401, 403, 404, 429, 500),
)
async def revoke_key(key_id: str, member: MayWriteKeys, services: TheServices) -> None:
    """Revoke a key: its next request is refused. Developers may revoke only their own keys."""
    async with services.database.write() as session:
        await keys.revoke(session, member, key_id)


@router.get("/key", summary="Get the calling key", responses=errors_of(401, 403, 429, 500))
async def get_own_key(actor: AnySecretKey, services: TheServices) -> OwnKey:
    """Return the secret key that makes the request; it needs no scope."""
    async with services.database.read() as session:
        key = await keys.own(session, actor, services.identity.key_uses)
        used = await usage.this_month(session, actor)
    return OwnKey(
        **key.model_dump(),
        plan=actor.plan.name,
        quota_receipts_month=actor.plan.receipts_a_month,
        usage_this_month=used.completed,
        credits_used_this_month=used.credits,
    )
