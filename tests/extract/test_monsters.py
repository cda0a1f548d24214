"""No stage takes more than n log n: four times the words are hardly more than so much work."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from types import ModuleType

import pytest

from recibo.extract import errors, pipeline
from recibo.extract.brazil import access_keys, code_keys, key_search
from recibo.extract.brazil.documents import cfe, ecf, nfce, nfe, nfse, thermal
from recibo.extract.brazil.documents.fiscal_document import Paper
from recibo.extract.document import text_layer
from recibo.extract.document.pdf_letters import Glyph
from recibo.extract.fields import collect, number
from recibo.extract.fields.items import item_name, itemlist, misaligned, sections, tables
from recibo.extract.layout import item_rows, lines
from recibo.extract.layout import rows as general
from recibo.extract.layout.item_rows import Row
from recibo.extract.model import Box, Extracted, LineItem, TextPage
from recibo.extract.resolve import assemble, confidence, vote
from tests.extract import monsters, typesetting
from tests.extract.monsters import Setting

# Four times as many words, the logarithm, and some room for odd ends.
_MOST = 5.5


def _growth(made: Callable[[int], Callable[[], object]], few: int) -> float:
    """Return how many times the work grows with four times as much of a document."""
    # What is remembered of the first document makes none of the others dearer.
    made(few)()
    return monsters.steps(made(4 * few)) / monsters.steps(made(few))


def _sheets(name: str, count: int, setting: Setting) -> list[TextPage]:
    return [monsters.text_page(name, count, setting, rows=lines.lines)]


def _understood(text_pages: Sequence[TextPage]) -> None:
    try:
        pipeline.understand([text_pages])
    except errors.ReadingError:
        return


@pytest.mark.parametrize("setting", monsters.SETTINGS, ids=lambda setting: setting.__name__)
@pytest.mark.parametrize("name", ["one word", "prose"])
def test_words_are_put_into_lines(name: str, setting: Setting) -> None:
    """However the words lie over one another."""

    def made(count: int) -> Callable[[], object]:
        words = list(setting(monsters.contents(name, count)))
        return lambda: lines.lines(words)

    assert _growth(made, 100) < _MOST


def test_long_words_that_slope_are_put_into_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one line no word stands above another, so that none tells how a column slopes."""
    monkeypatch.setattr(lines, "_MOST_LOOKED_AT", 20)

    def made(count: int) -> Callable[[], object]:
        long = monsters.contents("long digits", count)
        words = list(monsters.slanted(long, each=count))
        return lambda: lines.lines(words)

    assert _growth(made, 100) < _MOST


@pytest.mark.parametrize("setting", monsters.SETTINGS, ids=lambda setting: setting.__name__)
def test_words_printed_twice_are_told_from_words_that_repeat(setting: Setting) -> None:
    """A page of one word, a hundred times in any places."""

    def made(count: int) -> Callable[[], object]:
        words = setting(monsters.contents("one letter", count))
        # A blank parts each letter from the next.
        printed = [each for word in words for each in (Glyph(word.text, word.box, 0), _BLANK)]
        return lambda: text_layer.words(printed, page=1)

    assert _growth(made, 100) < _MOST


_BLANK = Glyph(" ", Box(0, 0, 0, 0), 0)


@pytest.mark.parametrize("name", monsters.CONTENTS)
def test_fields_are_found(name: str) -> None:
    """Whatever the words say; the fewest say each of them once."""

    def made(count: int) -> Callable[[], object]:
        text_pages = _sheets(name, count, monsters.in_rows)
        return lambda: _understood(text_pages)

    assert _growth(made, 72) < _MOST


@pytest.mark.parametrize("name", ["items", "headings", "headed items", "payments", "charges"])
@pytest.mark.parametrize("read", [tables.read, sections.read, itemlist.read, misaligned.read])
def test_goods_are_found(read: Callable[[Sequence[Row]], object], name: str) -> None:
    """In tables without end, and below as many headings, payments and sums."""

    def made(count: int) -> Callable[[], object]:
        printed = item_rows.of_sheets(_sheets(name, count, monsters.in_table))
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
@pytest.mark.parametrize("setting", [monsters.in_table, monsters.over_the_page])
def test_fiscal_papers_are_read(setting: Setting, name: str, kind: ModuleType) -> None:
    """Of labels alone, side by side or all over one another."""

    def made(count: int) -> Callable[[], object]:
        text_pages = _sheets(name, count, setting)
        return lambda: kind.read(Paper.open(text_pages, None, labels=kind.LABELS))

    assert _growth(made, 120) < _MOST


def test_goods_are_told_from_the_sums_of_a_coupon() -> None:
    """However many there are of both."""

    def made(count: int) -> Callable[[], object]:
        text_pages = _sheets("coupon", count, monsters.in_table)
        document = Paper.open(text_pages, None, labels=thermal.LABELS)
        item = Extracted(LineItem("CAFE"), 1.0, "CAFE", box=Box(0, -9, 9, -1))
        return lambda: list(thermal.goods(document, [item] * count))

    assert _growth(made, 200) < _MOST


@pytest.mark.parametrize(
    "name", ["all labels", "labelled amounts", "headed items", "tax table", "payments", "moments"]
)
def test_one_receipt_is_made_of_what_was_found(name: str) -> None:
    """Sums, choice, confidence and vote together."""

    def made(count: int) -> Callable[[], object]:
        text_pages = _sheets(name, count, monsters.in_rows)
        findings = collect.collect(text_pages)

        def settled() -> None:
            receipt = confidence.weighed(assemble.assemble(findings), findings, text_pages)
            vote.settle([receipt] * 3)

        return settled

    assert _growth(made, 200) < _MOST


def test_a_receipt_is_made_of_items_without_end() -> None:
    """As many as there are, whatever else was found."""
    text_pages = _sheets("labelled amounts", 100, monsters.in_rows)
    findings = collect.collect(text_pages)
    item = Extracted(LineItem("Coffee", total=Decimal("1.50")), 0.9, "Coffee 1.50")

    def made(count: int) -> Callable[[], object]:
        many = replace(findings, line_items=(item,) * count)

        def settled() -> None:
            receipt = confidence.weighed(assemble.assemble(many), many, text_pages)
            vote.settle([receipt] * 3)

        return settled

    assert _growth(made, 200) < _MOST


def test_halves_of_keys_are_joined_on_their_own_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of half keys has 255 at most, as many as are looked for in a picture."""
    tried: list[str] = []
    monkeypatch.setattr(access_keys, "parse", tried.append)
    halves = [
        replace(typesetting.code("Code128", "1" * 22, y=place), page=page)
        for page in range(1, 31)
        for place in range(255)
    ]

    assert not code_keys.read(halves)
    assert len(tried) <= 30 * 16 * 15


def test_a_line_without_end_is_cut() -> None:
    """So that a search by the square of its length takes time by the length of the page."""
    (text_page,) = _sheets("one letter", 1_000, monsters.on_one_line)

    assert all(len(line.text) <= 600 for line in text_page.lines)
    assert ["a"] * 1_000 == " ".join(line.text for line in text_page.lines).split()


def test_no_more_keys_are_looked_for_than_a_page_has_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(access_keys, "parse", tried.append)

    key_search.find(["3" * 600] * 50)

    assert len(tried) == 10_000


@pytest.mark.parametrize("text", ["(A)" * 100 + "(((", "$" * 300 + "a1"])
def test_no_pattern_tries_a_name_in_all_ways(text: str) -> None:
    """These took longer than anybody waits."""
    assert not item_name.is_name(text)


def test_no_pattern_tries_a_label_in_all_ways() -> None:
    """Nor did this come to an end."""
    text_page = typesetting.roll("Invoice " + "no'" * 100 + "x\n12345")

    assert number.numbers(general.rows([text_page]))[0].value == "12345"
