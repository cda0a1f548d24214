"""Rows of a page: a line with its cells, its labels, its numbers and their positions."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from recibo.extract.model import Box, Extracted, Line, TextPage, Word, around
from recibo.extract.text import lexicon, numbers
from recibo.extract.text.numbers import CENTS, Number
from recibo.extract.text.phrases import Phrase

T = TypeVar("T")

# No printed line is longer, and a document's head and sums are within so many letters. Longer text
# would only cost time.
_MOST_LETTERS = 400
_HEAD_LETTERS, _TAIL_LETTERS = 8_000, 16_000
#: A gap wider than this many heights separates two cells of a row, or of a form.
_ROW_GAP, CELL_GAP = 1.2, 0.9

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


@dataclass(frozen=True, slots=True)
class Cell:
    """Words that belong together."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """The words separated by spaces."""
        return " ".join(word.text for word in self.words)

    @property
    def box(self) -> Box:
        """The box around the words."""
        return around([word.box for word in self.words])

    @property
    def confidence(self) -> float:
        """The lowest of the words' confidences."""
        return min(word.confidence for word in self.words)

    @property
    def type_height(self) -> float:
        """The height of the tallest word; the box of a slanted row is taller than its type."""
        return max(word.box.height for word in self.words)

    @property
    def is_exact(self) -> bool:
        """Whether the words come from a text layer, which has no OCR errors."""
        return self.confidence >= 1

    def found(self, value: T, *, confidence: float = 1.0) -> Extracted[T]:
        """Return a value read from this cell, with the cell as its evidence."""
        return Extracted(
            value, confidence * self.confidence, self.text, self.words[0].page, self.box
        )


@dataclass(frozen=True)
class Row:
    """One line of a page."""

    line: Line
    #: Its words, separated by a space; between items by a tab at a wide gap.
    text: str
    #: The index in `text` at which each word begins.
    places: tuple[int, ...]
    #: Its index among all rows of the document.
    index: int = 0
    #: The y of its middle as a share of the page's height, 0 at the top.
    depth: float = 0.0
    #: The minor digits of the document's currency.
    minor: int = CENTS

    @cached_property
    def labels(self) -> tuple[Phrase, ...]:
        """The labels of amounts in the row."""
        return money_labels(self.text)

    @cached_property
    def amounts(self) -> tuple[Number, ...]:
        """The numbers in the row that may be amounts."""
        return numbers.amounts(self.text, minor=self.minor)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """All numbers in the row that are not part of a word."""
        return tuple(numbers.every(self.text, minor=self.minor))

    @cached_property
    def letters(self) -> int:
        """The number of letters."""
        return sum(sign.isalpha() for sign in self.text)

    @property
    def cell(self) -> Cell:
        """The whole row as evidence."""
        return Cell(self.line.words)

    @property
    def is_exact(self) -> bool:
        """Whether it comes from a text layer."""
        return self.cell.is_exact

    @property
    def height(self) -> float:
        """The median height of its words; the box of a slanted line is taller."""
        heights = sorted(word.box.height for word in self.line.words)
        return heights[len(heights) // 2]

    def is_money(self, amount: Number) -> bool:
        """Return whether an amount is written as money; without minor digits, whole numbers are."""
        return amount.is_money or not (self.minor or amount.decimals or amount.is_percent)

    def cells(self) -> list[Cell]:
        """Return its parts between wide gaps."""
        return list(cells(self.line.words, _ROW_GAP))

    def box(self, start: int, end: int) -> Box:
        """Return the box of the characters from `start` to `end` of the text."""
        parts = []
        for place, word in zip(self.places, self.line.words, strict=True):
            first, last = max(start - place, 0), min(end - place, len(word.text))
            if first < last:
                step = word.box.width / len(word.text)
                left = word.box.x0 + step * first
                parts.append(Box(left, word.box.y0, left + step * (last - first), word.box.y1))
        return around(parts) if parts else self.line.box

    def x_at(self, place: int) -> float:
        """Return the x of the character at a position; after the last one, the right edge."""
        for start, word in reversed(list(zip(self.places, self.line.words, strict=True))):
            if place >= start:
                share = min((place - start) / max(len(word.text), 1), 1.0)
                return word.box.x0 + share * word.box.width
        return self.line.box.x0


def cells(words: Sequence[Word], gap: float = CELL_GAP) -> Iterator[Cell]:
    """Split the words of a row into cells at wide gaps."""
    current: list[Word] = []
    for word in words:
        if current and word.box.x0 - current[-1].box.x1 > gap * word.box.height:
            yield Cell(tuple(current))
            current = []
        current.append(word)
    if current:
        yield Cell(tuple(current))


def money_labels(text: str) -> tuple[Phrase, ...]:
    """Return the labels of amounts in a text."""
    return lexicon.phrasebook(*_MONEY_LABELS).find(text)


def rows(text_pages: Sequence[TextPage], *, minor: int = CENTS) -> tuple[Row, ...]:
    """Return the lines of all pages as rows, in reading order; of very long text both ends."""
    placed = [
        (text_page, line) for text_page in text_pages for line in text_page.lines if line.words
    ]
    return tuple(
        Row(
            line,
            line.text[:_MOST_LETTERS],
            _places(line),
            index,
            line.box.y_center / max(text_page.height, 1),
            minor,
        )
        for index, (text_page, line) in enumerate(_both_ends(placed))
    )


def _places(line: Line) -> tuple[int, ...]:
    lengths = (len(word.text) + 1 for word in line.words[:-1])
    return tuple(itertools.accumulate(lengths, initial=0))


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
