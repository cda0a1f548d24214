"""A line as the finders see it: its labels, its amounts, and where each of them stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from recibo.extract.fields.amounts import Amount, amounts
from recibo.extract.locales import tables
from recibo.extract.locales.phrases import Phrase
from recibo.extract.model import Box, Found, Line, Sheet

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
    """One line of a sheet."""

    line: Line
    #: Its place among all rows of the document, counted from 0.
    index: int
    #: The height of its middle on its page, 0 at the top and 1 at the bottom.
    depth: float
    #: How many minor digits the document's currency has.
    minor: int = 2

    @cached_property
    def text(self) -> str:
        """The words with one blank between each two."""
        return self.line.text

    @cached_property
    def labels(self) -> tuple[Phrase, ...]:
        """What names the amounts in the row."""
        return tables.phrasebook(*_MONEY_LABELS).find(self.text)

    @cached_property
    def amounts(self) -> tuple[Amount, ...]:
        """The figures in the row that may be money."""
        return amounts(self.text, minor=self.minor)

    def box(self, start: int, end: int) -> Box:
        """Return the box of the characters from `start` to `end` of the text."""
        return box_of(self.line, start, end)


def rows(sheets: Sequence[Sheet], *, minor: int = 2) -> tuple[Row, ...]:
    """Return the lines of all sheets as rows, in reading order."""
    placed = [(sheet, line) for sheet in sheets for line in sheet.lines if line.words]
    return tuple(
        Row(line, index, line.box.y_centre / max(sheet.height, 1), minor)
        for index, (sheet, line) in enumerate(placed)
    )


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
    if not parts:
        return line.box
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.union(part)
    return whole


def found_in(row: Row, value: str, confidence: float) -> Found[str]:
    """Return a value that was read from the whole row."""
    return Found(value, confidence, row.text, row.line.page, row.line.box)
