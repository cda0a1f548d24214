"""API keys: create, authenticate, list and revoke them."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, bindparam, func, or_, select

from recibo.errors import (
    Conflict,
    Detail,
    ExpiredApiKey,
    InsufficientScope,
    NotFound,
    Unauthorized,
    ValidationFailed,
)
from recibo.lib import clock, ids, tokens
from recibo.schemas.actor import ClientInfo, KeyActor, Member
from recibo.schemas.ids import KeyId, OrgId, UserId
from recibo.schemas.keys import Key
from recibo.schemas.permissions import PERMISSIONS, Permission
from recibo.schemas.plans import SOLD, Plans
from recibo.schemas.states import AuditAction, KeyKind, ResourceType, Role, Scope
from recibo.services import audit
from recibo.services.identity import key_notices, orgs
from recibo.services.identity.key_uses import KeyUses
from recibo.store import scope
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import ApiKey, Org

_PREFIXES = {KeyKind.SECRET: "sk_live_", KeyKind.PUBLISHABLE: "pk_publishable_"}
_SCOPES: Mapping[KeyKind, Sequence[Scope]] = {
    KeyKind.SECRET: (Scope.READ, Scope.WRITE),
    KeyKind.PUBLISHABLE: (Scope.EXTRACT_WRITE,),
}
_PREFIX_SHOWN = 8
_LAST_SHOWN = 4
_MAX_NAME = 255
# Active ones an org; those revoked or expired do not count.
_MAX_KEYS = 100
# The others who may revoke keys revoke only what they made.
_REVOKE_ANY = {Role.OWNER, Role.ADMIN}


# Built once: each request runs it, and building it takes longer than running it.
_KEY_OF_SECRET = (
    select(
        ApiKey.id,
        ApiKey.org_id,
        ApiKey.kind,
        ApiKey.scopes,
        ApiKey.expires_at,
        ApiKey.revoked_at,
        Org.plan,
        Org.agreed,
    )
    .join(Org, Org.id == ApiKey.org_id)
    .where(ApiKey.secret_hash == bindparam("secret_hash"))
)


@dataclass(frozen=True, slots=True)
class NewKey:
    """What a key is to be."""

    name: str
    kind: KeyKind = KeyKind.SECRET
    #: None for what its kind usually has; a publishable key has nothing else.
    scopes: Sequence[Scope] | None = None
    expires_at: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class Issued:
    """A new key, with its secret this only time."""

    key: Key
    secret: str


async def authenticate(
    database: Database, secret: str | None, *, visit: ClientInfo, plans: Plans = SOLD
) -> KeyActor:
    """Return who holds this secret.

    Raises:
        Unauthorized: there is no such key, or it was revoked.
        ExpiredApiKey: the key has expired.
    """
    if not secret or not tokens.is_well_formed(secret):
        raise Unauthorized
    found = await database.fetch_row(_KEY_OF_SECRET, {"secret_hash": tokens.fingerprint(secret)})
    if found is None or found.revoked_at is not None:
        raise Unauthorized
    if found.expires_at is not None and found.expires_at <= clock.now():
        raise ExpiredApiKey
    return _actor(found, visit, plans)


def create(
    session: Session, org_id: OrgId, wanted: NewKey, *, created_by: str | None = None
) -> str:
    """Add a key in an operator's name inside the caller's transaction; return its secret, once.

    Raises:
        ValidationFailed: a field is invalid.
    """
    row, secret = _new(org_id, wanted, created_by)
    session.add(row)
    audit.record_by_operator(
        session,
        org_id,
        AuditAction.APIKEY_CREATED,
        resource=(ResourceType.API_KEY, row.id),
        after=_snapshot(row),
    )
    return secret


async def create_within_limits(session: Session, org_id: OrgId, wanted: NewKey) -> str:
    """Do as `create` does, unless the org has as many active keys as it may.

    Raises:
        ValidationFailed: a field is invalid.
        Conflict: there are as many as there may be.
    """
    await orgs.lock(session, org_id)
    await _refuse_if_full(session, org_id)
    return create(session, org_id, wanted)


async def issue(session: Session, member: Member, wanted: NewKey) -> Issued:
    """Add a key to the member's org inside the caller's transaction.

    Raises:
        ValidationFailed: a field is invalid.
        InsufficientScope: the member may not any more.
        Conflict: the org has as many active keys as it may.
    """
    row, secret = _new(member.org_id, wanted, member.user_id)
    # Keys are counted, and a removed member's are revoked, under the same lock.
    await orgs.lock(session, member.org_id)
    member = await orgs.still(session, member, Permission.KEYS_WRITE)
    await _refuse_if_full(session, member.org_id)
    session.add(row)
    audit.record(
        session,
        member,
        AuditAction.APIKEY_CREATED,
        resource=(ResourceType.API_KEY, row.id),
        after=_snapshot(row),
    )
    return Issued(shape(row), secret)


async def revoke(session: Session, member: Member, key_id: str) -> None:
    """Revoke a key inside the caller's transaction; one that is revoked already stays so.

    Raises:
        NotFound: the member's org has no such key.
        InsufficientScope: the member may not any more, or may only revoke the own ones.
    """
    if not ids.is_well_formed(key_id):
        raise _no_such_key()
    await orgs.lock(session, member.org_id)
    member = await orgs.still(session, member, Permission.KEYS_WRITE)
    query = scope.of(member, ApiKey).where(ApiKey.id == key_id).with_for_update()
    row = (await session.execute(query)).scalar_one_or_none()
    if row is None:
        raise _no_such_key()
    if not may_revoke(member, row.created_by):
        detail = Detail("permission", f"`{Permission.KEYS_WRITE}` reaches only keys of your own")
        raise InsufficientScope("Owners and admins revoke what others made.", details=(detail,))
    if row.revoked_at is not None:
        return
    _revoke(session, member, row)


def may_revoke(member: Member, made_by: str | None) -> bool:
    """Return whether a member with the permission may revoke a key of this creator."""
    return member.role in _REVOKE_ANY or made_by == member.user_id


async def revoke_made_by(session: Session, member: Member, user_id: UserId) -> None:
    """Revoke the active keys that a user created in the member's org, and enqueue mails.

    Inside the caller's transaction, which holds the org locked.
    """
    query = scope.of(member, ApiKey).where(*_is_active(), ApiKey.created_by == user_id)
    rows = (await session.execute(query.order_by(ApiKey.id).with_for_update())).scalars().all()
    for row in rows:
        _revoke(session, member, row)
    if rows:
        await key_notices.enqueue_revocation_mail(
            session, member.org_id, user_id, [row.name for row in rows]
        )


async def revoke_beyond(session: Session, member: Member, user_id: UserId, role: Role) -> None:
    """Revoke the keys of a member whose new role may create none.

    Inside the caller's transaction, which holds the org locked.
    """
    if Permission.KEYS_WRITE not in PERMISSIONS[role]:
        await revoke_made_by(session, member, user_id)


async def newest_first(session: ReadSession, member: Member, uses: KeyUses) -> list[Key]:
    """Return the records of all keys of the member's org, revoked and expired ones too."""
    query = scope.of(member, ApiKey).order_by(ApiKey.id.desc())
    return [uses.with_latest(shape(row)) for row in (await session.execute(query)).scalars()]


async def own(session: ReadSession, actor: KeyActor, uses: KeyUses) -> Key:
    """Return the record of the key that acts."""
    query = scope.of(actor, ApiKey).where(ApiKey.id == actor.key_id)
    row = (await session.execute(query)).scalar_one_or_none()
    if row is None:
        # Its org was deleted since it was let in.
        raise Unauthorized
    return uses.with_latest(shape(row))


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


def _new(org_id: OrgId, wanted: NewKey, created_by: str | None) -> tuple[ApiKey, str]:
    now = clock.now()
    _check(wanted, now)
    secret = tokens.new_secret(_PREFIXES[wanted.kind])
    row = ApiKey(
        id=ids.new("key"),
        org_id=org_id,
        name=wanted.name,
        kind=wanted.kind,
        secret_hash=tokens.fingerprint(secret),
        prefix=secret[:_PREFIX_SHOWN],
        last4=secret[-_LAST_SHOWN:],
        scopes=[str(one) for one in dict.fromkeys(_scopes(wanted))],
        expires_at=wanted.expires_at,
        created_at=now,
        created_by=created_by,
        notified_hours=key_notices.missed(now, wanted.expires_at),
    )
    return row, secret


def _check(wanted: NewKey, now: dt.datetime) -> None:
    if not 1 <= len(wanted.name) <= _MAX_NAME:
        raise ValidationFailed.of("name", f"has 1 to {_MAX_NAME} characters")
    if wanted.scopes is not None and not wanted.scopes:
        raise ValidationFailed.of("scopes", f"name one at least of {', '.join(Scope)}")
    if wanted.expires_at is not None and wanted.expires_at <= now:
        raise ValidationFailed.of("expires_at", "is in the past; choose a time in the future")


def _scopes(wanted: NewKey) -> Sequence[Scope]:
    """Return what the key gets; the scopes of a publishable key are fixed."""
    if wanted.kind is KeyKind.PUBLISHABLE or wanted.scopes is None:
        return _SCOPES[wanted.kind]
    return wanted.scopes


def _is_active() -> tuple[ColumnElement[bool], ...]:
    return (
        ApiKey.revoked_at.is_(None),
        or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > clock.now()),
    )


def _revoke(session: Session, member: Member, row: ApiKey) -> None:
    before = _snapshot(row)
    row.revoked_at = clock.now()
    audit.record(
        session,
        member,
        AuditAction.APIKEY_REVOKED,
        resource=(ResourceType.API_KEY, row.id),
        before=before,
        after=_snapshot(row),
    )


async def _refuse_if_full(session: Session, org_id: OrgId) -> None:
    query = select(func.count(ApiKey.id)).where(ApiKey.org_id == org_id, *_is_active())
    if (await session.execute(query)).scalar_one() >= _MAX_KEYS:
        raise Conflict(f"This org has {_MAX_KEYS} active keys already; revoke one first.")


def _snapshot(row: ApiKey) -> dict[str, Any]:
    """Return what the audit log keeps of a key."""
    return {
        "name": row.name,
        "kind": row.kind,
        "scopes": row.scopes,
        "is_live": True,
        "expires_at": _spelled(row.expires_at),
        "revoked_at": _spelled(row.revoked_at),
    }


def _spelled(moment: dt.datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def _no_such_key() -> NotFound:
    return NotFound("There is no API key with this id.")


def _actor(row: Row[Any], visit: ClientInfo, plans: Plans) -> KeyActor:
    return KeyActor(
        org_id=OrgId(row.org_id),
        plan=plans.of(row.plan, row.agreed),
        key_id=KeyId(row.id),
        kind=KeyKind(row.kind),
        scopes=frozenset(Scope(one) for one in row.scopes),
        visit=visit,
    )
