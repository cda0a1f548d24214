"""Mailers: an SMTP server, or a folder of files."""

import asyncio
import contextlib
import email.policy
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

from recibo.lib import clock, ip_addresses

OUTBOX = "outbox"
_BAD_URL = (
    "RECIBO_EMAIL_URL must read smtp://user:password@host:port or smtps://user:password@host:port, "
    "special characters of the user and the password percent-encoded."
)
_SMTPS_PORT = 465
# RFC 6409: mail submission by users; RFC 5321: relay between servers.
_SUBMISSION_PORT = 587
_RELAY_PORT = 25
# For the whole SMTP session; the lease of a mail must be longer than this.
SEND_LIMIT_S = 60.0
_PERMANENT = range(500, 600)
# For replies about the connection only, because a reply about a mail could quote the mail.
_SAID_LENGTH = 200


class SendError(Exception):
    """The mail was not accepted; try again later. The message quotes nothing of the mail."""


class RecipientRefusedError(SendError):
    """The recipient is refused permanently; do not try again."""


class Mailer(Protocol):
    """Sends mails."""

    async def send(self, message: EmailMessage) -> None:
        """Send one mail; returns once the server or folder has accepted it.

        Raises:
            SendError: the mail was not accepted; try again later.
            RecipientRefusedError: it never will be accepted.
        """


def of(url: str, *, outbox: Path) -> "Outbox | Smtp":
    """Return the mailer of a URL; an empty one and `outbox` mean files in a folder.

    Raises:
        ValueError: the URL is not valid; the message does not repeat it.
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
    is_tls, is_near = parts.scheme == "smtps", ip_addresses.is_loopback(host)
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
    """Writes each mail to a file in a folder; file names sort by time."""

    folder: Path

    @property
    def destination(self) -> str:
        """Where mails go, as text for operators."""
        return f"the folder {self.folder.absolute()}"

    async def send(self, message: EmailMessage) -> None:
        """Write the file atomically, readable by its owner only."""
        try:
            await asyncio.to_thread(self._write, message)
        except OSError as e:
            message_ = f"the outbox cannot be written: {e.strerror}"
            raise SendError(message_) from e

    def _write(self, message: EmailMessage) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = f"{clock.now():%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(4)}.eml"
        partial = self.folder / f".{name}.part"
        # Native line endings, so that text tools can search the files.
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
    """Sends each mail over a new SMTP connection."""

    host: str
    port: int
    #: Empty if the server needs no login.
    user: str
    password: str = field(repr=False)
    #: True for implicit TLS; else STARTTLS is used if the server offers it.
    is_tls: bool
    #: Whether the password may be sent without TLS.
    is_clear_allowed: bool
    tls: ssl.SSLContext = field(repr=False)

    @property
    def destination(self) -> str:
        """Where mails go, as text for operators."""
        return f"{self.host}, port {self.port}"

    async def send(self, message: EmailMessage) -> None:
        """Send the mail to the server."""
        try:
            async with asyncio.timeout(SEND_LIMIT_S), self._connection() as client:
                await client.send_message(message)
        except aiosmtplib.SMTPRecipientsRefused as e:
            raise _refusal(e) from None
        except (aiosmtplib.SMTPDataError, aiosmtplib.SMTPSenderRefused) as e:
            message_ = f"the server refused the mail with {e.code}"
            raise SendError(message_) from None
        except (aiosmtplib.SMTPException, OSError, ValueError) as e:
            # OSError includes TimeoutError and TLS errors.
            message_ = f"{self.host}, port {self.port}: {_said(e)}"
            raise SendError(message_) from None

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[aiosmtplib.SMTP]:
        client = aiosmtplib.SMTP(
            hostname=self.host,
            port=self.port,
            use_tls=self.is_tls,
            # None: use STARTTLS if it is offered.
            start_tls=False if self.is_tls else None,
            tls_context=self.tls,
            timeout=SEND_LIMIT_S,
        )
        await client.connect()
        try:
            await self._log_in(client)
            yield client
            # The mail is accepted already, so an error here does not matter.
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
    """Return whether every part of the URL is used."""
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


def _tls(*, is_verified: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not is_verified:
        # Local mail servers have self-signed certificates, and the traffic does not leave this
        # machine.
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
