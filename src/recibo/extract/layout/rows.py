"""Rows for finding fields: a line with its labels, its amounts and their positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from recibo.extract.model import Box, Line, TextPage, around
from recibo.extract.text import lexicon
from recibo.extract.text.numbers import Amount, amounts
from recibo.extract.text.phrases import Phrase

# No printed line is longer, and a document's head and sums are within so many letters. Longer text
# would only cost time.
_MOST_LETTERS = 400
_HEAD_LETTERS, _TAIL_LETTERS = 8_000, 16_000

#: The minor digits of most currencies.
USUAL_MINOR = 2

_MONEY_LABELS = (
    "payable",
    "subtotal",
    "total",
    "tax",
    "cash",
    "change",
    "card",
    "rounding",
    "discount",
    "charge",
    "sum",
    "count",
    "excluding",
    "including",
)


@dataclass(frozen=True)
class Row:
    """One line of a page."""

    line: Line
    #: Its index among all rows of the document.
    index: int
    #: The y of its middle as a share of the page's height, 0 at the top.
    depth: float
    #: The minor digits of the document's currency.
    minor: int = USUAL_MINOR

    @cached_property
    def text(self) -> str:
        """The words separated by spaces, up to the length of the longest printed lines."""
        return self.line.text[:_MOST_LETTERS]

    @cached_property
    def labels(self) -> tuple[Phrase, ...]:
        """The labels of amounts in the row."""
        return money_labels(self.text)

    @cached_property
    def amounts(self) -> tuple[Amount, ...]:
        """The numbers in the row that may be amounts."""
        return amounts(self.text, minor=self.minor)

    def is_money(self, amount: Amount) -> bool:
        """Return whether an amount is written as money; without minor digits, whole numbers are."""
        return amount.is_money or not (self.minor or amount.decimals or amount.is_percent)

    def box(self, start: int, end: int) -> Box:
        """Return the box of the characters from `start` to `end` of the text."""
        return box_of(self.line, start, end)


def money_labels(text: str) -> tuple[Phrase, ...]:
    """Return the labels of amounts in a text."""
    return lexicon.phrasebook(*_MONEY_LABELS).find(text)


def rows(text_pages: Sequence[TextPage], *, minor: int = USUAL_MINOR) -> tuple[Row, ...]:
    """Return the lines of all pages as rows, in reading order; of very long text both ends."""
    placed = [
        (text_page, line) for text_page in text_pages for line in text_page.lines if line.words
    ]
    return tuple(
        Row(line, index, line.box.y_center / max(text_page.height, 1), minor)
        for index, (text_page, line) in enumerate(_both_ends(placed))
    )


def _both_ends(placed: Sequence[tuple[TextPage, Line]]) -> list[tuple[TextPage, Line]]:
    head = _first_letters(placed, _HEAD_LETTERS)
    tail = _first_letters(placed[len(head) :][::-1], _TAIL_LETTERS)
    return [*head, *tail[::-1]]


def _first_letters(
    placed: Sequence[tuple[TextPage, Line]], most: int
) -> list[tuple[TextPage, Line]]:
    kept = []
    for text_page, line in placed:
        most -= min(len(line.text), _MOST_LETTERS) + 1
        if most < 0:
            break
        kept.append((text_page, line))
    return kept


def box_of(line: Line, start: int, end: int) -> Box:
    """Return the box of a part of `line.text`; parts of words get their share of the box."""
    parts = []
    offset = 0
    for word in line.words:
        first, last = max(start - offset, 0), min(end - offset, len(word.text))
        if first < last:
            step = word.box.width / len(word.text)
            left = word.box.x0 + step * first
            parts.append(Box(left, word.box.y0, left + step * (last - first), word.box.y1))
        offset += len(word.text) + 1
    return around(parts) if parts else line.box
