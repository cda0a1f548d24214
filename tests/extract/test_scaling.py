"""No stage takes more than n log n: four times the words are about four times the work."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from types import ModuleType

import pytest

from recibo.extract import errors, pipeline
from recibo.extract.brazil import access_keys, key_search
from recibo.extract.brazil.documents import cfe, ecf, nfce, nfe, nfse, thermal
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument
from recibo.extract.document import text_layer
from recibo.extract.document.pdf_letters import Glyph
from recibo.extract.fields import collect, number
from recibo.extract.fields.items import item_name, itemlist, line_items, tables
from recibo.extract.layout import lines, rows
from recibo.extract.layout import rows as general
from recibo.extract.layout.rows import Row
from recibo.extract.model import Box, Extracted, LineItem, TextPage
from recibo.extract.resolve import assemble, confidence, vote
from tests.extract import stress_pages, typesetting
from tests.extract.stress_pages import Setting

# Four times as many words, the logarithm, and some tolerance.
_MOST = 5.5


def _growth(made: Callable[[int], Callable[[], object]], few: int) -> float:
    """Return how many times the work grows with four times as much of a document."""
    # The first run fills the caches.
    made(few)()
    return stress_pages.steps(made(4 * few)) / stress_pages.steps(made(few))


def _text_pages(name: str, count: int, setting: Setting) -> list[TextPage]:
    return [stress_pages.text_page(name, count, setting, rows=lines.lines)]


def _understood(text_pages: Sequence[TextPage]) -> None:
    try:
        pipeline.understand([text_pages])
    except errors.ReadingError:
        return


@pytest.mark.parametrize("setting", stress_pages.SETTINGS, ids=lambda setting: setting.__name__)
@pytest.mark.parametrize("name", ["one word", "prose"])
def test_words_are_put_into_lines(name: str, setting: Setting) -> None:
    """Even if words overlap."""

    def made(count: int) -> Callable[[], object]:
        words = list(setting(stress_pages.contents(name, count)))
        return lambda: lines.lines(words)

    assert _growth(made, 100) < _MOST


def test_long_words_that_slope_are_put_into_lines() -> None:
    """Each shows the slope of the page."""

    def made(count: int) -> Callable[[], object]:
        long = stress_pages.contents("long digits", count)
        words = list(stress_pages.slanted(long, each=count))
        return lambda: lines.lines(words)

    assert _growth(made, 100) < _MOST


@pytest.mark.parametrize("setting", stress_pages.SETTINGS, ids=lambda setting: setting.__name__)
def test_words_printed_twice_are_dropped(setting: Setting) -> None:
    """A page with the same word in many places."""

    def made(count: int) -> Callable[[], object]:
        words = setting(stress_pages.contents("one letter", count))
        # A space separates the letters.
        printed = [each for word in words for each in (Glyph(word.text, word.box, 0), _BLANK)]
        return lambda: text_layer.words(printed, page=1)

    assert _growth(made, 100) < _MOST


_BLANK = Glyph(" ", Box(0, 0, 0, 0), 0)


@pytest.mark.parametrize("name", stress_pages.CONTENTS)
def test_fields_are_found(name: str) -> None:
    """With any content; the smallest page has each word at least once."""

    def made(count: int) -> Callable[[], object]:
        text_pages = _text_pages(name, count, stress_pages.in_rows)
        return lambda: _understood(text_pages)

    assert _growth(made, 72) < _MOST


def test_items_of_one_price_are_found() -> None:
    """Each may be the sum of the charges below it."""

    def made(count: int) -> Callable[[], object]:
        page = typesetting.text_page("Apple      1.00\n" * count)
        return lambda: _understood([page])

    assert _growth(made, 60) < _MOST


@pytest.mark.parametrize("name", ["items", "headings", "headed items", "payments", "charges"])
@pytest.mark.parametrize(
    "read", [tables.read, line_items.sectioned, itemlist.read, line_items.realigned]
)
def test_items_are_found(read: Callable[[Sequence[Row]], object], name: str) -> None:
    """In very long tables, and below as many headings, payments and sums."""

    def made(count: int) -> Callable[[], object]:
        printed = rows.of_pages(_text_pages(name, count, stress_pages.in_table))
        return lambda: read(printed)

    assert _growth(made, 200) < _MOST


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("coupon", ecf),
        ("coupon", cfe),
        ("consumer note", nfce),
        ("danfe", nfe),
        ("service note", nfse),
    ],
)
@pytest.mark.parametrize("setting", [stress_pages.in_table, stress_pages.over_the_page])
def test_fiscal_documents_are_read(setting: Setting, name: str, kind: ModuleType) -> None:
    """With nothing but labels, next to or on top of each other."""

    def made(count: int) -> Callable[[], object]:
        text_pages = _text_pages(name, count, setting)
        return lambda: kind.read(FiscalDocument.of(text_pages, None, labels=kind.LABELS))

    assert _growth(made, 120) < _MOST


def test_items_are_separated_from_the_sums_of_a_coupon() -> None:
    """Even if there are many of both."""

    def made(count: int) -> Callable[[], object]:
        text_pages = _text_pages("coupon", count, stress_pages.in_table)
        document = FiscalDocument.of(text_pages, None, labels=thermal.LABELS)
        item = Extracted(LineItem("CAFE"), 1.0, "CAFE", box=Box(0, -9, 9, -1))
        return lambda: list(thermal.without_sum_rows(document, [item] * count))

    assert _growth(made, 200) < _MOST


@pytest.mark.parametrize(
    "name", ["all labels", "labelled amounts", "headed items", "tax table", "payments", "moments"]
)
def test_one_receipt_is_assembled_from_the_candidates(name: str) -> None:
    """Sums, choice, confidence and vote together."""

    def made(count: int) -> Callable[[], object]:
        text_pages = _text_pages(name, count, stress_pages.in_rows)
        findings = collect.collect(text_pages)

        def settled() -> None:
            receipt = confidence.with_confidence(assemble.assemble(findings), findings, text_pages)
            vote.combine([receipt] * 3)

        return settled

    assert _growth(made, 200) < _MOST


def test_a_receipt_with_very_many_items_is_assembled() -> None:
    """Among many other candidates."""
    text_pages = _text_pages("labelled amounts", 100, stress_pages.in_rows)
    findings = collect.collect(text_pages)
    item = Extracted(LineItem("Coffee", total=Decimal("1.50")), 0.9, "Coffee 1.50")

    def made(count: int) -> Callable[[], object]:
        many = replace(findings, line_items=(item,) * count)

        def settled() -> None:
            receipt = confidence.with_confidence(assemble.assemble(many), many, text_pages)
            vote.combine([receipt] * 3)

        return settled

    assert _growth(made, 200) < _MOST


def test_halves_of_keys_are_joined_only_on_one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page has at most 255 half keys, as many codes as are searched in a picture."""
    tried: list[str] = []
    monkeypatch.setattr(access_keys, "parse", tried.append)
    halves = [
        replace(typesetting.code("Code128", "1" * 22, y=place), page=page)
        for page in range(1, 31)
        for place in range(255)
    ]

    assert not key_search.read(halves)
    assert len(tried) <= 30 * 16 * 15


def test_a_very_long_line_is_cut() -> None:
    """So a search that is quadratic in a line is linear in the page."""
    (text_page,) = _text_pages("one letter", 1_000, stress_pages.on_one_line)

    assert all(len(line.text) <= 600 for line in text_page.lines)
    assert ["a"] * 1_000 == " ".join(line.text for line in text_page.lines).split()


def test_the_number_of_key_candidates_on_a_page_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(access_keys, "parse", tried.append)

    key_search.find(["3" * 600] * 50)

    assert len(tried) == 10_000


@pytest.mark.parametrize("text", ["(A)" * 100 + "(((", "$" * 300 + "a1"])
def test_patterns_for_names_do_not_backtrack(text: str) -> None:
    """These once took far too long."""
    assert not item_name.is_name(text)


def test_patterns_for_labels_do_not_backtrack() -> None:
    """This once did not end."""
    text_page = typesetting.text_page("Invoice " + "no'" * 100 + "x\n12345")

    assert number.numbers(general.rows([text_page]))[0].value == "12345"
