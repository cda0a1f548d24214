"""The texts of the portal in the language of a request.

English texts are in templates and modules, marked with the functions below; translations are in
`locales`. A `%` in a marked text is written `%%`, because values are inserted by name:
`_("%(name)s left.", name=name)`.
"""

import gettext as catalogs
import html
import io
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from babel import Locale
from babel.messages import mofile, pofile

from recibo.schemas.languages import Language

_FOLDER = Path(__file__).parent / "locales"


#: The languages by the name that their readers know.
NAMES = {Language.ENGLISH: "English", Language.PORTUGUESE: "Português"}

_language: ContextVar[Language] = ContextVar("portal_language", default=Language.ENGLISH)


def current() -> Language:
    """Return the language of the request."""
    return _language.get()


def locale() -> Locale:
    """Return the locale of the request, for formats."""
    return _locale(_language.get())


@contextmanager
def using(language: Language) -> Iterator[None]:
    """Use a language until the block ends."""
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


def load() -> None:
    """Load all catalogs, so that no request waits for them."""
    for language in Language:
        _catalog(language)


def translate(message: str) -> str:
    """Return the translation of a text as it is in the catalog."""
    return _catalog(_language.get()).gettext(message)


def ntranslate(singular: str, plural: str, num: int) -> str:
    """Return the translation for a number of things as it is in the catalog."""
    return _catalog(_language.get()).ngettext(singular, plural, num)


def ptranslate(context: str, message: str) -> str:
    """Return the translation with a meaning as it is in the catalog."""
    return _catalog(_language.get()).pgettext(context, message)


def nptranslate(context: str, singular: str, plural: str, num: int) -> str:
    """Return the translation with a meaning for a number of things as it is in the catalog."""
    return _catalog(_language.get()).npgettext(context, singular, plural, num)


def gettext(message: str, /, **values: object) -> str:
    """Return a text with values."""
    return translate(message) % values


def ngettext(singular: str, plural: str, num: int, /, **values: object) -> str:
    """Return the text for a number of things, which it may contain as `%(num)s`."""
    return ntranslate(singular, plural, num) % {"num": num, **values}


def pgettext(context: str, message: str, /, **values: object) -> str:
    """Return the text with a meaning, for words that have two."""
    return ptranslate(context, message) % values


_ = gettext


@dataclass(frozen=True, slots=True)
class LazyText:
    """A marked text of a constant: each page shows it in its own language."""

    message: str
    context: str = ""

    def __str__(self) -> str:
        if self.context:
            return pgettext(self.context, self.message)
        return gettext(self.message)

    def __html__(self) -> str:
        return html.escape(str(self))


def gettext_noop(message: str) -> str:
    """Mark a text that is translated where it is shown, such as the message of an error."""
    return message


def lazy_gettext(message: str) -> LazyText:
    """Mark a text outside of requests, such as a constant of a module."""
    return LazyText(message)


def lazy_pgettext(context: str, message: str) -> LazyText:
    """Mark a text with a meaning outside of requests."""
    return LazyText(message, context)


@cache
def _locale(language: Language) -> Locale:
    return Locale.parse(language, sep="-")


@cache
def _catalog(language: Language) -> catalogs.NullTranslations:
    """Read a catalog. Its source needs no build step, and less than a tenth of a second."""
    path = _FOLDER / str(_locale(language)) / "LC_MESSAGES" / "portal.po"
    if not path.exists():
        return catalogs.NullTranslations()
    compiled = io.BytesIO()
    with path.open("rb") as file:
        mofile.write_mo(compiled, pofile.read_po(file))
    compiled.seek(0)
    return catalogs.GNUTranslations(compiled)
