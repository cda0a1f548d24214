"""Display names of users and keys that acted in an org, by their ids."""

from collections.abc import Iterable, Mapping

from sqlalchemy import select

from recibo.schemas.actor import Member
from recibo.schemas.ids import BROWSER_SESSION, MAIL_ADDRESS
from recibo.store import scope
from recibo.store.db import ReadSession
from recibo.store.tables import ApiKey, Membership, User

_DELETED_USER = "a deleted user"
_DELETED_KEY = "a deleted API key"
_BROWSER = "a visitor with a publishable key"
_MAIL_SENDER = "a sender of mail"


async def of(session: ReadSession, actor: Member, ids: Iterable[str | None]) -> Mapping[str, str]:
    """Return a name for each id of what can make receipts; others are left out.

    The ids come from rows of the actor's org: a former member is named there as well.
    """
    asked = {one for one in ids if one}
    users = {one for one in asked if one.startswith("usr_")}
    keys = {one for one in asked if one.startswith("key_")}
    visitors = {one for one in asked if one.startswith(f"{BROWSER_SESSION}_")}
    found = dict.fromkeys(users, _DELETED_USER) | dict.fromkeys(keys, _DELETED_KEY)
    found |= dict.fromkeys(visitors, _BROWSER)
    found |= {one: _MAIL_SENDER for one in asked if one.startswith(f"{MAIL_ADDRESS}_")}
    if users:
        query = select(User.id, User.full_name, User.email).where(User.id.in_(users))
        rows = (await session.execute(query)).all()
        found |= {row.id: row.full_name or row.email for row in rows}
    if keys:
        named = scope.of(actor, ApiKey).where(ApiKey.id.in_(keys))
        rows_of_keys = (await session.execute(named)).scalars()
        found |= {row.id: f"API key {row.name}" for row in rows_of_keys}
    return found


async def of_org(session: ReadSession, actor: Member) -> Mapping[str, str]:
    """Return the names of all members and keys of the actor's org."""
    users = scope.of(actor, Membership).with_only_columns(Membership.user_id)
    keys = scope.of(actor, ApiKey).with_only_columns(ApiKey.id)
    found = [(await session.execute(query)).scalars().all() for query in (users, keys)]
    return await of(session, actor, [*found[0], *found[1]])
