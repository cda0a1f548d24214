"""Mails to a real IMAP server become receipts, once, and are answered."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

import pytest
from sqlalchemy import delete, select, update

from recibo.adapters import mailbox
from recibo.adapters.fake_mailer import FakeMailer
from recibo.adapters.mailbox import MailboxError
from recibo.errors import Overloaded
from recibo.lib import clock
from recibo.lib.keyring import Keyring
from recibo.schemas.actor import Member
from recibo.schemas.states import MailOutcome, ReceiptStatus, Role
from recibo.services import mail_templates
from recibo.services.mail_templates import MailSettings
from recibo.services.receipt_mail import addresses, messages, received_mails
from recibo.services.receipt_mail.intake import Intake, Policy
from recibo.store import tables
from recibo.store.db import Database
from recibo.worker.jobs import Budget
from recibo.worker.mail_reader import MailReader
from recibo.worker.mail_worker import MailWorker
from tests import core, make, servers
from tests.mail_servers import part
from tests.servers import ImapServer

BASE = "receipts@recibo.test"
SERVER = "mx.recibo.test"
ANA = "ana@people.test"
HEAD = MailSettings("https://recibo.test", mail_templates.sender("", "https://recibo.test"))
KEYRING = Keyring("a secret of the tests, long enough")


class KilledError(BaseException):
    """The process dies here."""


@pytest.fixture(scope="module")
def dovecot() -> Iterator[ImapServer]:
    """An IMAP server."""
    with servers.run_dovecot() as server:
        yield server


@dataclass(frozen=True, slots=True)
class Post:
    """An organization with an address, its member Ana, and a mailbox."""

    parts: core.Core
    server: ImapServer
    ana: Member
    address: str
    reader: MailReader

    def mail(self, *files: str, sender: str = ANA, **headers: str) -> EmailMessage:
        """Return a mail with these texts as pictures."""
        message = EmailMessage()
        given = {"Subject": "Lunch", "Message_ID": "<1@people.test>", "To": self.address}
        for name, value in {"From": sender, **given, **headers}.items():
            message[name.replace("_", "-")] = value
        message.set_content("See the attachment.")
        for text in files:
            message.add_attachment(
                make.jpeg(text), maintype="image", subtype="jpeg", filename=f"{text}.jpg"
            )
        return message

    def deliver(self, message: EmailMessage | bytes) -> None:
        """Put a mail into the mailbox."""
        with self.server.connected() as client:
            client.append("INBOX", bytes(message))

    def unseen(self) -> int:
        """Return how many mails are not marked as read."""
        with self.server.connected() as client:
            return len(client.search("UNSEEN"))

    async def read(self) -> list[tables.ReceivedMail]:
        """Run the jobs, with the readings in between; return the recorded mails."""
        await self.reader.read_mailbox(Budget(60))
        for receipt_id in self.parts.carrier.added:
            await self.parts.tasks.read(receipt_id)
        await self.reader.answer_mails(Budget(60))
        async with self.parts.database.read() as session:
            return await received_mails.newest(session, self.ana, limit=100)

    async def receipts(self) -> list[tables.Receipt]:
        """Return all receipts, oldest first."""
        async with self.parts.database.read() as session:
            query = select(tables.Receipt).order_by(tables.Receipt.id)
            return list((await session.execute(query)).scalars())

    async def replies(self) -> list[EmailMessage]:
        """Send the pending mails and return them."""
        mailer = FakeMailer()
        await MailWorker(self.parts.database, mailer, HEAD).run_once()
        return mailer.sent


@asynccontextmanager
async def _post(
    parts: core.Core, server: ImapServer, *, auth_server: str = ""
) -> AsyncIterator[Post]:
    with server.connected() as client:
        client.delete_messages(client.search("ALL"))
        client.expunge()
    ana = await make.member(parts.database, await make.org(parts.database))
    await _move(parts.database, ana, ANA)
    async with parts.database.write() as session:
        await addresses.create(session, KEYRING, ana)
    async with parts.database.read() as session_:
        address = await addresses.get(session_, KEYRING, ana)
    assert address is not None
    intake = Intake(parts.extraction, Policy(BASE, auth_server), parts.folder)
    reader = MailReader(parts.database, mailbox.of(server.url), intake)
    yield Post(parts, server, ana, address.written(BASE), reader)


async def _move(database: Database, member: Member, email: str) -> None:
    """Give a member a confirmed address."""
    async with database.write() as session:
        values = {"email": email, "email_verified_at": clock.now(), "language": "pt-BR"}
        where = tables.User.id == member.user_id
        await session.execute(update(tables.User).where(where).values(**values))


@pytest.fixture
async def post(database: Database, tmp_path: Path, dovecot: ImapServer) -> AsyncIterator[Post]:
    """The same, on each database."""
    async with _post(core.build(database, tmp_path), dovecot) as made:
        yield made


@pytest.fixture
async def small(sqlite_url: str, tmp_path: Path, dovecot: ImapServer) -> AsyncIterator[Post]:
    """The same, on SQLite alone."""
    database = Database(sqlite_url)
    async with _post(core.build(database, tmp_path), dovecot) as made:
        yield made
    await database.close()


async def test_attachments_become_receipts_and_the_reply_names_them(post: Post) -> None:
    message = post.mail("Padaria", "Hotel")
    message.add_attachment(b"<xml/>", maintype="application", subtype="xml", filename="nfe.xml")
    post.deliver(message)

    [mail] = await post.read()
    first, second = await post.receipts()
    [reply] = await post.replies()

    assert (MailOutcome.RECEIVED, 0) == (mail.outcome, post.unseen())
    assert ["Padaria.jpg", "Hotel.jpg"] == [first.tags["filename"], second.tags["filename"]]
    assert post.ana.user_id == first.created_by
    assert {
        "filename": "Padaria.jpg", "email_from": ANA, "email_id": "<1@people.test>"
    } == first.tags  # fmt: skip
    assert (ANA, "Re: Lunch", "auto-replied", "<1@people.test>") == (
        reply["To"], reply["Subject"], reply["Auto-Submitted"], reply["In-Reply-To"]
    )  # fmt: skip
    for line in ("Padaria.jpg: ", "Hotel.jpg: ", "nfe.xml: não é um JPG"):
        assert line in part(reply, "plain")


async def test_mail_that_comes_again_makes_nothing(post: Post) -> None:
    post.deliver(post.mail("Padaria"))
    post.deliver(post.mail("Padaria"))
    # The same id with another file is another mail.
    post.deliver(post.mail("Padaria", "Hotel"))

    assert 2 == len(await post.read())
    assert 2 == len(await post.receipts())
    assert 2 == len(await post.replies())
    assert 0 == post.unseen()


@pytest.mark.parametrize("stage", ["before the record", "before the mark"])
async def test_crash_at_any_point_loses_and_doubles_nothing(
    post: Post, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(*_: object) -> None:
        raise KilledError

    post.deliver(post.mail("Padaria", "Hotel"))
    with monkeypatch.context() as patch:
        if stage == "before the record":
            patch.setattr(received_mails, "record", crash)
        else:
            patch.setattr(mailbox.ImapConnection, "mark_seen", crash)
        with pytest.raises(KilledError):
            await post.reader.read_mailbox(Budget(60))
    assert 1 == post.unseen()
    async with post.parts.database.write() as session:
        # Even after the day in which repeated uploads are recognized.
        await session.execute(delete(tables.Replay))

    await post.read()

    assert (2, 1, 0) == (len(await post.receipts()), len(await post.replies()), post.unseen())


async def test_busy_service_leaves_the_mail_unread_and_others_go_on(
    small: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.deliver(small.mail("Padaria"))
    small.deliver(small.mail(Message_ID="<2@people.test>"))

    async def refuse(*_: object) -> None:
        raise Overloaded(retry_after=5)

    with monkeypatch.context() as patch:
        patch.setattr(Intake, "_submit", refuse)
        await small.read()
    assert (1, []) == (small.unseen(), await small.receipts())

    await small.read()

    assert 1 == len(await small.receipts())


async def test_mail_that_always_fails_is_given_up(
    small: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise ZeroDivisionError

    small.deliver(small.mail("Padaria"))
    monkeypatch.setattr(Intake, "take", fail)
    unseen = []
    for _ in range(5):
        await small.reader.read_mailbox(Budget(60))
        unseen.append(small.unseen())

    assert [1, 1, 1, 1, 0] == unseen


@pytest.mark.parametrize(
    ("headers", "outcome", "receipts", "replies"),
    [
        ({}, MailOutcome.RECEIVED, 1, 1),
        ({"From": "eve@elsewhere.test"}, MailOutcome.FOREIGN, 0, 0),
        ({"From": "invoices@supplier.test"}, MailOutcome.RECEIVED, 1, 1),
        ({"From": "bea@people.test"}, MailOutcome.NOT_PERMITTED, 0, 1),
        ({"From": "new@people.test"}, MailOutcome.FOREIGN, 0, 0),
        ({"From": "no-reply@supplier.test"}, MailOutcome.RECEIVED, 1, 0),
        ({"Auto_Submitted": "auto-generated"}, MailOutcome.RECEIVED, 1, 0),
        ({"List_Id": "<all.people.test>"}, MailOutcome.RECEIVED, 1, 0),
        ({"Return_Path": "<>"}, MailOutcome.RECEIVED, 1, 0),
        ({"To": "receipts@recibo.test"}, None, 0, 0),
        ({"To": "receipts+wrong@recibo.test"}, None, 0, 0),
        ({"From": "ana@people.test, eve@elsewhere.test"}, None, 0, 0),
    ],
)
async def test_only_members_and_allowed_senders_and_no_program_gets_a_reply(
    small: Post,
    headers: dict[str, str],
    outcome: MailOutcome | None,
    receipts: int,
    replies: int,
) -> None:
    async with small.parts.database.write() as session:
        await addresses.allow(session, small.ana, ["@supplier.test"])
    viewer = await make.member(small.parts.database, small.ana.org_id, Role.VIEWER)
    await _move(small.parts.database, viewer, "bea@people.test")
    given = dict(headers)
    small.deliver(small.mail("Padaria", sender=given.pop("From", ANA), **given))

    mails = await small.read()

    assert ([outcome] if outcome else []) == [mail.outcome for mail in mails]
    assert receipts == len(await small.receipts())
    assert replies == len(await small.replies())
    assert 0 == small.unseen()


async def test_mail_of_a_stranger_is_not_taken_apart(
    small: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(_: bytes) -> None:
        raise KilledError

    monkeypatch.setattr(messages, "read_documents", explode)
    small.deliver(small.mail("Padaria", sender="eve@elsewhere.test"))

    assert [MailOutcome.FOREIGN] == [mail.outcome for mail in await small.read()]


@pytest.mark.parametrize(
    ("checks", "outcome"),
    [
        (f"{SERVER}; dmarc=pass header.from=people.test", MailOutcome.RECEIVED),
        (f"{SERVER}; dkim=pass header.d=people.test", MailOutcome.RECEIVED),
        (
            f"{SERVER}; dkim=pass header.d=people.test; dmarc=fail header.from=people.test",
            MailOutcome.UNCONFIRMED,
        ),
        (f"{SERVER}; dmarc=none; dkim=pass header.d=people.test", MailOutcome.RECEIVED),
        (f"{SERVER}; dkim=pass header.d=elsewhere.test", MailOutcome.UNCONFIRMED),
        ("mx.elsewhere.test; dmarc=pass header.from=people.test", MailOutcome.UNCONFIRMED),
        (f"{SERVER}; (((((", MailOutcome.UNCONFIRMED),
        ("", MailOutcome.UNCONFIRMED),
    ],
)
async def test_forged_sender_is_refused_by_the_checks_of_the_own_mail_server(
    sqlite_url: str, tmp_path: Path, dovecot: ImapServer, checks: str, outcome: MailOutcome
) -> None:
    database = Database(sqlite_url)
    parts = core.build(database, tmp_path)
    async with _post(parts, dovecot, auth_server=SERVER) as post:
        headers = {"Authentication_Results": checks} if checks else {}
        post.deliver(post.mail("Padaria", **headers))
        [mail] = await post.read()
        replies = await post.replies()
    await database.close()

    assert outcome == mail.outcome
    assert (outcome is MailOutcome.RECEIVED) == bool(replies)


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (MailOutcome.EMPTY, "imprima o e-mail em PDF"),
        (MailOutcome.TOO_LARGE, "mais de 25 MB"),
        (MailOutcome.DAMAGED, "anexos simples"),
    ],
)
async def test_mail_that_is_not_read_is_answered_with_the_reason(
    small: Post, outcome: MailOutcome, said: str
) -> None:
    message = small.mail()
    if outcome is MailOutcome.EMPTY:
        message.add_alternative("<h1>Your ride</h1><p>R$ 23,90</p>", subtype="html")
    raw = bytes(message)
    if outcome is MailOutcome.TOO_LARGE:
        raw += b"x" * 70 + b"\r\n"
        raw += raw[-72:] * (messages.MAX_BYTES // 72)
    if outcome is MailOutcome.DAMAGED:
        raw += b"\n" * 600_000
    small.deliver(raw)

    [mail] = await small.read()
    [reply] = await small.replies()

    assert (outcome, [], 0) == (mail.outcome, await small.receipts(), small.unseen())
    assert said in part(reply, "plain")


async def test_files_over_the_quota_and_unreadable_ones_are_named_in_the_reply(
    small: Post,
) -> None:
    async with small.parts.database.write() as session:
        limits = {"receipts_a_month": 1, "requests_a_minute": 9, "uploads_at_once": 1}
        await session.execute(update(tables.Org).values(plan="enterprise", agreed=limits))
    small.deliver(small.mail("Padaria", "Hotel"))

    await small.read()
    [receipt] = await small.receipts()
    [reply] = await small.replies()

    assert ReceiptStatus.COMPLETED == receipt.status
    assert "Hotel.jpg: a organização já usou todos" in part(reply, "plain")


async def test_mailbox_that_refuses_the_password_is_an_error_without_it(
    dovecot: ImapServer,
) -> None:
    wrong = mailbox.of(dovecot.url.replace(servers.IMAP_PASSWORD, "s3cret"))

    with pytest.raises(MailboxError, match="LoginError") as error:
        async with wrong.connect():
            pass

    assert "s3cret" not in str(error.value)
