"""The mail worker, with mail servers that fail and processes that die."""

import asyncio
import datetime as dt
from collections.abc import MutableMapping
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from recibo.adapters import mail
from recibo.adapters.fake_mailer import FakeMailer
from recibo.adapters.mail import Mailer, Outbox, SendError
from recibo.errors import ValidationFailed
from recibo.lib import clock, tokens
from recibo.schemas.ids import UserId
from recibo.schemas.states import MailKind, MailTokenKind
from recibo.services import mail_templates, mails, outbox
from recibo.services.identity import email_tokens
from recibo.services.mail_templates import MailSettings
from recibo.services.outbox import Rows
from recibo.store import tables
from recibo.store.db import Database, Session
from recibo.store.tables import Mail
from recibo.worker.mail_worker import MailWorker
from tests import background, installation, mail_fixtures, mail_servers
from tests.mail_fixtures import MARA
from tests.mail_servers import Inbox, parsed, part

HEAD = MailSettings("https://recibo.test", mail_templates.sender("", "https://recibo.test"))
SECOND = dt.timedelta(seconds=1)
MINUTE = dt.timedelta(minutes=1)
DAY = dt.timedelta(days=1)
NOWHERE = Path("/nowhere")


class KilledError(BaseException):
    """The process dies here."""


class DyingMailer(FakeMailer):
    """Kills the process when the mail is on its way."""

    async def send(self, message: EmailMessage) -> None:
        """Take the mail, and die."""
        await super().send(message)
        raise KilledError


class HeldMailer(FakeMailer):
    """Holds mails in flight until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.open = asyncio.Event()
        self.under_way: asyncio.Queue[str] = asyncio.Queue()

    async def send(self, message: EmailMessage) -> None:
        """Wait, then take the mail."""
        await self.under_way.put(message["To"])
        await self.open.wait()
        await super().send(message)


def post_of(database: Database, mailer: Mailer) -> MailWorker:
    """Return a post with this mailer."""
    return MailWorker(database, mailer, HEAD)


def smtp(port: int) -> Mailer:
    """Return the mailer of a server on this machine."""
    return mail.of(f"smtp://127.0.0.1:{port}", outbox=NOWHERE)


async def consume(database: Database, kind: MailTokenKind, token: str) -> UserId:
    """Spend a token."""
    async with database.write() as session:
        return await email_tokens.consume(session, kind, token)


def events(logs: list[MutableMapping[str, Any]]) -> list[tuple[str, str]]:
    """Return level and text of log lines."""
    return [(line["log_level"], line["event"]) for line in logs]


async def test_mail_is_sent_once(database: Database) -> None:
    await mail_fixtures.mail(database)
    mailer = FakeMailer()

    await post_of(database, mailer).run_once()
    await post_of(database, mailer).run_once()

    assert [MARA] == [one["To"] for one in mailer.sent]
    assert [] == await mail_fixtures.rows(database)


@pytest.mark.parametrize("kind", MailTokenKind)
async def test_token_in_the_mail_is_the_users(database: Database, kind: MailTokenKind) -> None:
    user_id = await mail_fixtures.user(database)
    await mail_fixtures.mail(database, MailKind(kind))
    mailer = FakeMailer()

    await post_of(database, mailer).run_once()

    assert user_id == await consume(database, kind, mail_fixtures.token(mailer.sent[0]))


async def test_token_is_valid_before_the_mail_is_sent(database: Database) -> None:
    user_id = await mail_fixtures.user(database)
    await mail_fixtures.mail(database, MailKind.MAGIC_LINK)
    mailer = DyingMailer()

    with pytest.raises(BaseExceptionGroup):
        await post_of(database, mailer).run_once()

    token = mail_fixtures.token(mailer.sent[0])
    assert user_id == await consume(database, MailTokenKind.MAGIC_LINK, token)


async def test_token_of_an_invitation_is_the_one_in_the_mail(database: Database) -> None:
    invitation_id = await mail_fixtures.invitation(database)
    await mail_fixtures.invitation_mail(database, invitation_id)
    mailer = FakeMailer()

    await post_of(database, mailer).run_once()

    token = mail_fixtures.token(mailer.sent[0])
    async with database.read() as session:
        row = await session.get_one(tables.Invitation, invitation_id)
    assert tokens.fingerprint(token) == row.token_hash
    assert '"Ana" invites you to join "Aurora"' in part(mailer.sent[0], "plain")


async def test_mail_to_unknown_address_is_dropped(database: Database) -> None:
    await mail_fixtures.user(database, "gone@acme.test", disabled_at=clock.now())
    await mail_fixtures.invitation_mail(
        database, await mail_fixtures.invitation(database, revoked_at=clock.now())
    )
    for kind in MailTokenKind:
        await mail_fixtures.mail(database, MailKind(kind), to="unknown@acme.test")
        await mail_fixtures.mail(database, MailKind(kind), to="gone@acme.test")
    mailer = FakeMailer()

    await post_of(database, mailer).run_once()

    assert ([], 0) == (mailer.sent, mailer.tries)
    assert [] == await mail_fixtures.rows(database)


async def test_process_that_dies_after_sending_sends_again_with_a_token_that_works(
    database: Database,
) -> None:
    user_id = await mail_fixtures.user(database)
    await mail_fixtures.mail(database, MailKind.MAGIC_LINK)
    dying, mailer = DyingMailer(), FakeMailer()
    with pytest.raises(BaseExceptionGroup):
        await post_of(database, dying).run_once()

    await post_of(database, mailer).run_once()
    assert [] == mailer.sent
    with clock.moved(outbox.LEASE + SECOND):
        await post_of(database, mailer).run_once()

        first, second = dying.sent[0], mailer.sent[0]
        with pytest.raises(ValidationFailed):
            await consume(database, MailTokenKind.MAGIC_LINK, mail_fixtures.token(first))
        assert user_id == await consume(
            database, MailTokenKind.MAGIC_LINK, mail_fixtures.token(second)
        )
    # Mail clients hide a second mail of the same id, and the first one's token is worth nothing.
    assert first["Message-ID"] != second["Message-ID"]


async def test_two_posts_send_a_mail_once(database: Database) -> None:
    for n in range(20):
        await mail_fixtures.mail(database, to=f"{n}@acme.test")
    mailer = FakeMailer()

    await asyncio.gather(*(post_of(database, mailer).run_once() for _ in range(3)))

    assert sorted(f"{n}@acme.test" for n in range(20)) == sorted(one["To"] for one in mailer.sent)
    assert [] == await mail_fixtures.rows(database)


async def test_some_mails_are_on_their_way_at_once(database: Database) -> None:
    for n in range(8):
        await mail_fixtures.mail(database, to=f"{n}@acme.test")
    mailer = HeldMailer()

    round_ = asyncio.create_task(post_of(database, mailer).run_once())
    under_way = [await mailer.under_way.get() for _ in range(4)]
    mailer.open.set()
    await round_

    assert 4 == len(set(under_way))
    assert 8 == len(mailer.sent)


async def test_round_tries_fifty_and_the_next_the_rest(database: Database) -> None:
    async with database.write() as session:
        for n in range(53):
            mails.enqueue(session, MailKind.PASSWORD_CHANGED, to=f"{n}@acme.test")
    post = post_of(database, FakeMailer())

    assert [50, 3, 0] == [await post.run_once() for _ in range(3)]


async def test_server_that_is_away_loses_nothing(database: Database) -> None:
    user_id = await mail_fixtures.user(database)
    await mail_fixtures.mail(database, MailKind.MAGIC_LINK)
    inbox = Inbox()
    async with mail_servers.silent() as port:
        pass
    post = post_of(database, smtp(port))

    for passed in (dt.timedelta(0), MINUTE, 5 * MINUTE, DAY, 2 * DAY):
        with clock.moved(passed):
            assert 1 == await post.run_once()
    with clock.moved(2 * DAY + 2 * dt.timedelta(hours=1)):
        async with mail_servers.serving(inbox, port=port):
            assert 1 == await post.run_once()
        token = mail_fixtures.token(inbox.mails[0])

        assert user_id == await consume(database, MailTokenKind.MAGIC_LINK, token)
    assert [] == await mail_fixtures.rows(database)


async def test_mail_is_given_up_after_three_days_and_logged(database: Database) -> None:
    await mail_fixtures.mail(database)
    mailer = FakeMailer()
    mailer.failure = SendError("away")

    with capture_logs() as logs, clock.moved(3 * DAY + MINUTE):
        await post_of(database, mailer).run_once()

    assert [] == await mail_fixtures.rows(database)
    assert ("error", "mail given up: it could not be sent for days") in events(logs)


async def test_mail_to_refused_recipient_is_dropped_and_logged(database: Database) -> None:
    await mail_fixtures.mail(database)

    with capture_logs() as logs:
        async with mail_servers.serving(Inbox(to_recipient="550 5.1.1 No such user")) as port:
            await post_of(database, smtp(port)).run_once()

    assert [] == await mail_fixtures.rows(database)
    assert [("warning", "mail dropped: its recipient was refused")] == events(logs)


async def test_recipient_that_is_refused_for_now_is_tried_again(database: Database) -> None:
    await mail_fixtures.mail(database)
    inbox = Inbox(to_recipient="450 4.2.0 Greylisted")

    async with mail_servers.serving(inbox) as port:
        post = post_of(database, smtp(port))
        await post.run_once()
        inbox.to_recipient = mail_servers.ACCEPTED
        with clock.moved(MINUTE):
            await post.run_once()

    assert 1 == len(inbox.mails)


async def test_mail_that_cannot_be_written_keeps_none_of_the_others(database: Database) -> None:
    await mail_fixtures.mail(database, to="no address")
    await mail_fixtures.mail(database)
    mailer = FakeMailer()

    with capture_logs() as logs:
        await post_of(database, mailer).run_once()

    assert [MARA] == [one["To"] for one in mailer.sent]
    assert ["no address"] == [row.recipient for row in await mail_fixtures.rows(database)]
    assert ("error", "failed to prepare or send") in events(logs)


async def test_mail_whose_row_cannot_be_deleted_breaks_off_none_of_the_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(8):
        await mail_fixtures.mail(database, to=f"{n}@acme.test")
    mailer, forget = FakeMailer(), Rows.remove

    async def failing_for_one(rows: Rows[Mail], session: Session, lease: mails.Lease) -> None:
        if lease.recipient == "3@acme.test":
            raise OSError
        await forget(rows, session, lease)

    monkeypatch.setattr(Rows, "remove", failing_for_one)

    with capture_logs() as logs:
        await post_of(database, mailer).run_once()

    assert 8 == len(mailer.sent)
    assert ["3@acme.test"] == [row.recipient for row in await mail_fixtures.rows(database)]
    assert [("error", "failed to record the outcome of an attempt")] == events(logs)


@pytest.mark.parametrize("answer", ["250 OK", "554 5.7.1 Spam: {mail}", "451 4.3.0 {mail}"])
async def test_logs_and_rows_hold_no_token(database: Database, answer: str) -> None:
    await mail_fixtures.user(database)
    await mail_fixtures.mail(database, MailKind.MAGIC_LINK)
    minted: list[str] = []

    class RedeemingMailer:
        """A mailer that passes on the token of each mail."""

        async def send(self, message: EmailMessage) -> None:
            """Send, and note the token."""
            minted.append(mail_fixtures.token(message))
            await smtp(port).send(message)

    with capture_logs() as logs:
        async with mail_servers.serving(Inbox(to_mail=answer)) as port:
            await post_of(database, RedeemingMailer()).run_once()

    rows = [str(vars(row)) for row in await mail_fixtures.rows(database)]
    assert minted
    assert minted[0] not in f"{logs}{rows}"
    assert "Sign in" not in f"{logs}{rows}"


async def test_running_worker_sends_pending_mails(database: Database) -> None:
    mailer = FakeMailer()

    async with background.running(database, post_of(database, mailer)):
        await mail_fixtures.mail(database)
        await mailer.received(1)

    assert [MARA] == [one["To"] for one in mailer.sent]
    assert [] == await mail_fixtures.rows(database)


async def test_running_post_rides_out_a_database_that_fails(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    mailer = FakeMailer()
    calls = 0
    due = Rows.due_groups

    async def failing_once(rows: Rows[Mail], session: Any, *, limit: int) -> list[str]:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise OSError
        return await due(rows, session, limit=limit)

    monkeypatch.setattr(Rows, "due_groups", failing_once)
    await mail_fixtures.mail(database)

    async with background.running(database, post_of(database, mailer)):
        await mailer.received(1)

    assert calls >= 2


async def test_mail_under_way_at_the_end_is_sent_and_none_begun(database: Database) -> None:
    for n in range(6):
        await mail_fixtures.mail(database, to=f"{n}@acme.test")
    mailer = HeldMailer()

    async with background.running(database, post_of(database, mailer)):
        for _ in range(4):
            await mailer.under_way.get()
        # Once the block is left.
        asyncio.get_running_loop().call_soon(mailer.open.set)

    assert 4 == len(mailer.sent)
    assert 2 == len(await mail_fixtures.rows(database))


async def test_service_writes_its_mails_into_the_outbox(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, send = asyncio.Event(), Outbox.send

    async def notifying(outbox: Outbox, message: EmailMessage) -> None:
        await send(outbox, message)
        sent.set()

    monkeypatch.setattr(Outbox, "send", notifying)
    async with installation.start(database_url, tmp_path) as door:
        await mail_fixtures.user(door.database)
        await mail_fixtures.mail(door.database, MailKind.MAGIC_LINK)
        await sent.wait()

    (path,) = (tmp_path / "outbox").glob("*.eml")
    text = part(parsed(path.read_bytes()), "plain")
    assert "http://127.0.0.1:8000/portal/magic-link?token=" in text


async def test_service_that_does_not_work_sends_nothing(database_url: str, tmp_path: Path) -> None:
    async with installation.start(database_url, tmp_path, with_worker=False) as door:
        await mail_fixtures.mail(door.database)

    assert not (tmp_path / "outbox").exists()
