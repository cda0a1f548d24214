"""A line as the finders see it: its labels, its amounts, and where each of them stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from recibo.extract.model import Box, Line, TextPage, around
from recibo.extract.text import lexicon
from recibo.extract.text.numbers import Amount, amounts
from recibo.extract.text.phrases import Phrase

# A printed line has fewer letters, and a document that is read has its head and its sums within
# so many; what is longer was made to keep us busy.
_MOST_LETTERS = 400
_HEAD_LETTERS, _TAIL_LETTERS = 8_000, 16_000

#: So many minor digits have all but a few currencies.
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
    """One line of a text_page."""

    line: Line
    #: Its place among all rows of the document, counted from 0.
    index: int
    #: The height of its middle on its page, 0 at the top and 1 at the bottom.
    depth: float
    #: How many minor digits the document's currency has.
    minor: int = USUAL_MINOR

    @cached_property
    def text(self) -> str:
        """The words with one blank between each two, cut where no printed line is as long."""
        return self.line.text[:_MOST_LETTERS]

    @cached_property
    def labels(self) -> tuple[Phrase, ...]:
        """What names the amounts in the row."""
        return money_labels(self.text)

    @cached_property
    def amounts(self) -> tuple[Amount, ...]:
        """The figures in the row that may be money."""
        return amounts(self.text, minor=self.minor)

    def is_money(self, amount: Amount) -> bool:
        """Tell whether an amount is written as money is; without minor digits whole figures are."""
        return amount.is_money or not (self.minor or amount.decimals or amount.is_percent)

    def box(self, start: int, end: int) -> Box:
        """Return the box of the characters from `start` to `end` of the text."""
        return box_of(self.line, start, end)


def money_labels(text: str) -> tuple[Phrase, ...]:
    """Return what names amounts in a text."""
    return lexicon.phrasebook(*_MONEY_LABELS).find(text)


def rows(text_pages: Sequence[TextPage], *, minor: int = USUAL_MINOR) -> tuple[Row, ...]:
    """Return the lines of all pages as rows, in reading order; of endless ones both ends."""
    placed = [
        (text_page, line) for text_page in text_pages for line in text_page.lines if line.words
    ]
    return tuple(
        Row(line, index, line.box.y_centre / max(text_page.height, 1), minor)
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
    """Return the box of a part of `line.text`, words cut in proportion to their letters."""
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
