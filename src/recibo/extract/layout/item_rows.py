"""A row of the paper as text whose wide gaps are tabs, with the way back to the page."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from recibo.extract.layout.forms import Cell
from recibo.extract.model import Line, TextPage, Word
from recibo.extract.text import figures
from recibo.extract.text.figures import Figure

#: A gap wider than this many heights parts two columns.
_COLUMN_GAP = 0.9
#: A roll of 80 mm has 42 to 64 letters across, a text_page of A4 over 90.
_ROLL_LETTERS = 75
# Rows may end with the number of their tax rate: `12,00 1`; readers lose the blank: `12,901`.
_TAX_MARK = re.compile(r"[0-9][.,][0-9]{2} [0-9]$")
_GLUED_MARK = re.compile(r"([0-9][.,][0-9]{2})([0-9])$")
#: No row of goods has more letters, even in the smallest type across a text_page.
_LONGEST = 400
#: Rows at one edge begin within so many heights of one another.
_EDGE = 0.5
#: So many rows make a habit.
_HABIT = 3
# A misread zero at the end of an amount, `15.0C`, or in front of its separator, `RMO.00`.
_LAST_ZERO = re.compile(r"(?<=[0-9][.,][0-9])[OoCcDQ](?![^\W_])")
_FIRST_ZERO = re.compile(r"(?<![^\W\d_])(RM|[$€£])?O(?=[.,][0-9]{2}(?![0-9]))")
# A tax mark glued to an amount whose first letter was read as a figure: `32.709R` is `32.70 SR`.
_MISREAD_MARK = re.compile(r"(?<=[0-9][.,][0-9]{2})[0-9](?=[RT]$)")
# An engine may lose the separator of an amount, but keeps the gap: `80 91`.
_LOST_SEPARATOR = re.compile(r"([0-9]{1,4}) ([0-9]{2})")


@dataclass(frozen=True)
class Row:
    """One line of goods, or between them."""

    line: Line
    #: Its words with a blank between two, a tab where a wide gap parts them.
    text: str
    #: For each word the place in `text` where it begins.
    places: tuple[int, ...]
    #: How many decimals the money of the paper has, if more than cents.
    minor: int = figures.CENTS

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """The figures in the row."""
        return tuple(figures.every(self.text, minor=self.minor))

    @cached_property
    def letters(self) -> int:
        """How many letters there are."""
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
        """The height of its type: its words', since a slanted line's box is taller."""
        heights = sorted(word.box.height for word in self.line.words)
        return heights[len(heights) // 2]

    def x_at(self, place: int) -> float:
        """Return where on the page the character at a place begins; its end, past the last one."""
        for start, word in reversed(list(zip(self.places, self.line.words, strict=True))):
            if place >= start:
                share = min((place - start) / max(len(word.text), 1), 1.0)
                return word.box.x0 + share * word.box.width
        return self.line.box.x0


def of_sheets(text_pages: Sequence[TextPage], *, minor: int = figures.CENTS) -> list[Row]:
    """Return the rows of a document, whose money has so many decimals, from top to bottom."""
    rows = [
        of_line(line, minor=minor)
        for text_page in text_pages
        for line in text_page.lines
        if line.words
    ]
    rows = _turned([row for row in rows if len(row.text) <= _LONGEST], minor)
    marked = sum(_TAX_MARK.search(row.text) is not None for row in rows)
    return [_unglued(row) for row in rows] if marked >= _HABIT else rows


def _turned(rows: list[Row], minor: int) -> list[Row]:
    """Put the names first on a paper that prints all amounts in front of them."""
    led = [_amounts_first(row) for row in rows]
    others = sum(any(figure.is_money for figure in row.figures) for row in rows) - sum(led)
    if sum(led) < _HABIT or others * 2 > sum(led):
        return rows
    return [
        _turned_row(row, minor) if is_led else row for row, is_led in zip(rows, led, strict=True)
    ]


def _amounts_first(row: Row) -> bool:
    """Tell whether a row is an amount, a gap, and then words without another amount."""
    first, _, rest = row.text.partition("\t")
    is_led = figures.is_figure(first) and any(figure.is_money for figure in figures.every(first))
    has_name = sum(map(str.isalpha, rest)) > 1
    return is_led and has_name and not any(figure.is_money for figure in figures.every(rest))


def _turned_row(row: Row, minor: int) -> Row:
    """Return a row with its first cell last."""
    cut = next(index for index, place in enumerate(row.places) if "\t" in row.text[:place])
    start = row.places[cut]
    text = f"{row.text[start:]}\t{row.text[: start - 1]}"
    behind = len(text) - (start - 1)
    places = [place - start for place in row.places[cut:]]
    places += [place + behind for place in row.places[:cut]]
    words = row.line.words[cut:] + row.line.words[:cut]
    return Row(replace(row.line, words=words), text, tuple(places), minor)


def is_under(upper: Row, lower: Row, edge: float) -> bool:
    """Tell whether a row is indented under one at the edge of the goods, and so goes on from it.

    A title stands left of all goods, or ends with a colon.
    """
    slack = _EDGE * lower.height
    is_at_edge = abs(upper.line.box.x0 - edge) <= slack and not upper.text.endswith(":")
    return is_at_edge and lower.line.box.x0 > edge + 2 * slack


def _unglued(row: Row) -> Row:
    """Part an amount from the tax mark glued to it, on a paper that marks its amounts."""
    return Row(row.line, _GLUED_MARK.sub(r"\1 \2", row.text), row.places, row.minor)


def of_line(line: Line, *, minor: int = figures.CENTS) -> Row:
    """Return a line as a row."""
    text = ""
    places: list[int] = []
    before: Word | None = None
    is_exact = Cell(line.words).is_exact
    for word in line.words:
        if before is not None:
            gap = word.box.x0 - before.box.x1
            text += "\t" if gap > _COLUMN_GAP * min(word.box.height, before.box.height) else " "
        places.append(len(text))
        text += _with_separator(word.text) if is_exact else _mended(_with_separator(word.text))
        before = word
    return Row(line, text, tuple(places), minor)


def are_roll(rows: Sequence[Row]) -> bool:
    """Tell whether the rows stand on a till roll: few letters fit across the text."""
    pitches = sorted(
        word.box.width / len(word.text) for row in rows for word in row.line.words if word.text
    )
    if not pitches:
        return False
    left = min(row.line.box.x0 for row in rows)
    right = max(row.line.box.x1 for row in rows)
    return (right - left) / max(pitches[len(pitches) // 2], 1.0) < _ROLL_LETTERS


def single_words(words: Sequence[Word]) -> tuple[Word, ...]:
    """Return the words with those that hold several cut at their blanks."""
    return tuple(part for word in words for part in _parts(word))


def _parts(word: Word) -> Iterator[Word]:
    if " " not in word.text:
        yield word
        return
    step = word.box.width / len(word.text)
    for match in re.finditer(r"\S+", word.text):
        x0, x1 = (word.box.x0 + step * place for place in match.span())
        box = replace(word.box, x0=x0, x1=x1)
        yield replace(word, text=match[0], box=box)


def _mended(text: str) -> str:
    """Return a text with the figures that an engine took for letters, sign for sign."""
    whole = _FIRST_ZERO.sub(r"\g<1>0", _LAST_ZERO.sub("0", text))
    return _MISREAD_MARK.sub("S", whole)


def _with_separator(text: str) -> str:
    match = _LOST_SEPARATOR.fullmatch(text.strip())
    return f"{match[1]}.{match[2]}" if match else text
