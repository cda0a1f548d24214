"""Real SMTP servers on this machine, polite and otherwise."""

import asyncio
import datetime as dt
import email
import email.policy
import ipaddress
import ssl
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

USER = "recibo"
PASSWORD = "p@ss/wörd:"  # noqa: S105
ACCEPTED = "250 OK"


# Not with slots: aiosmtpd reads all attributes, which Python 3.11.2 then refuses.
@dataclass
class Inbox:
    """The mails that a server accepted, and its answers."""

    #: The answers to RCPT and to the mail itself.
    to_recipient: str = ACCEPTED
    to_mail: str = ACCEPTED
    #: Whether the server drops the line instead of saying goodbye.
    is_rude: bool = False
    envelopes: list[Envelope] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    #: User and password of each login that was tried.
    logins: list[tuple[str, str]] = field(default_factory=list)
    #: Set when a mail is there.
    has_mail: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def mails(self) -> list[EmailMessage]:
        """The mails, as their reader sees them."""
        return [parsed(one.content) for one in self.envelopes]

    async def handle_RCPT(  # noqa: N802
        self, _: SMTP, __: Session, envelope: Envelope, address: str, ___: list[str]
    ) -> str:
        """Take a recipient, or refuse it."""
        if self.to_recipient == ACCEPTED:
            envelope.rcpt_tos.append(address)
        return self.to_recipient

    async def handle_DATA(  # noqa: N802
        self, _: SMTP, session: Session, envelope: Envelope
    ) -> str:
        """Take a mail, or refuse it."""
        if self.to_mail == ACCEPTED:
            self.envelopes.append(envelope)
            self.sessions.append(session)
            self.has_mail.set()
        # A server that repeats the mail in its refusal.
        content = envelope.content or b""
        assert isinstance(content, bytes)
        return self.to_mail.replace("{mail}", content.decode("latin-1")[-400:].replace("\r\n", " "))

    async def handle_QUIT(  # noqa: N802
        self, server: SMTP, _: Session, __: Envelope
    ) -> str:
        """Say goodbye."""
        if self.is_rude:
            assert isinstance(server.transport, asyncio.Transport)
            server.transport.abort()
        return "221 Bye"

    def authenticated(
        self, _: SMTP, __: Session, ___: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        """Let the one user in."""
        assert isinstance(data, LoginPassword), mechanism
        given = (data.login.decode(), data.password.decode())
        self.logins.append(given)
        return AuthResult(success=given == (USER, PASSWORD), handled=False)


def parsed(data: bytes | str | None) -> EmailMessage:
    """Return a mail as its reader sees it."""
    assert isinstance(data, bytes)
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    return message


def part(message: EmailMessage, kind: str) -> str:
    """Return the `plain` or the `html` part of a mail, its lines ended as here."""
    body = message.get_body((kind,))
    assert body is not None
    text = body.get_content()
    assert isinstance(text, str)
    return text.replace("\r\n", "\n")


@asynccontextmanager
async def serving(
    inbox: Inbox,
    *,
    port: int = 0,
    tls: ssl.SSLContext | None = None,
    is_tls_from_start: bool = False,
    is_login_needed: bool = False,
) -> AsyncIterator[int]:
    """Serve SMTP on a port of loopback; with `tls` it offers STARTTLS, or begins with TLS."""

    def protocol() -> SMTP:
        with warnings.catch_warnings():
            # It warns of passwords without TLS, which are what some tests are about.
            warnings.simplefilter("ignore")
            return SMTP(
                inbox,
                hostname="localhost",
                tls_context=None if is_tls_from_start else tls,
                auth_required=is_login_needed,
                auth_require_tls=False,
                authenticator=inbox.authenticated,
            )

    async with listening(protocol, port=port, tls=tls if is_tls_from_start else None) as chosen:
        yield chosen


@asynccontextmanager
async def silent() -> AsyncIterator[int]:
    """Take connections and never say a word."""
    async with listening(asyncio.Protocol) as port:
        yield port


@asynccontextmanager
async def listening(
    protocol: Callable[[], asyncio.BaseProtocol],
    *,
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[int]:
    """Listen on a port of loopback, a free one when it is 0."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocol, "127.0.0.1", port, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


def certificate(folder: Path) -> Path:
    """Write a certificate for this machine that vouches for itself, with its key; return both."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + dt.timedelta(days=36500))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def server_tls(path: Path) -> ssl.SSLContext:
    """Return what a server with this certificate speaks TLS with."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(path)
    return context
