"""Read a mail as it came: its sender, its addresses and the documents in it.

Strangers choose every byte of a mail. Sizes, lines, parts and headers are limited before the
standard library parses anything: some of its steps take time with the product of two of them.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from email.parser import BytesHeaderParser, BytesParser
from email.policy import EmailPolicy
from functools import lru_cache
from itertools import islice
from typing import Any

from recibo.extract.document import formats
from recibo.lib import emails, file_names

#: Of a whole mail: Base64 adds a third, so the largest document and a small one fit.
MAX_BYTES = 25 * 1024 * 1024
#: Enough for every header that is read.
HEAD_BYTES = 64 * 1024
#: Of one mail; the others are refused by name.
MAX_DOCUMENTS = 20
# A line of Base64 has 76 characters, so the largest mail has 350,000.
_MAX_LINES = 500_000
# Each line is compared with the boundary of every part around it.
_MAX_BOUNDARIES = 40
_MAX_PARTS = 50
_MAX_HEADER = 2000
# Parsing these takes more time than their length.
_MAX_STRUCTURED = 500
_UNSTRUCTURED = {"subject", "message-id"}
# The headers of a part are read several times, also by the standard library.
_KEPT_HEADERS = 64
_MAX_HEADERS = 20
_MAX_MESSAGE_ID = 900
_MAX_SUBJECT = 500
_SNIFFED = 8192
# Logos and icons of signatures are smaller, photos and scans larger.
_LEAST_INLINE = 10 * 1024
# What mail programs add for each other.
_LEFT_OUT = {
    "application/ms-tnef",
    "application/pgp-encrypted",
    "application/pgp-signature",
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
    "text/calendar",
    "text/vcard",
    "text/x-vcard",
}
_RECIPIENTS = ("Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To", "To", "Cc")
# RFC 3834, and what else programs write that answer or send lists.
_PROGRAMS = ("Auto-Submitted", "X-Autoreply", "X-Autorespond", "X-Auto-Response-Suppress")
_BULK = {"bulk", "junk", "list", "auto_reply"}
_QUOTED_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|\((?:[^()\\]|\\.)*\)')
_NOBODY = re.compile(r"(mailer-daemon|postmaster|no-?reply|do-?not-?reply)[@+].*", re.IGNORECASE)


class DamagedMailError(Exception):
    """The mail is not what a mail program writes."""


class _Policy(EmailPolicy):
    """Parses the beginning of long headers only, and not at every access."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        most = _MAX_HEADER if name.lower() in _UNSTRUCTURED else _MAX_STRUCTURED
        return _parsed(name, _on_one_line(value)[:most])


@lru_cache(_KEPT_HEADERS)
def _parsed(name: str, value: str) -> Any:
    return EmailPolicy().header_fetch_parse(name, value)


_POLICY = _Policy()


@dataclass(frozen=True, slots=True)
class _Result:
    """A result of a mail server's check: `method=result`, then properties."""

    words: Sequence[str]

    @property
    def method(self) -> str:
        """What was checked."""
        return self.words[0].partition("=")[0]

    @property
    def is_pass(self) -> bool:
        """Whether it is right."""
        return self.words[0].partition("=")[2] == "pass"

    @property
    def is_none(self) -> bool:
        """Whether there was nothing to check."""
        return self.words[0].partition("=")[2] == "none"

    def value(self, name: str) -> str:
        """Return a property; empty if it has none."""
        return next((one[len(name) + 1 :] for one in self.words if one.startswith(f"{name}=")), "")


@dataclass(frozen=True, slots=True)
class Head:
    """What the headers of a mail say; all of it may be forged."""

    #: Empty if the mail has none.
    message_id: str
    #: Lower case.
    sender: str
    subject: str
    #: The texts of the headers that name recipients.
    recipients: tuple[str, ...]
    #: Whether a program sent it, so that a reply could make a loop.
    is_automatic: bool
    #: The headers with which mail servers say what they checked.
    checks: tuple[str, ...]

    def tokens(self, base: str) -> list[str]:
        """Return the tokens of the addresses `local+TOKEN@domain` that it was sent to."""
        local, _, domain = base.partition("@")
        pattern = rf"(?<![^\s<,:;\"]){re.escape(local)}\+([a-z0-9]+)@{re.escape(domain)}(?![\w.-])"
        found = (re.findall(pattern, one, re.IGNORECASE) for one in self.recipients)
        return list(dict.fromkeys(token.lower() for tokens in found for token in tokens))

    def is_from_sender(self, server: str) -> bool:
        """Return whether a mail server says that the domain of the sender sent it."""
        results = [one for header in self.checks for one in _results(header, server)]
        domain = self.sender.rpartition("@")[2]
        policy = [one for one in results if one.method == "dmarc" and not one.is_none]
        if policy:
            return all(one.is_pass and one.value("header.from") == domain for one in policy)
        return any(
            one.method == "dkim" and one.is_pass and _covers(one.value("header.d"), domain)
            for one in results
        )


@dataclass(frozen=True, slots=True)
class Document:
    """A file in a mail."""

    name: str
    content: bytes
    #: By its first bytes; None when only a decoder can find it out.
    media_type: str | None
    #: Whether it can be a document.
    is_supported: bool

    @property
    def sha256(self) -> str:
        """The hash of its bytes."""
        return hashlib.sha256(self.content).hexdigest()


def read_head(raw: bytes) -> Head:
    """Read the headers of a mail.

    Raises:
        DamagedMailError: it has no single sender.
    """
    try:
        return _head(BytesHeaderParser(policy=_POLICY).parsebytes(raw[:HEAD_BYTES]))
    except Exception as e:
        # The standard library raises many kinds, UnboundLocalError too.
        raise DamagedMailError from e


def read_documents(raw: bytes) -> list[Document]:
    """Read the attachments and inline pictures of a mail; also those of mails attached to it.

    Raises:
        DamagedMailError: it is not a mail, or has too many parts or lines.
    """
    if raw.count(b"\n") > _MAX_LINES or raw.lower().count(b"boundary") > _MAX_BOUNDARIES:
        raise DamagedMailError
    try:
        message = BytesParser(policy=_POLICY).parsebytes(raw)
        return [one for part in _leaves(message) if (one := _document(part)) is not None]
    except Exception as e:
        # As above.
        raise DamagedMailError from e


def _head(message: Any) -> Head:
    (written,) = _all(message, "From")
    if len(written) > _MAX_STRUCTURED:
        # What is cut off could be another sender.
        raise DamagedMailError
    (sender,) = message["From"].addresses
    return Head(
        message_id=_text(message["Message-ID"], _MAX_MESSAGE_ID),
        sender=emails.parse(sender.addr_spec, is_production=False),
        subject=_text(message["Subject"], _MAX_SUBJECT),
        recipients=tuple(one for name in _RECIPIENTS for one in _all(message, name)),
        is_automatic=_is_automatic(message) or bool(_NOBODY.fullmatch(sender.addr_spec)),
        checks=tuple(one[:_MAX_HEADER] for one in _all(message, "Authentication-Results")),
    )


def _all(message: Any, name: str) -> list[str]:
    """Return headers as they are written, on one line: parsing them takes time."""
    found = (value for key, value in message.raw_items() if key.lower() == name.lower())
    return [_on_one_line(one) for one in islice(found, _MAX_HEADERS)]


def _on_one_line(header: object) -> str:
    return re.sub(r"[\r\n]", "", str(header))


def _text(header: object, most: int) -> str:
    return file_names.printable(str(header), most) if header is not None else ""


def _is_automatic(message: Any) -> bool:
    marks = [_text(message[name], _MAX_HEADER).lower() for name in _PROGRAMS]
    return (
        any(mark not in ("", "no") for mark in marks)
        or any(name.lower().startswith("list-") for name in message)
        or _text(message["Precedence"], _MAX_HEADER).lower() in _BULK
        or _text(message["Return-Path"], _MAX_HEADER) == "<>"
        or message.get_content_type() == "multipart/report"
    )


def _results(header: str, server: str) -> list[_Result]:
    """Return the results in a header that this server wrote (RFC 8601); none of another.

    A header with nested comments is left out: nothing in it may be taken for a result.
    """
    bare = _QUOTED_OR_COMMENT.sub(lambda found: "-" if found[0][0] == '"' else " ", header)
    written_by, *results = bare.split(";")
    if not written_by.split() or written_by.split()[0].lower() != server.lower():
        return []
    if re.search(r"[()\"]", bare):
        return []
    return [_Result(one.lower().split()) for one in results if one.strip()]


def _covers(signing: str, domain: str) -> bool:
    """Return whether a signature of one domain speaks for an address of another."""
    return "." in signing and (domain == signing or domain.endswith(f".{signing}"))


def _leaves(message: Any) -> Iterator[EmailMessage]:
    for number, part in enumerate(message.walk()):
        if number >= _MAX_PARTS:
            raise DamagedMailError
        if not part.is_multipart():
            yield part


def _document(part: EmailMessage) -> Document | None:
    """Return what a part holds; None for texts, and for what mail programs add."""
    declared, disposition = part.get_content_type(), part.get_content_disposition()
    name = file_names.bare(part.get_filename() or "")
    if declared in _LEFT_OUT or (declared.startswith("text/") and not name):
        return None
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    is_inline = disposition == "inline" or (part["Content-ID"] and disposition != "attachment")
    if is_inline and declared.startswith("image/") and len(content) < _LEAST_INLINE:
        return None
    found = formats.guess(content[:_SNIFFED])
    kind = declared if found is None else found
    return Document(name or declared, content, found, bool(content) and kind in formats.EXTENSIONS)
