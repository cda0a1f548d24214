"""The reply to a mail with receipts: what was read, file by file, and what was not and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import PurePath

from babel import Locale, dates, numbers

from recibo.lib import names
from recibo.schemas.states import MailOutcome

# Endings of file names that no mail program turns into a link.
_ENDINGS = {".gif", ".heic", ".jpeg", ".jpg", ".pdf", ".png", ".tif", ".tiff", ".webp", ".xml"}
_NAMELESS = "Recibo"
_OTHER = "server_error"
_BARE_AMOUNT = "#,##0.00##"
# The code is clearer than a symbol: several currencies are called $.
_AMOUNT = "#,##0.00\xa0¤¤"


@dataclass(frozen=True, slots=True)
class ReplyFile:
    """A file of the mail."""

    name: str
    #: The key of its text: `read`, `needs_review`, `known`, `waiting`, or why there is no receipt.
    result: str
    merchant: str | None = None
    total: Decimal | None = None
    currency: str | None = None
    issued_on: date | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A mail that is answered."""

    #: Empty if it had none.
    message_id: str
    subject: str
    outcome: MailOutcome
    files: Sequence[ReplyFile]

    @property
    def title(self) -> str:
        """The subject, for a header."""
        return names.sanitize_name(self.subject) if self.subject else _NAMELESS


def paragraphs(
    reply: Reply, texts: Mapping[str, str], *, locale: Locale, base_url: str
) -> list[str]:
    """Return what the reply says, in the texts of a language."""
    lines = [
        texts.get(file.result, texts[_OTHER]).format(
            file=_name(file.name), details=_details(file, locale)
        )
        for file in reply.files
    ]
    return [texts[reply.outcome].format(base_url=base_url), *lines]


def _details(file: ReplyFile, locale: Locale) -> str:
    found = (
        names.sanitize_name(file.merchant) if file.merchant else "",
        _amount(file, locale),
        dates.format_date(file.issued_on, locale=locale) if file.issued_on else "",
    )
    return ", ".join(one for one in found if one)


def _amount(file: ReplyFile, locale: Locale) -> str:
    if file.total is None:
        return ""
    if file.currency is None:
        return str(numbers.format_decimal(file.total, _BARE_AMOUNT, locale=locale))
    written = numbers.format_currency(file.total, file.currency, _AMOUNT, locale=locale)
    return str(written)


def _name(written: str) -> str:
    """Return a file name that no mail program turns into a link."""
    path = PurePath(written)
    ending = path.suffix if path.suffix.lower() in _ENDINGS else ""
    return names.sanitize_name(written.removesuffix(ending)) + ending
