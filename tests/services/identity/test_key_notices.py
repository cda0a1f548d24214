"""Mails about keys that end soon: at 14 days, 3 days and 24 hours, once each."""

import asyncio
import datetime as dt

import pytest
from sqlalchemy import select, update

from recibo.lib import clock, ids
from recibo.schemas.ids import OrgId
from recibo.schemas.states import MailKind, Role
from recibo.services.identity import key_notices, keys
from recibo.services.identity.keys import NewKey
from recibo.store.db import Database
from recibo.store.tables import ApiKey, Mail, Membership, User
from tests import make
from tests.core import Core

DAY = dt.timedelta(days=1)
HOUR = dt.timedelta(hours=1)


@pytest.fixture
async def org_id(database: Database) -> OrgId:
    """An org with an owner."""
    org_id = await make.org(database)
    await join(database, org_id, "owner", Role.OWNER)
    return org_id


async def join(
    database: Database, org_id: OrgId, name: str, role: Role, *, is_disabled: bool = False
) -> None:
    """Add a user to an org."""
    now = clock.now()
    user = User(id=ids.new("usr"), email=f"{name}@recibo.test", created_at=now)
    user.disabled_at = now if is_disabled else None
    async with database.write() as session:
        session.add(user)
        await session.flush()
        session.add(Membership(org_id=org_id, user_id=user.id, role=role, created_at=now))


async def add(database: Database, org_id: OrgId, life: dt.timedelta, name: str = "CI") -> None:
    """Add a key that ends after a time."""
    async with database.write() as session:
        keys.create(session, org_id, NewKey(name, expires_at=clock.now() + life))


async def mailed(database: Database, *, after: dt.timedelta) -> list[str]:
    """Look for keys that end, some time from now, and return whom new mails go to."""
    with clock.moved(after):
        await key_notices.enqueue_expiry_mails(database)
    async with database.write() as session:
        mails = list((await session.execute(select(Mail).order_by(Mail.recipient))).scalars())
        for mail in mails:
            await session.delete(mail)
    return [mail.recipient.partition("@")[0] for mail in mails]


async def test_notices_come_at_14_days_3_days_and_24_hours(
    database: Database, org_id: OrgId
) -> None:
    await add(database, org_id, 20 * DAY)

    came = {
        str(left): await mailed(database, after=20 * DAY - left)
        for left in (14 * DAY + HOUR, 14 * DAY - HOUR, 4 * DAY, 3 * DAY + HOUR, 3 * DAY - HOUR,
                     2 * DAY, DAY + HOUR, DAY - HOUR, HOUR, -HOUR)
    }  # fmt: skip

    once = ["owner"]
    assert [[], once, [], [], once, [], [], once, [], []] == list(came.values())


@pytest.mark.parametrize(
    ("life", "count"),
    [(15 * DAY, 3), (14 * DAY - HOUR, 2), (3 * DAY - HOUR, 1), (DAY - HOUR, 0), (HOUR, 0)],
    ids=str,
)
async def test_key_born_late_gets_the_later_notices_only(
    database: Database, org_id: OrgId, life: dt.timedelta, count: int
) -> None:
    await add(database, org_id, life)

    # Looked at some times between any two notices, at first at birth and at last at the end.
    hours = int(life / HOUR)
    came = [await mailed(database, after=passed * HOUR) for passed in (*range(0, hours, 5), hours)]

    assert [["owner"]] * count == [one for one in came if one]
    assert [] == came[0]


@pytest.mark.parametrize("left", [13 * DAY, 2 * DAY, HOUR], ids=str)
async def test_key_found_late_gets_the_nearest_notice_only(
    database: Database, org_id: OrgId, left: dt.timedelta
) -> None:
    await add(database, org_id, 30 * DAY)

    assert ["owner"] == await mailed(database, after=30 * DAY - left)
    assert [] == await mailed(database, after=30 * DAY - left)


async def test_active_owners_and_admins_are_notified(database: Database, org_id: OrgId) -> None:
    for role in (Role.ADMIN, Role.DEVELOPER, Role.VIEWER, Role.BILLING):
        await join(database, org_id, role, role)
    await join(database, org_id, "disabled", Role.OWNER, is_disabled=True)
    await join(database, await make.org(database), "stranger", Role.OWNER)
    await add(database, org_id, 20 * DAY)

    assert ["admin", "owner"] == await mailed(database, after=10 * DAY)


async def test_mail_names_key_org_and_end(database: Database, org_id: OrgId) -> None:
    await add(database, org_id, 20 * DAY, "Expenses")
    with clock.moved(10 * DAY):
        await key_notices.enqueue_expiry_mails(database)

    async with database.read() as session:
        mail = (await session.execute(select(Mail))).scalar_one()
        end = (await session.execute(select(ApiKey.expires_at))).scalar_one()
    assert end is not None
    assert MailKind.KEY_EXPIRING == mail.kind
    assert {"key": "Expenses", "org": org_id, "when": end.isoformat()} == mail.names


async def test_no_mail_for_revoked_and_unlimited_keys(database: Database, org_id: OrgId) -> None:
    await add(database, org_id, 20 * DAY)
    async with database.write() as session:
        await session.execute(update(ApiKey).values(revoked_at=clock.now()))
        keys.create(session, org_id, NewKey("endless"))

    assert [] == await mailed(database, after=10 * DAY)


async def test_several_processes_notify_once(database: Database, org_id: OrgId) -> None:
    for number in range(5):
        await add(database, org_id, 20 * DAY, str(number))

    with clock.moved(10 * DAY):
        await asyncio.gather(*(key_notices.enqueue_expiry_mails(database) for _ in range(4)))

    async with database.read() as session:
        names = [mail.names["key"] for mail in (await session.execute(select(Mail))).scalars()]
    assert ["0", "1", "2", "3", "4"] == sorted(names)


async def test_none_is_left_out_where_many_end(
    database: Database, org_id: OrgId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recibo.services.identity.key_notices._BATCH", 2)
    for number in range(5):
        await add(database, org_id, 20 * DAY, str(number))

    assert 5 == len(await mailed(database, after=10 * DAY))


async def test_periodic_job_sends_notices(parts: Core, database: Database, org_id: OrgId) -> None:
    await add(database, org_id, 20 * DAY)

    with clock.moved(10 * DAY):
        await parts.periodic_tasks.run_once()

    assert ["owner"] == await mailed(database, after=10 * DAY)
