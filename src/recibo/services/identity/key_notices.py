"""Mails about the end of API keys: before they expire, and when they are revoked with a role."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, or_, select, update

from recibo.lib import clock
from recibo.schemas.states import MailKind, Role
from recibo.services import mails
from recibo.store.db import Database, Session
from recibo.store.tables import ApiKey, Membership, Org, User

# The nearest first: a key that is found late gets only that notice.
_NOTICES_HOURS = (24, 72, 336)
_NOTIFIED_ROLES = (Role.OWNER, Role.ADMIN)
_BATCH = 500


@dataclass(slots=True)
class _Recipients:
    """The recipients of an org's notices."""

    org_name: str
    addresses: list[str]


def missed(born_at: dt.datetime, expires_at: dt.datetime | None) -> int | None:
    """Return the shortest notice that a key is born too late for, in hours."""
    if expires_at is None:
        return None
    life = expires_at - born_at
    return min((one for one in _NOTICES_HOURS if life < dt.timedelta(hours=one)), default=None)


async def enqueue_expiry_mails(database: Database) -> None:
    """Enqueue a mail about each key that expires soon to the owners and admins of its org.

    The same transaction marks the key, so that only one process enqueues each mail.
    """
    for hours in _NOTICES_HOURS:
        while await _enqueue_batch(database, hours):
            pass


async def enqueue_revocation_mail(
    session: Session, org_id: str, user_id: str, key_names: Sequence[str]
) -> None:
    """Mail a member, and the org's owners and admins, that the keys of this member were revoked.

    Inside the caller's transaction.
    """
    member = await session.get_one(User, user_id)
    org = await session.get_one(Org, org_id)
    names: dict[str, str | int] = {
        "org": org.name,
        "member": member.full_name or member.email,
        "count": len(key_names),
        "keys": ", ".join(key_names),
    }
    found = (await _recipients(session, [org_id])).get(org_id)
    # Each address once; the member always.
    for address in dict.fromkeys([member.email, *(found.addresses if found else ())]):
        mails.enqueue(session, MailKind.KEYS_REVOKED, to=address, names=names)


async def _enqueue_batch(database: Database, hours: int) -> bool:
    is_due = _is_due(hours)
    async with database.read() as session:
        query = select(ApiKey.id).where(*is_due).limit(_BATCH)
        seen = list((await session.execute(query)).scalars())
    if not seen:
        return False
    async with database.write() as session:
        statement = (
            update(ApiKey)
            .where(ApiKey.id.in_(seen), *is_due)
            .values(notified_hours=hours)
            .returning(ApiKey.org_id, ApiKey.name, ApiKey.expires_at)
        )
        due = (await session.execute(statement)).all()
        recipients = await _recipients(session, {row.org_id for row in due})
        for row in due:
            _enqueue(session, row, recipients)
    return True


def _is_due(hours: int) -> list[ColumnElement[bool]]:
    now = clock.now()
    return [
        ApiKey.revoked_at.is_(None),
        ApiKey.expires_at > now,
        ApiKey.expires_at <= now + dt.timedelta(hours=hours),
        or_(ApiKey.notified_hours.is_(None), ApiKey.notified_hours > hours),
    ]


async def _recipients(session: Session, org_ids: Iterable[str]) -> Mapping[str, _Recipients]:
    query = (
        select(Org.id, Org.name, User.email)
        .join(Membership, Membership.org_id == Org.id)
        .join(User, User.id == Membership.user_id)
        .where(
            Membership.org_id.in_(list(org_ids)),
            Membership.role.in_(_NOTIFIED_ROLES),
            User.disabled_at.is_(None),
        )
    )
    found: dict[str, _Recipients] = {}
    for row in await session.execute(query):
        found.setdefault(row.id, _Recipients(row.name, [])).addresses.append(row.email)
    return found


def _enqueue(session: Session, key: Row[Any], recipients: Mapping[str, _Recipients]) -> None:
    org = recipients.get(key.org_id)
    if org is None:
        return
    names = {"key": key.name, "org": org.org_name, "when": key.expires_at.isoformat()}
    for address in org.addresses:
        mails.enqueue(session, MailKind.KEY_EXPIRING, to=address, names=names)
