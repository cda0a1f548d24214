"""Mailers: the outbox, and SMTP servers with different behavior."""

import asyncio
import email.policy
import errno
import os
import ssl
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import quote

import pytest

from recibo.adapters import mail
from recibo.adapters.fake_mailer import FakeMailer
from recibo.adapters.mail import Outbox, RecipientRefusedError, SendError, Smtp
from tests import mail_servers
from tests.mail_servers import PASSWORD, USER, Inbox, parsed, part

NOWHERE = Path("/nowhere")
TEXT = "Grüße\n.\nA line that begins with a dot follows.\n.dot\n"
CREDENTIALS = f"{USER}:{quote(PASSWORD, safe='')}"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that vouches for itself."""
    return mail_servers.certificate(tmp_path_factory.mktemp("certificate"))


def message(subject: str = "Hello", *, to: str = "mara@acme.test") -> EmailMessage:
    """Return a mail with a text that is hard on transports."""
    made = EmailMessage(policy=email.policy.SMTP)
    made["From"] = "Recibo <no-reply@recibo.test>"
    made["To"] = to
    made["Subject"] = subject
    made.set_content(TEXT, cte="quoted-printable")
    return made


def files(folder: Path) -> dict[Path, bytes]:
    """Return what a folder holds, by name."""
    return {path: path.read_bytes() for path in sorted(folder.iterdir())}


def smtp(port: int, *, credentials: str = "", scheme: str = "smtp") -> Smtp:
    """Return the mailer of a server on this machine."""
    at = f"{credentials}@" if credentials else ""
    made = mail.of(f"{scheme}://{at}127.0.0.1:{port}", outbox=NOWHERE)
    assert isinstance(made, Smtp)
    return made


@pytest.mark.parametrize("url", ["", "outbox"])
def test_without_a_server_mails_go_to_the_outbox(url: str, tmp_path: Path) -> None:
    assert Outbox(tmp_path) == mail.of(url, outbox=tmp_path)


async def test_outbox_holds_one_whole_private_file_a_mail(tmp_path: Path) -> None:
    folder = tmp_path / "outbox"

    await Outbox(folder).send(message("Größe"))

    ((path, data),) = files(folder).items()
    assert ".eml" == path.suffix
    assert (0o600, 0o700) == (path.stat().st_mode & 0o777, folder.stat().st_mode & 0o777)
    read = parsed(data)
    assert ("Größe", TEXT) == (read["Subject"], part(read, "plain"))


async def test_outbox_names_sort_by_time(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path)

    subjects = [f"number {n}" for n in range(20)]
    for subject in subjects:
        await outbox.send(message(subject))

    assert subjects == [parsed(data)["Subject"] for data in files(tmp_path).values()]


async def test_mails_written_at_once_are_all_there(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path)

    await asyncio.gather(*(outbox.send(message()) for _ in range(50)))

    assert [".eml"] * 50 == [path.suffix for path in files(tmp_path)]


async def test_write_that_breaks_off_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(SendError, match="No space left"):
        await Outbox(tmp_path).send(message())

    assert {} == files(tmp_path)


async def test_outbox_that_cannot_be_written_is_an_error_of_sending(tmp_path: Path) -> None:
    (tmp_path / "outbox").write_text("in the way")

    with pytest.raises(SendError):
        await Outbox(tmp_path / "outbox").send(message())


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://mail.example", ("mail.example", 25, "", "", False, False)),
        ("smtp://mail.example:2525/", ("mail.example", 2525, "", "", False, False)),
        ("smtp://u:p@mail.example", ("mail.example", 587, "u", "p", False, False)),
        ("smtps://u:p@mail.example", ("mail.example", 465, "u", "p", True, False)),
        ("smtp://a%40b.c:x%2Fy%3Az@[::1]:26", ("::1", 26, "a@b.c", "x/y:z", False, True)),
        ("smtp://u:p@localhost", ("localhost", 587, "u", "p", False, True)),
    ],
)
def test_url_of_a_server_is_understood(url: str, expected: tuple[object, ...]) -> None:
    made = mail.of(url, outbox=NOWHERE)

    assert isinstance(made, Smtp)
    found = (made.host, made.port, made.user, made.password, made.is_tls, made.is_clear_allowed)
    assert expected == found


@pytest.mark.parametrize(
    "url",
    [
        "mail.example",
        "smtp://",
        "smtp://:25",
        "http://u:secret@mail.example",
        "SMTP//u:secret@mail.example",
        "smtp://u:secret@mail.example:port",
        "smtp://u:secret@mail.example:99999",
        "smtp://u:secret@mail.example/path",
        "smtp://u:secret@mail.example?tls=1",
        "smtp://u:secret@mail.example#x",
        "smtp://u:secret@[::1",
        "smtp://secret@mail.example",
        "smtp://:secret@mail.example",
    ],
)
def test_url_of_another_form_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ValueError, match=r"RECIBO_EMAIL_URL must read smtp://") as refused:
        mail.of(url, outbox=NOWHERE)

    assert "secret" not in str(refused.value)


def test_password_is_not_shown() -> None:
    assert "hidden" not in repr(mail.of("smtp://u:hidden@mail.example", outbox=NOWHERE))


@pytest.mark.parametrize(
    ("host", "mode"),
    [
        ("mail.example", ssl.CERT_REQUIRED),
        ("127.0.0.1.example", ssl.CERT_REQUIRED),
        ("127.0.0.1", ssl.CERT_NONE),
        ("localhost", ssl.CERT_NONE),
    ],
)
def test_certificates_are_checked_but_on_this_machine(host: str, mode: ssl.VerifyMode) -> None:
    made = mail.of(f"smtp://{host}", outbox=NOWHERE)

    assert isinstance(made, Smtp)
    assert mode == made.tls.verify_mode


async def test_server_gets_the_mail_as_it_was_written() -> None:
    inbox = Inbox()
    async with mail_servers.serving(inbox) as port:
        await smtp(port).send(message("Größe"))

    (read,) = inbox.mails
    assert ("Größe", TEXT) == (read["Subject"], part(read, "plain"))
    envelope = inbox.envelopes[0]
    assert ("no-reply@recibo.test", ["mara@acme.test"]) == (envelope.mail_from, envelope.rcpt_tos)


async def test_tls_begins_when_it_is_offered(certificate: Path) -> None:
    inbox = Inbox()
    tls = mail_servers.server_tls(certificate)
    async with mail_servers.serving(inbox, tls=tls, is_login_needed=True) as port:
        await smtp(port, credentials=CREDENTIALS).send(message())

    assert [(USER, PASSWORD)] == inbox.logins
    assert [True] == [session.ssl is not None for session in inbox.sessions]


async def test_tls_is_there_from_the_start_with_smtps(certificate: Path) -> None:
    inbox = Inbox()
    tls = mail_servers.server_tls(certificate)
    async with mail_servers.serving(
        inbox, tls=tls, is_tls_from_start=True, is_login_needed=True
    ) as port:
        await smtp(port, credentials=CREDENTIALS, scheme="smtps").send(message())

    assert (1, [(USER, PASSWORD)]) == (len(inbox.mails), inbox.logins)


@pytest.mark.parametrize("is_tls_from_start", [False, True])
async def test_self_signed_certificate_is_refused(
    certificate: Path, *, is_tls_from_start: bool
) -> None:
    inbox = Inbox()
    tls = mail_servers.server_tls(certificate)
    scheme = "smtps" if is_tls_from_start else "smtp"
    async with mail_servers.serving(inbox, tls=tls, is_tls_from_start=is_tls_from_start) as port:
        mailer = smtp(port, credentials=CREDENTIALS, scheme=scheme)
        with pytest.raises(SendError):
            await replace(mailer, tls=ssl.create_default_context()).send(message())

    assert ([], []) == (inbox.mails, inbox.logins)


async def test_certificate_that_is_vouched_for_is_taken(certificate: Path) -> None:
    inbox = Inbox()
    tls = mail_servers.server_tls(certificate)
    async with mail_servers.serving(inbox, tls=tls) as port:
        trusting = ssl.create_default_context(cafile=certificate)
        await replace(smtp(port), tls=trusting).send(message())

    assert 1 == len(inbox.mails)


async def test_password_is_not_sent_in_clear_to_another_machine() -> None:
    inbox = Inbox()
    async with mail_servers.serving(inbox, is_login_needed=True) as port:
        mailer = replace(smtp(port, credentials=CREDENTIALS), is_clear_allowed=False)
        with pytest.raises(SendError, match="no TLS"):
            await mailer.send(message())

    assert ([], []) == (inbox.mails, inbox.logins)


async def test_password_is_sent_in_clear_on_this_machine() -> None:
    inbox = Inbox()
    async with mail_servers.serving(inbox, is_login_needed=True) as port:
        await smtp(port, credentials=CREDENTIALS).send(message())

    assert (1, [(USER, PASSWORD)]) == (len(inbox.mails), inbox.logins)


async def test_wrong_password_is_reported_without_the_password() -> None:
    inbox = Inbox()
    async with mail_servers.serving(inbox, is_login_needed=True) as port:
        with pytest.raises(SendError, match="535") as failed:
            await smtp(port, credentials=f"{USER}:wrong-one").send(message())

    assert [] == inbox.mails
    assert "wrong-one" not in str(failed.value)


@pytest.mark.parametrize(
    ("answer", "is_permanent"),
    [
        ("550 5.1.1 No such user <mara@acme.test>", True),
        ("450 4.2.0 Greylisted, come back later", False),
    ],
)
async def test_only_a_lasting_refusal_of_the_recipient_is_one(
    answer: str, *, is_permanent: bool
) -> None:
    async with mail_servers.serving(Inbox(to_recipient=answer)) as port:
        with pytest.raises(SendError) as failed:
            await smtp(port).send(message())

    assert is_permanent == isinstance(failed.value, RecipientRefusedError)
    assert answer[:3] in str(failed.value)


async def test_refused_mail_may_be_taken_later_and_is_not_quoted() -> None:
    async with mail_servers.serving(Inbox(to_mail="554 5.7.1 Spam: {mail}")) as port:
        with pytest.raises(SendError, match="554") as failed:
            await smtp(port).send(message())

    assert not isinstance(failed.value, RecipientRefusedError)
    assert "dot" not in str(failed.value)


async def test_mail_that_is_taken_is_sent_whatever_the_goodbye() -> None:
    inbox = Inbox(is_rude=True)
    async with mail_servers.serving(inbox) as port:
        await smtp(port).send(message())

    assert 1 == len(inbox.mails)


async def test_dead_server_is_an_error_of_sending() -> None:
    async with mail_servers.silent() as port:
        pass

    with pytest.raises(SendError, match=str(port)):
        await smtp(port).send(message())


async def test_silent_server_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "SEND_LIMIT_S", 0.05)
    async with mail_servers.silent() as port:
        with pytest.raises(SendError, match="no answer in time"):
            await smtp(port).send(message())


async def test_fake_mailer_keeps_mails_unless_set_to_fail() -> None:
    mailer = FakeMailer()
    await mailer.send(message("first"))
    mailer.failure = SendError("away")
    with pytest.raises(SendError):
        await mailer.send(message("second"))

    assert ["first"] == [one["Subject"] for one in await mailer.received(1)]
    assert 2 == mailer.tries
