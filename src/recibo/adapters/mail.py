"""Where mails go: a folder, or an SMTP server."""

import asyncio
import contextlib
import email.policy
import ipaddress
import os
import secrets
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import Protocol
from urllib.parse import SplitResult, unquote, urlsplit

import aiosmtplib

from recibo.lib import clock

OUTBOX = "outbox"
_BAD_URL = (
    "RECIBO_EMAIL_URL must read smtp://user:password@host:port or smtps://user:password@host:port, "
    "special characters of the user and the password percent-encoded."
)
_SMTPS_PORT = 465
# Where a user hands mail in, and where servers hand it on.
_SUBMISSION_PORT = 587
_RELAY_PORT = 25
# For the whole conversation; whoever leases a mail must leave it longer than this.
SEND_LIMIT_S = 60.0
_PERMANENT = range(500, 600)
# What the server says about a connection; what it says about a mail could quote the mail.
_SAID_LENGTH = 200


class SendError(Exception):
    """The mail was not taken; it may be, later. The message quotes nothing of the mail."""


class RecipientRefusedError(SendError):
    """The mail will never be taken: its recipient is refused for good."""


class Mailer(Protocol):
    """Takes mails on their way."""

    async def send(self, message: EmailMessage) -> None:
        """Hand one mail over; once this returns, it is somebody else's to deliver.

        Raises:
            SendError: it was not taken.
            RecipientRefusedError: it never will be.
        """


def of(url: str, *, outbox: Path) -> "Outbox | Smtp":
    """Return the mailer of a URL; an empty one and `outbox` mean files in a folder.

    Raises:
        ValueError: the URL is of another form; the message does not repeat it.
    """
    if is_outbox(url):
        return Outbox(outbox)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(_BAD_URL) from None
    if not host or not _is_plain(parts):
        raise ValueError(_BAD_URL)
    is_tls, is_near = parts.scheme == "smtps", _is_loopback(host)
    return Smtp(
        host=host,
        port=port or _default_port(parts),
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        is_tls=is_tls,
        is_clear_allowed=is_near,
        tls=_tls(is_verified=not is_near),
    )


def is_outbox(url: str) -> bool:
    """Return whether mails of a URL are files in a folder."""
    return url in ("", OUTBOX)


@dataclass(frozen=True, slots=True)
class Outbox:
    """Each mail is one file of a folder; the names sort by time."""

    folder: Path

    @property
    def destination(self) -> str:
        """Where mails go, for people to read."""
        return f"the folder {self.folder.absolute()}"

    async def send(self, message: EmailMessage) -> None:
        """Write the file, whole or not at all, for its owner's eyes only."""
        try:
            await asyncio.to_thread(self._write, message)
        except OSError as e:
            message_ = f"the outbox cannot be written: {e.strerror}"
            raise SendError(message_) from e

    def _write(self, message: EmailMessage) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = f"{clock.now():%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(4)}.eml"
        partial = self.folder / f".{name}.part"
        # Lines end as those of other files here, so that they can be read and searched as text.
        data = message.as_bytes(policy=email.policy.default)
        try:
            with os.fdopen(
                os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
            ) as f:
                f.write(data)
                f.flush()
                os.fsync(f.fileno())
            partial.replace(self.folder / name)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


@dataclass(frozen=True, slots=True)
class Smtp:
    """An SMTP server; each mail is a conversation of its own."""

    host: str
    port: int
    #: Empty when the server asks for none.
    user: str
    password: str = field(repr=False)
    #: From the first byte on; else TLS begins when the server offers STARTTLS.
    is_tls: bool
    #: Whether the password may go over a line without TLS.
    is_clear_allowed: bool
    tls: ssl.SSLContext = field(repr=False)

    @property
    def destination(self) -> str:
        """Where mails go, for people to read."""
        return f"{self.host}, port {self.port}"

    async def send(self, message: EmailMessage) -> None:
        """Have the server take the mail."""
        try:
            async with asyncio.timeout(SEND_LIMIT_S), self._conversation() as client:
                await client.send_message(message)
        except aiosmtplib.SMTPRecipientsRefused as e:
            raise _refusal(e) from None
        except (aiosmtplib.SMTPDataError, aiosmtplib.SMTPSenderRefused) as e:
            message_ = f"the server refused the mail with {e.code}"
            raise SendError(message_) from None
        except (aiosmtplib.SMTPException, OSError, ValueError) as e:
            # OSError holds TimeoutError and what TLS complains of.
            message_ = f"{self.host}, port {self.port}: {_said(e)}"
            raise SendError(message_) from None

    @asynccontextmanager
    async def _conversation(self) -> AsyncIterator[aiosmtplib.SMTP]:
        client = aiosmtplib.SMTP(
            hostname=self.host,
            port=self.port,
            use_tls=self.is_tls,
            # None: when it is offered.
            start_tls=False if self.is_tls else None,
            tls_context=self.tls,
            timeout=SEND_LIMIT_S,
        )
        await client.connect()
        try:
            await self._log_in(client)
            yield client
            # Taken is taken, whatever becomes of the goodbye.
            with contextlib.suppress(aiosmtplib.SMTPException, OSError):
                await client.quit()
        finally:
            client.close()

    async def _log_in(self, client: aiosmtplib.SMTP) -> None:
        if not self.user:
            return
        if client.get_transport_info("sslcontext") is None and not self.is_clear_allowed:
            message = f"{self.host} offers no TLS, and the password is not sent without"
            raise SendError(message)
        await client.login(self.user, self.password)


def _is_plain(parts: SplitResult) -> bool:
    """Tell whether nothing stands in the URL that would be passed over."""
    return (
        parts.scheme in {"smtp", "smtps"}
        and parts.path in {"", "/"}
        and not parts.query
        and not parts.fragment
        and bool(parts.username) == bool(parts.password)
    )


def _default_port(parts: SplitResult) -> int:
    if parts.scheme == "smtps":
        return _SMTPS_PORT
    return _SUBMISSION_PORT if parts.username else _RELAY_PORT


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _tls(*, is_verified: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not is_verified:
        # Mail servers on one's own machine have certificates that they made themselves, and
        # nobody stands between.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _refusal(e: aiosmtplib.SMTPRecipientsRefused) -> SendError:
    codes = [one.code for one in e.recipients]
    message = f"the server refused the recipient with {codes}"
    is_permanent = all(code in _PERMANENT for code in codes)
    return RecipientRefusedError(message) if is_permanent else SendError(message)


def _said(e: Exception) -> str:
    if isinstance(e, TimeoutError):
        return "no answer in time"
    said = e.message if isinstance(e, aiosmtplib.SMTPException) else str(e)
    code = f"{e.code} " if isinstance(e, aiosmtplib.SMTPResponseException) else ""
    return f"{code}{said}"[:_SAID_LENGTH]
