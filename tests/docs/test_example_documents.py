"""The readings of docs/api.md are those of documents that our generator draws."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from recibo.extract import pipeline
from recibo.schemas import receipts
from tests import make_einvoice
from tests.docs import markdown
from tests.house.source import ROOT
from training.receipts import faces, kinds, pdf

_TITLES = {
    "A German supermarket receipt": ("example:50", "till", "de-DE"),
    "A US restaurant check with a tip": ("example:8", "restaurant", "en-US"),
    "An Indian GST invoice": ("docs:0", "invoice", "en-IN"),
    "An NFC-e paid with Pix": ("example:10", "nfce", "pt-BR"),
}
_TITLE = re.compile(r"\*\*(.+?)\.\*\*")
_FACTUR_X = "A Factur-X invoice"


def documented() -> Mapping[str, Mapping[str, Any]]:
    """Return the answer below each title of the page."""
    page = ROOT / "docs" / "api.md"
    lines = page.read_text("utf-8").splitlines()
    found: dict[str, Mapping[str, Any]] = {}
    for block in markdown.blocks(page):
        titles = [match[1] for line in lines[: block.line] if (match := _TITLE.match(line))]
        title = titles[-1] if titles else ""
        if block.language == "json" and title in (*_TITLES, _FACTUR_X):
            found[title] = json.loads(block.text)
    return found


def drawn(title: str) -> bytes:
    """Return the document of a title as a PDF."""
    if title == _FACTUR_X:
        files = [("factur-x.xml", make_einvoice.FACTUR_X)]
        return make_einvoice.pdf(*files, lines=make_einvoice.PAGE)
    seed, kind, language = _TITLES[title]
    return pdf.write(kinds.make(seed, kind, language, faces.Case()).print)


@pytest.mark.parametrize("title", [*_TITLES, _FACTUR_X])
def test_documented_answer_is_read(title: str) -> None:
    expected = documented()[title]
    reading = receipts.reading(pipeline.extract(drawn(title))).model_dump(mode="json")

    assert {name: reading[name] for name in expected} == expected
