"""The mailbox that receipts are mailed to, by IMAP."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from imaplib import IMAP4
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

from imapclient import SEEN, IMAPClient

from recibo.lib import ip_addresses

T = TypeVar("T")

_BAD_URL = (
    "RECIBO_INBOX_URL must read imaps://user:password@host:port/FOLDER, special characters "
    "percent-encoded; imap:// for a server on this machine."
)
# Of each command, so that a server that hangs delays no more than one run.
_TIMEOUT_S = 30.0
_SAID_LENGTH = 200


class MailboxError(Exception):
    """The mailbox cannot be read; try again later. The message quotes nothing of a mail."""


@dataclass(frozen=True, slots=True)
class RawMail:
    """A mail as the server has it."""

    content: bytes
    #: Whether it is larger than what is read; then `content` is only its beginning.
    is_cut: bool


class OpenMailbox(Protocol):
    """A connection to a mailbox."""

    async def unseen(self) -> list[int]:
        """Return the numbers of the mails that are not marked as read, oldest first."""

    async def fetch(self, number: int, *, most: int, beginning: int) -> RawMail:
        """Return a mail, without marking it; of one with over `most` bytes only the beginning."""

    async def mark_seen(self, number: int) -> None:
        """Mark a mail as read."""


class Mailbox(Protocol):
    """A mailbox; every method raises MailboxError."""

    def connect(self) -> AbstractAsyncContextManager[OpenMailbox]:
        """Connect while the block lasts."""


@dataclass(frozen=True, slots=True)
class Imap:
    """A folder on an IMAP server."""

    host: str
    port: int | None
    user: str
    password: str = field(repr=False)
    folder: str
    #: True for TLS from the start; else STARTTLS is used if the server offers it.
    is_tls: bool

    @asynccontextmanager
    async def connect(self) -> AsyncIterator["ImapConnection"]:
        """Connect, sign in and open the folder."""
        connection = ImapConnection(await _waited(self._connected))
        try:
            yield connection
        finally:
            with contextlib.suppress(MailboxError):
                await _waited(connection.client.logout)

    def _connected(self) -> IMAPClient:
        is_near, tls = ip_addresses.is_loopback(self.host), ssl.create_default_context()
        if is_near:
            # Servers on this machine have self-signed certificates.
            tls.check_hostname = False
            tls.verify_mode = ssl.CERT_NONE
        client = IMAPClient(
            self.host, self.port, ssl=self.is_tls, ssl_context=tls, timeout=_TIMEOUT_S
        )
        try:
            if not self.is_tls and (client.has_capability("STARTTLS") or not is_near):
                # Another machine must offer it: a password is not sent without.
                client.starttls(tls)
            client.login(self.user, self.password)
            client.select_folder(self.folder)
        except BaseException:
            client.shutdown()
            raise
        return client


@dataclass(frozen=True, slots=True)
class ImapConnection:
    """An open folder; one command at a time, in a thread."""

    client: IMAPClient

    async def unseen(self) -> list[int]:
        """Return the numbers of the mails that are not marked as read, oldest first."""
        return sorted(await _waited(lambda: self.client.search("UNSEEN")))

    async def fetch(self, number: int, *, most: int, beginning: int) -> RawMail:
        """Return a mail, without marking it; of one with over `most` bytes only the beginning."""
        size = await self._item(number, "RFC822.SIZE", b"RFC822.SIZE")
        if size > most:
            part = await self._item(number, f"BODY.PEEK[]<0.{beginning}>", b"BODY[]<0>")
            return RawMail(part, is_cut=True)
        return RawMail(await self._item(number, "BODY.PEEK[]", b"BODY[]"), is_cut=False)

    async def mark_seen(self, number: int) -> None:
        """Mark a mail as read."""
        await _waited(lambda: self.client.add_flags([number], [SEEN]))

    async def _item(self, number: int, item: str, name: bytes) -> Any:
        found = await _waited(lambda: self.client.fetch([number], [item]))
        try:
            return found[number][name]
        except KeyError:
            # Another program removed it a moment ago.
            message = "a mail is gone"
            raise MailboxError(message) from None


def of(url: str) -> Imap:
    """Return the mailbox of a URL.

    Raises:
        ValueError: the URL is not valid; the message does not repeat it.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(_BAD_URL) from None
    is_whole = parts.username and parts.password and not parts.query and not parts.fragment
    if parts.scheme not in {"imap", "imaps"} or not host or not is_whole:
        raise ValueError(_BAD_URL)
    return Imap(
        host=host,
        port=port,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        folder=unquote(parts.path.strip("/")) or "INBOX",
        is_tls=parts.scheme == "imaps",
    )


async def _waited(act: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(act)
    except (IMAP4.error, OSError) as e:
        # OSError includes timeouts and TLS errors.
        raise MailboxError(f"{type(e).__name__}: {e}"[:_SAID_LENGTH]) from None
