"""Every text of the portal is marked, and every language says the same with the same values."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from babel.messages import pofile
from babel.messages.catalog import Catalog, Message
from jinja2 import Environment

from recibo.portal import service_messages as messages
from recibo.portal import translations
from recibo.schemas.languages import Language
from tests.house import marked_texts, service_messages, source

PORTAL = source.PACKAGE / "portal"
CATALOGS = sorted((PORTAL / "locales").glob("*/LC_MESSAGES/portal.po"))
ENVIRONMENT = Environment(extensions=["jinja2.ext.i18n"], autoescape=True)
# Names, codes and what only developers see.
SAME_EVERYWHERE = {
    "Recibo", "· Recibo", "API", "ID", "UTC", "ms", "Cookie", "Allow", "English", "Português",
    "Feinkost Lindner", "DE812345679", "EUR", "X-API-Key", "Python", "?next=", "Esc", "JPG",
    'aria-invalid="true" aria-describedby="', 'Session realm="recibo"',
    # Names of types.
    "Model", "Services", "DocumentView", "ErrorMessage",
    # Headers, and formats of times.
    "public, max-age=31536000, immutable", "private, max-age=3600", "private, no-store",
    'attachment; filename="', 'inline; filename="', "Hm", "Hms", "Enter", "Pix", "Excel",
}  # fmt: skip
ONLY_IN_DEVELOPMENT = {"style.html", "style.py"}
# Messages of services that no page shows.
ONLY_IN_THE_API = {
    "A publishable key may not do this; use a secret key.",
    "Enroll first: POST /v1/auth/2fa/enroll.",
    "The refresh token is not valid; sign in again.",
    "The refresh token is used up or over; sign in again.",
    "There is no org x.",
    "This Idempotency-Key was used with another file; use a new key for a new file.",
    "This is no event of Stripe.",
    "This session came from an invitation and is bound to its org; sign in first.",
    "This subscription changes too fast; send the event again.",
    "`x` reaches only keys of your own",
    "a field is no text in the form's charset; a file needs a file name",
    "at most x keys",
    "is an address that begins with http:// or https://",
    "is bound to its org",
    "is not a cursor of this list; use next_cursor with the same filters",
    "is not right, or too old",
    "it ends before its last boundary",
    "its chunks hold too little; send more at once",
    "keys have 1 to x characters, values at most x",
    "must be a date such as 2026-04-13",
    "must be an ISO 8601 timestamp with its offset, such as 2026-03-14T08:17:42-03:00",
    "send the file as multipart/form-data",
    "the form cannot be read: x",
    "the upload ended early; send it again",
}


def test_texts_of_templates_are_marked() -> None:
    found = {
        path.relative_to(PORTAL).as_posix(): texts
        for path in marked_texts.templates(PORTAL)
        if path.name not in ONLY_IN_DEVELOPMENT and (texts := _unmarked(path))
    }

    assert {} == found


def test_texts_of_modules_are_marked() -> None:
    found = {
        path.name: texts
        for path in sorted(PORTAL.glob("*.py"))
        if path.name not in ONLY_IN_DEVELOPMENT
        and (texts := set(marked_texts.in_module(source.tree(path))) - SAME_EVERYWHERE)
    }

    assert {} == found


def test_imported_templates_translate_nothing_before_a_request() -> None:
    """Jinja2 keeps their variables, so `lazy_gettext` is needed there."""
    found = {
        path.name: marks
        for path in marked_texts.templates(PORTAL)
        if (marks := marked_texts.evaluated_once(ENVIRONMENT, path.read_text("utf-8")))
        and "{% extends" not in path.read_text("utf-8")
    }

    assert {} == found


@pytest.mark.parametrize("path", CATALOGS, ids=lambda path: path.parts[-3])
def test_every_text_is_translated(path: Path) -> None:
    """Run `make messages`, then translate what is new in the catalog."""
    missing = [one.id for one in _read(path) if one.id and not all(_texts(one.string) or [""])]

    assert [] == missing


def test_catalogs_have_the_texts_of_the_portal(tmp_path: Path) -> None:
    """Run `make messages`, then translate what is new in the catalog."""
    shutil.copytree(PORTAL / "locales", tmp_path / "locales")
    command = [str(source.ROOT / "scripts" / "messages"), "--locales", str(tmp_path / "locales")]
    subprocess.run(command, check=True, capture_output=True)

    for path in CATALOGS:
        updated = _read(tmp_path / "locales" / path.relative_to(PORTAL / "locales"))
        texts = {(one.context, one.id) for one in _read(path)}
        assert set() == texts ^ {(one.context, one.id) for one in updated}


def test_messages_of_services_are_translated() -> None:
    """List what pages may show in `portal/service_messages.py`, what only the API returns here."""
    with translations.using(Language.PORTUGUESE):
        unknown = {text for text in service_messages.found() if not messages.is_known(text)}

    assert set() == unknown - ONLY_IN_THE_API
    assert set() == ONLY_IN_THE_API - unknown


@pytest.mark.parametrize("path", CATALOGS, ids=lambda path: path.parts[-3])
def test_catalog_is_reviewed_and_inserts_the_same_values(path: Path) -> None:
    catalog = _read(path)

    assert [] == [one.id for one in catalog if one.id and one.fuzzy]
    assert {} == catalog.obsolete
    assert [] == [one.id for one in catalog if one.id and _differs(one)]


def test_unmarked_texts_are_found() -> None:
    page = """<p title="{{ name }} is here">Hello {{ _("world") }}</p>{{ field("Password") }}
    {% trans %}Marked{% endtrans %}<b class="some name">{{ "selected" if "Yes" == _("No") }}</b>"""

    assert ["is here", "Hello", "Password", "Yes"] == marked_texts.in_template(ENVIRONMENT, page)


def _unmarked(path: Path) -> set[str]:
    if path.suffix == ".py":
        return set(marked_texts.in_module(source.tree(path))) - SAME_EVERYWHERE
    found = marked_texts.in_template(ENVIRONMENT, path.read_text("utf-8"))
    return set(found) - SAME_EVERYWHERE


def _read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return pofile.read_po(file)


def _differs(message: Message) -> bool:
    """Return whether a translation inserts other values, or has other elements of HTML."""
    texts = _texts(message.id)
    translations = [text for text in _texts(message.string) if text]
    return any(_inserted(text) != _inserted(texts[-1]) for text in translations)


def _texts(given: str | tuple[str, ...] | list[str] | None) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def _inserted(text: str) -> list[str]:
    """Return the placeholders and tags of a text; the number of things may be left out."""
    found = re.findall(r"%\(\w+\)s|%(?!\()%?|</?\w+[^>]*>", text)
    return sorted(one for one in found if one != "%(num)s")
