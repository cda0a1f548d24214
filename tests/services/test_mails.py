"""Pending mails: rows, leases and retries."""

import asyncio
import datetime as dt

import pytest

from recibo.lib import clock
from recibo.schemas.states import MailKind
from recibo.services import mail_rendering, mails, outbox
from recibo.services.mail_templates import MailContent
from recibo.services.mails import Lease
from recibo.store.db import Database
from tests import mail_fixtures
from tests.mail_fixtures import MARA

NOTICE = MailKind.PASSWORD_CHANGED
SECOND = dt.timedelta(seconds=1)
MINUTE = dt.timedelta(minutes=1)
HOUR = dt.timedelta(hours=1)


async def due(database: Database, *, limit: int = 50) -> list[str]:
    """Return the ids of due mails."""
    async with database.read() as session:
        return await mails.ROWS.due_groups(session, limit=limit)


async def take(database: Database, mail_id: str) -> Lease | None:
    """Take a mail and commit it."""
    async with database.write() as session:
        return await mails.lease(session, mail_id)


async def taken(database: Database) -> Lease:
    """Take the only mail that is due."""
    (seen,) = await due(database)
    lease = await take(database, seen)
    assert lease is not None
    return lease


async def defer(database: Database, lease: Lease) -> bool:
    """Put a mail off and commit it."""
    async with database.write() as session:
        return await mails.defer(session, lease)


async def composed(database: Database) -> MailContent | None:
    """Compose the only mail that is due."""
    lease = await taken(database)
    async with database.write() as session:
        return await mail_rendering.render_pending(session, lease)


async def test_mail_is_due_at_once(database: Database) -> None:
    await mail_fixtures.mail(
        database, MailKind.KEY_EXPIRING, key="till", org="Aurora", when="2026-04-01"
    )

    lease = await taken(database)

    assert (MailKind.KEY_EXPIRING, MARA, 1) == (lease.kind, lease.recipient, lease.attempt)
    assert {"key": "till", "org": "Aurora", "when": "2026-04-01"} == lease.names
    assert lease.id.startswith("mail_")


async def test_mail_of_a_failed_change_is_not_enqueued(database: Database) -> None:
    with pytest.raises(RuntimeError):  # noqa: PT012
        async with database.write() as session:
            mails.enqueue(session, NOTICE, to=MARA)
            raise RuntimeError

    assert [] == await mail_fixtures.rows(database)


@pytest.mark.parametrize(
    ("kind", "missing"),
    [(MailKind.INVITATION, "inviter"), (MailKind.KEY_EXPIRING, "when")],
)
async def test_mail_without_a_required_variable_is_refused(
    database: Database, kind: MailKind, missing: str
) -> None:
    with pytest.raises(ValueError, match=missing):
        await mail_fixtures.mail(
            database, kind, key="till", org="Aurora", role="viewer", invitation_id="x"
        )


async def test_longest_due_come_first_and_no_more_than_asked(database: Database) -> None:
    for minutes in (2, 3, 1):
        with clock.moved(-minutes * MINUTE):
            await mail_fixtures.mail(database, to=f"{minutes}@acme.test")
    with clock.moved(MINUTE):
        await mail_fixtures.mail(database, to="later@acme.test")
    recipient = {row.id: row.recipient for row in await mail_fixtures.rows(database)}

    found = [recipient[one] for one in await due(database, limit=2)]

    assert ["3@acme.test", "2@acme.test"] == found
    assert 3 == len(await due(database))


async def test_of_many_that_saw_it_one_takes_a_mail(database: Database) -> None:
    await mail_fixtures.mail(database)
    (seen,) = await due(database)

    leases = await asyncio.gather(*(take(database, seen) for _ in range(10)))

    assert 9 == leases.count(None)
    assert [] == await due(database)


async def test_expired_lease_lets_another_worker_take_the_mail(database: Database) -> None:
    await mail_fixtures.mail(database)
    await taken(database)

    with clock.moved(outbox.LEASE - SECOND):
        assert [] == await due(database)
    with clock.moved(outbox.LEASE + SECOND):
        assert 2 == (await taken(database)).attempt


async def test_removed_mail_is_not_due(database: Database) -> None:
    await mail_fixtures.mail(database)
    await mail_fixtures.mail(database, to="other@acme.test")
    seen = (await due(database))[0]
    lease = await take(database, seen)
    assert lease is not None

    async with database.write() as session:
        await mails.ROWS.remove(session, lease)

    assert [seen] != [row.id for row in await mail_fixtures.rows(database)]
    assert 1 == len(await mail_fixtures.rows(database))


async def test_tries_come_ever_less_often(database: Database) -> None:
    await mail_fixtures.mail(database)
    pauses = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, HOUR, HOUR]
    passed = dt.timedelta(0)
    for pause in pauses:
        with clock.moved(passed):
            assert await defer(database, await taken(database))
        with clock.moved(passed + pause - SECOND):
            assert [] == await due(database), pause
        passed += pause * 1.2 + SECOND
        with clock.moved(passed):
            assert 1 == len(await due(database)), pause


async def test_mail_that_failed_for_three_days_is_dropped(database: Database) -> None:
    await mail_fixtures.mail(database)

    with clock.moved(dt.timedelta(days=3) - MINUTE):
        assert await defer(database, await taken(database))
    assert 1 == len(await mail_fixtures.rows(database))
    with clock.moved(dt.timedelta(days=3) + 2 * MINUTE):
        assert not await defer(database, await taken(database))
    assert [] == await mail_fixtures.rows(database)


@pytest.mark.parametrize("age", [dt.timedelta(0), dt.timedelta(days=4)])
async def test_expired_lease_cannot_defer_the_mail(database: Database, age: dt.timedelta) -> None:
    with clock.moved(-age):
        await mail_fixtures.mail(database)
    late = await taken(database)
    with clock.moved(outbox.LEASE + SECOND):
        current = await taken(database)
        await defer(database, late)

    assert [current.until] == [row.due_at for row in await mail_fixtures.rows(database)]


@pytest.mark.parametrize(
    "kind", [MailKind.MAGIC_LINK, MailKind.VERIFY_EMAIL, MailKind.PASSWORD_RESET]
)
async def test_mail_with_a_link_is_for_users_who_may_sign_in(
    database: Database, kind: MailKind
) -> None:
    await mail_fixtures.user(database)
    await mail_fixtures.user(database, "gone@acme.test", disabled_at=clock.now())

    contents = []
    for to in (MARA, "gone@acme.test", "unknown@acme.test"):
        await mail_fixtures.mail(database, kind, to=to)
        contents.append(await composed(database))

    assert [True, False, False] == [one is not None and bool(one.token) for one in contents]


async def test_notice_needs_no_user_and_has_no_token(database: Database) -> None:
    await mail_fixtures.mail(database, NOTICE, to="unknown@acme.test")

    content = await composed(database)

    assert content is not None
    assert ("unknown@acme.test", None) == (content.to, content.token)


async def test_each_attempt_has_a_new_message_id(database: Database) -> None:
    await mail_fixtures.mail(database)
    first = await composed(database)
    with clock.moved(outbox.LEASE + SECOND):
        second = await composed(database)

    assert first is not None
    assert second is not None
    assert first.id != second.id


async def test_invitation_is_mailed_while_it_is_pending(database: Database) -> None:
    invitation_id = await mail_fixtures.invitation(database)
    await mail_fixtures.invitation_mail(database, invitation_id)

    content = await composed(database)

    assert content is not None
    assert content.token is not None


async def test_invitation_that_was_revoked_is_not_mailed(database: Database) -> None:
    invitation_id = await mail_fixtures.invitation(database, revoked_at=clock.now())
    await mail_fixtures.invitation_mail(database, invitation_id)

    assert await composed(database) is None
