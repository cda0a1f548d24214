"""Render mails as plain text and HTML, with at most one button and no remote content."""

import datetime as dt
import email.policy
import ipaddress
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.headerregistry import Address, BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import Policy
from email.utils import format_datetime
from enum import StrEnum
from functools import cache
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from babel import Locale, dates
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from recibo.lib import clock, names
from recibo.schemas.languages import Language
from recibo.schemas.states import MailKind
from recibo.services import mail_replies
from recibo.services.mail_replies import Reply

_TEXTS = Path(__file__).parent / "mail_texts"
_TEMPLATES = Environment(
    loader=FileSystemLoader(_TEXTS),
    # Users choose the names.
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
# RFC 5322: mail servers may cut longer lines.
_LONGEST_LINE = 998
# Addresses that need no escaping: mail clients show them as addresses, and as nothing else.
_PLAIN_EMAIL = re.compile(r"[a-z0-9+_-]+(?:\.[a-z0-9+_-]+)*@[a-z0-9-]+(?:\.[a-z0-9-]+)+", re.ASCII)
# RFC 5322, 3.6.4, without comments and quotes.
_MESSAGE_ID = re.compile(r"<(?!.*=\?)[!-;=?-~]{1,500}>")
_BAD_HEADER = "A header of a mail contains a line break."
_BAD_SENDER = 'RECIBO_EMAIL_FROM must read "Name <name@example.com>".'


class _IdHeader(UnstructuredHeader, BaseHeader):
    """Stays on one line: folded, long ids become encoded words, which are no ids."""

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("in-reply-to", _IdHeader)
_HEADERS.map_to_type("references", _IdHeader)
_POLICY = email.policy.SMTP.clone(header_factory=_HEADERS)


class InviterKind(StrEnum):
    """How an invitation names its inviter, if not by a name: `inviter_kind` in a mail's names."""

    EMAIL = "email"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class MailSettings:
    """What all mails of an installation share."""

    #: The public URL, without a trailing slash.
    base_url: str
    sender: Address

    @property
    def host(self) -> str:
        """The host in the sender's address and in message ids."""
        return _mail_host(self.base_url)


@dataclass(frozen=True, slots=True)
class MailTemplate:
    """The text of one kind of mail; `{placeholders}` are replaced by the row's names."""

    subject: str
    paragraphs: tuple[str, ...]
    #: The button's text, and the page of the portal that it opens; empty without a token.
    button: str = ""
    page: str = ""
    #: How long the link works, and what to do if the mail was not expected.
    footer: str = ""


@dataclass(frozen=True, slots=True)
class MailTexts:
    """The texts of all mails in one language."""

    templates: Mapping[MailKind, MailTemplate]
    #: What is common to several kinds.
    words: Mapping[str, str]
    #: The names of roles, if they are not those of the API.
    roles: Mapping[str, str]
    #: What replies say of a mail and of its files.
    replies: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MailContent:
    """The values of one mail, before it is rendered."""

    #: Differs for each mail and for each attempt to send it.
    id: str
    kind: MailKind
    to: str
    names: Mapping[str, str | int]
    #: When the event that the mail reports happened.
    created_at: dt.datetime
    #: The token in the link; None for mails without a link.
    token: str | None = None
    language: Language = Language.ENGLISH
    #: The mail that this one answers.
    reply: Reply | None = None


def render(content: MailContent, head: MailSettings) -> EmailMessage:
    """Return the message to send.

    Raises:
        ValueError: a header would have several lines.
    """
    texts = _texts(content.language)
    template = texts.templates[content.kind]
    values = _values(content, head)
    parts = {
        "subject": template.subject.format_map(values),
        "paragraphs": _paragraphs(content, head, template, values),
        "button": template.button,
        "link": link(content, head),
        "token": content.token,
        "footer": template.footer,
        "base_url": head.base_url,
        "words": texts.words,
        "language": content.language,
    }
    message = EmailMessage(policy=_POLICY)
    message["From"] = head.sender
    message["To"] = Address(addr_spec=content.to)
    message["Subject"] = parts["subject"]
    message["Date"] = format_datetime(clock.now())
    message["Message-ID"] = f"<{content.id}@{head.host}>"
    _mark_as_automatic(message, content.reply)
    if any(re.search(r"[\r\n]", value) for value in message.values()):
        raise ValueError(_BAD_HEADER)
    text = _TEMPLATES.get_template("mail.txt").render(parts)
    html = _TEMPLATES.get_template("mail.html").render(parts)
    message.set_content(text, charset="utf-8", cte=_encoding(text))
    message.add_alternative(html, subtype="html", charset="utf-8", cte=_encoding(html))
    return message


def _mark_as_automatic(message: EmailMessage, reply: Reply | None) -> None:
    """Prevent automatic replies (RFC 3834), and name the mail that is answered."""
    message["Auto-Submitted"] = "auto-replied" if reply else "auto-generated"
    message["X-Auto-Response-Suppress"] = "All"
    if reply and _MESSAGE_ID.fullmatch(reply.message_id):
        message["In-Reply-To"] = message["References"] = reply.message_id


def link(content: MailContent, head: MailSettings) -> str:
    """Return the URL of the page that takes the mail's token, with the page to open next."""
    page = _texts(content.language).templates[content.kind].page
    query = {"token": str(content.token)}
    if wanted := content.names.get("next"):
        query["next"] = str(wanted)
    return f"{head.base_url}/portal/{page}?{urlencode(query, safe='/')}"


def sender(text: str, base_url: str) -> Address:
    """Parse the sender's address; if `text` is empty, return no-reply at the public URL's host.

    Raises:
        ValueError: the text is not one address, with or without a name.
    """
    if not text:
        return Address("Recibo", addr_spec=f"no-reply@{_mail_host(base_url)}")
    message = EmailMessage()
    try:
        message["From"] = text
        (address,) = message["From"].addresses
    except (ValueError, IndexError, HeaderParseError):
        # The library raises different errors for text that is no address.
        raise ValueError(_BAD_SENDER) from None
    if not address.domain or message["From"].defects:
        raise ValueError(_BAD_SENDER)
    found: Address = address
    return found


@cache
def _texts(language: Language) -> MailTexts:
    name = "mails.toml" if language is Language.ENGLISH else f"mails.{language}.toml"
    tables = tomllib.loads((_TEXTS / name).read_text(encoding="utf-8"))
    words, roles, replies = (tables.pop(one) for one in ("words", "roles", "replies"))
    templates = {
        MailKind(kind): MailTemplate(**{**table, "paragraphs": tuple(table["paragraphs"])})
        for kind, table in tables.items()
    }
    return MailTexts(templates, words, roles, replies)


def _paragraphs(
    content: MailContent, head: MailSettings, template: MailTemplate, values: Mapping[str, str]
) -> list[str]:
    if content.reply is None:
        return [one.format_map(values) for one in template.paragraphs]
    return mail_replies.paragraphs(
        content.reply,
        _texts(content.language).replies,
        locale=Locale.parse(content.language, sep="-"),
        base_url=head.base_url,
    )


def _values(content: MailContent, head: MailSettings) -> Mapping[str, str]:
    values = {name: names.sanitize_name(str(value)) for name, value in content.names.items()}
    if content.reply is not None:
        values["subject"] = content.reply.title
    texts = _texts(content.language)
    if "when" in content.names:
        when = dt.datetime.fromisoformat(str(content.names["when"]))
        values["when"] = _moment(when, content.language)
    if "role" in content.names:
        values["role"] = texts.roles.get(values["role"], values["role"])
    if "inviter" in content.names:
        values["inviter"] = _inviter(content.names, texts)
    at = _moment(content.created_at, content.language)
    return {**values, "base_url": head.base_url, "at": at}


def _inviter(given: Mapping[str, str | int], texts: MailTexts) -> str:
    """Return the inviter for a sentence; a name is quoted, because its user chose it."""
    inviter, kind = str(given["inviter"]), given.get("inviter_kind")
    if kind == InviterKind.OPERATOR:
        return texts.words["operator"]
    if kind == InviterKind.EMAIL and _PLAIN_EMAIL.fullmatch(inviter):
        return inviter
    return f'"{names.sanitize_name(inviter)}"'


def _moment(moment: dt.datetime, language: Language) -> str:
    written: str = dates.format_datetime(
        moment.astimezone(dt.UTC),
        _texts(language).words["moment"],
        locale=Locale.parse(language, sep="-"),
    )
    return written


def _mail_host(base_url: str) -> str:
    host = urlsplit(base_url).hostname or "localhost"
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host
    return "localhost"


def _encoding(text: str) -> str:
    """Return 7bit if the text allows it, so that links and tokens are not wrapped."""
    is_plain = text.isascii() and all(len(line) < _LONGEST_LINE for line in text.splitlines())
    return "7bit" if is_plain else "quoted-printable"
