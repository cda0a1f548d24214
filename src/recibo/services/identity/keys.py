"""API keys: how they are made and recognised."""

import datetime as dt
from collections.abc import Sequence

from sqlalchemy import select

from recibo.errors import ExpiredApiKey, Unauthorized, ValidationFailed
from recibo.kit import clock, ids, tokens
from recibo.services import audit
from recibo.shapes.actor import KeyActor, Visit
from recibo.shapes.ids import KeyId, OrgId
from recibo.shapes.keys import Key
from recibo.shapes.plans import PlanName
from recibo.shapes.states import AuditAction, KeyKind, ResourceType, Scope
from recibo.store import scope
from recibo.store.db import ReadSession, Session
from recibo.store.tables import ApiKey, Org

_PREFIXES = {KeyKind.SECRET: "sk_live_", KeyKind.PUBLISHABLE: "pk_publishable_"}
_PREFIX_SHOWN = 8
_LAST_SHOWN = 4
_MAX_NAME = 255


async def authenticate(session: ReadSession, secret: str | None, *, visit: Visit) -> KeyActor:
    """Return who holds this secret.

    Raises:
        Unauthorized: there is no such key, or it was revoked.
        ExpiredApiKey: its time is over.
    """
    if not secret or not tokens.is_well_formed(secret):
        raise Unauthorized
    query = (
        select(ApiKey, Org.plan)
        .join(Org, Org.id == ApiKey.org_id)
        .where(ApiKey.secret_hash == tokens.fingerprint(secret))
    )
    found = (await session.execute(query)).one_or_none()
    if found is None or found.ApiKey.revoked_at is not None:
        raise Unauthorized
    if found.ApiKey.expires_at is not None and found.ApiKey.expires_at <= clock.now():
        raise ExpiredApiKey
    return _actor(found.ApiKey, PlanName(found.plan), visit)


def create(
    session: Session,
    org_id: OrgId,
    *,
    name: str,
    scopes: Sequence[Scope] = (Scope.READ, Scope.WRITE),
    created_by: str | None = None,
    expires_at: dt.datetime | None = None,
) -> str:
    """Add a secret key to an org inside the caller's transaction and return its secret, once.

    Raises:
        ValidationFailed: the name is empty or longer than 255 characters.
    """
    if not 1 <= len(name) <= _MAX_NAME:
        raise ValidationFailed.of("name", f"has 1 to {_MAX_NAME} characters")
    secret = tokens.new_secret(_PREFIXES[KeyKind.SECRET])
    row = ApiKey(
        id=ids.new("key"),
        org_id=org_id,
        name=name,
        kind=KeyKind.SECRET,
        secret_hash=tokens.fingerprint(secret),
        prefix=secret[:_PREFIX_SHOWN],
        last4=secret[-_LAST_SHOWN:],
        scopes=[str(one) for one in dict.fromkeys(scopes)],
        expires_at=expires_at,
        created_at=clock.now(),
        created_by=created_by,
    )
    session.add(row)
    after = {"name": name, "scopes": row.scopes, "is_live": True}
    audit.record_by_operator(
        session,
        org_id,
        AuditAction.APIKEY_CREATED,
        resource=(ResourceType.API_KEY, row.id),
        after=after,
    )
    return secret


async def own(session: ReadSession, actor: KeyActor) -> Key:
    """Return the record of the key that acts."""
    query = scope.of(actor, ApiKey).where(ApiKey.id == actor.key_id)
    return shape((await session.execute(query)).scalar_one())


def shape(row: ApiKey) -> Key:
    """Return the record of a key as the API shows it."""
    return Key(
        id=row.id,
        org_id=row.org_id,
        name=row.name,
        kind=KeyKind(row.kind),
        prefix=row.prefix,
        last4=row.last4,
        scopes=[Scope(one) for one in row.scopes],
        is_live=True,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        created_at=row.created_at,
        created_by=row.created_by,
        last_used_at=row.last_used_at,
    )


def _actor(row: ApiKey, plan: PlanName, visit: Visit) -> KeyActor:
    return KeyActor(
        org_id=OrgId(row.org_id),
        plan=plan,
        key_id=KeyId(row.id),
        kind=KeyKind(row.kind),
        scopes=frozenset(Scope(one) for one in row.scopes),
        visit=visit,
    )
