"""What mails say, and how they look: plain text and HTML, a button at most, nothing from afar."""

import datetime as dt
import email.policy
import ipaddress
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from functools import cache
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from recibo.lib import clock, names
from recibo.schemas.states import MailKind

_TEXTS = Path(__file__).parent / "mail_texts"
_TEMPLATES = Environment(
    loader=FileSystemLoader(_TEXTS),
    # Names are strangers' text.
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
# RFC 5322: longer lines are cut on their way.
_LONGEST_LINE = 998
_BAD_SENDER = 'RECIBO_EMAIL_FROM must read "Name <name@example.com>".'


@dataclass(frozen=True, slots=True)
class MailSettings:
    """What all mails of an installation share."""

    #: The public address, without a slash at its end.
    base_url: str
    sender: Address

    @property
    def host(self) -> str:
        """What our addresses and ids end in."""
        return _mail_host(self.base_url)


@dataclass(frozen=True, slots=True)
class MailTemplate:
    """The text of one kind; `{names}` stand for what the row names."""

    subject: str
    paragraphs: tuple[str, ...]
    #: What the button says, and the page of the portal that it opens; none without a token.
    button: str = ""
    page: str = ""
    #: How long the link works, and what to do when it was not expected.
    footer: str = ""


@dataclass(frozen=True, slots=True)
class MailContent:
    """One mail before it is written."""

    #: Tells it from others, and from an earlier try at the same mail.
    id: str
    kind: MailKind
    to: str
    names: Mapping[str, str | int]
    #: When what it tells of happened.
    created_at: dt.datetime
    #: What the link proves; None for mails without one.
    token: str | None = None


def render(content: MailContent, head: MailSettings) -> EmailMessage:
    """Return the mail as it is sent."""
    letter = _letters()[content.kind]
    said = _said(content, head)
    parts = {
        "subject": letter.subject.format_map(said),
        "paragraphs": [one.format_map(said) for one in letter.paragraphs],
        "button": letter.button,
        "link": link(content, head),
        "token": content.token,
        "footer": letter.footer,
        "base_url": head.base_url,
    }
    message = EmailMessage(policy=email.policy.SMTP)
    message["From"] = head.sender
    message["To"] = Address(addr_spec=content.to)
    message["Subject"] = parts["subject"]
    message["Date"] = format_datetime(clock.now())
    message["Message-ID"] = f"<{content.id}@{head.host}>"
    # RFC 3834: nobody's holiday notice answers.
    message["Auto-Submitted"] = "auto-generated"
    message["X-Auto-Response-Suppress"] = "All"
    text = _TEMPLATES.get_template("letter.txt").render(parts)
    html = _TEMPLATES.get_template("letter.html").render(parts)
    message.set_content(text, charset="utf-8", cte=_encoding(text))
    message.add_alternative(html, subtype="html", charset="utf-8", cte=_encoding(html))
    return message


def link(content: MailContent, head: MailSettings) -> str:
    """Return the address of the page that takes the mail's token, and leads on from there."""
    page = _letters()[content.kind].page
    query = {"token": str(content.token)}
    if wanted := content.names.get("next"):
        query["next"] = str(wanted)
    return f"{head.base_url}/portal/{page}?{urlencode(query, safe='/')}"


def sender(text: str, base_url: str) -> Address:
    """Return who mails come from; when no text says so, the public address's host.

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
        # The library stumbles over some that are none.
        raise ValueError(_BAD_SENDER) from None
    if not address.domain or message["From"].defects:
        raise ValueError(_BAD_SENDER)
    found: Address = address
    return found


@cache
def _letters() -> Mapping[MailKind, MailTemplate]:
    tables = tomllib.loads((_TEXTS / "letters.toml").read_text(encoding="utf-8"))
    return {
        MailKind(kind): MailTemplate(**{**table, "paragraphs": tuple(table["paragraphs"])})
        for kind, table in tables.items()
    }


def _said(content: MailContent, head: MailSettings) -> Mapping[str, str]:
    values = {name: names.sanitize_name(str(value)) for name, value in content.names.items()}
    if "when" in content.names:
        values["when"] = _moment(dt.datetime.fromisoformat(str(content.names["when"])))
    return {**values, "base_url": head.base_url, "at": _moment(content.created_at)}


def _moment(moment: dt.datetime) -> str:
    moment = moment.astimezone(dt.UTC)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def _mail_host(base_url: str) -> str:
    host = urlsplit(base_url).hostname or "localhost"
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host
    return "localhost"


def _encoding(text: str) -> str:
    """Leave a text as it is where mail allows it: links and tokens then stay in one piece."""
    is_plain = text.isascii() and all(len(line) < _LONGEST_LINE for line in text.splitlines())
    return "7bit" if is_plain else "quoted-printable"
