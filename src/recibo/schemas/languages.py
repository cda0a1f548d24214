"""The languages that people read: of the portal and of mails."""

from enum import StrEnum


class Language(StrEnum):
    """A language; the value is its tag in HTML and HTTP."""

    ENGLISH = "en"
    PORTUGUESE = "pt-BR"


def known(tag: object) -> Language | None:
    """Return the language with a tag; None for other values."""
    return Language(tag) if isinstance(tag, str) and tag in list(Language) else None
