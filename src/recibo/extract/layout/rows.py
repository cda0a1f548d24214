"""Rows of a page: a line with its cells, its labels, its numbers and their positions."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TypeVar

from recibo.extract.model import Box, Extracted, Line, TextPage, Word, around
from recibo.extract.text import currency_symbols, lexicon, numbers
from recibo.extract.text.numbers import CENTS, MINUS, Number
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
    "no_label",
    "excluding",
    "including",
)
#: A receipt of 80 mm has 42 to 64 characters per line, an A4 page more than 90.
_NARROW_LETTERS = 75
# Rows may end with the code of their tax rate, `12,00 1`; OCR may drop the space: `12,901`.
_TAX_CODE = re.compile(r"[0-9][.,][0-9]{2} [0-9]$")
_JOINED_TAX_CODE = re.compile(r"([0-9][.,][0-9]{2})([0-9])$")
#: The fewest bars in a row with columns.
_FEWEST_BARS = 3
#: The most characters of a row, even in the smallest type across a page.
_LONGEST = 400
#: Rows at the same edge begin at most this many heights apart.
_EDGE = 0.5
#: The fewest rows that show how a document is printed.
_FEWEST_ROWS = 3
# A misread zero at the end of an amount, `15.0C`, or in front of its separator, `RMO.00`.
_LAST_ZERO = re.compile(r"(?<=[0-9][.,][0-9])[OoCcDQ](?![^\W_])")
_FIRST_ZERO = re.compile(r"(?<![^\W\d_])(RM|[$€£])?O(?=[.,][0-9]{2}(?![0-9]))")
# A tax code joined to an amount, with its first letter read as a digit: `32.709R` is `32.70 SR`.
_MISREAD_TAX_CODE = re.compile(r"(?<=[0-9][.,][0-9]{2})[0-9](?=[RT]$)")
# A number with spaces between its groups, at the end of a cell or before a rate; or behind one,
# where it is no quantity: `18% 1 377 incl. 210`.
_GROUPED = re.compile(
    r"(?:(?<![\w.,])(?<![\d.,] )[1-9]\d{0,2}(?: \d{3})+(?=\s*(?:$|\t)|\u2003|\s\d\d?%)"
    r"|(?<=%\s)[1-9]\d{0,2}(?: \d{3})+(?=\s[^\W\d]))"
)
# The same with decimals, which is one number after a currency symbol.
_SPACED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?: \d{3})+[.,]\d{2}(?!\d)")
# The beginning of a number whose groups are separated by spaces, and its next group.
_FIRST_GROUP, _NEXT_GROUP = re.compile(r"(?<!\d)\d{1,3}$"), re.compile(r"\d{3}(?!\d)")
# The first group of the next number, `29 900`.
_NEXT_NUMBER = re.compile(r"\d{1,3} \d{3}(?!\d)")
# A gap between columns is wider than so many letters.
_COLUMN_LETTERS = 1.5
#: A space that does not separate the groups of one number.
_COLUMN_GAP = "\u2003"
# OCR may miss the separator of an amount but keep the gap: `80 91`.
_MISSING_SEPARATOR = re.compile(r"([0-9]{1,4}) ([0-9]{2})")
# OCR reads the thick dots of dot matrix printers as dashes: `TOTAL 19-80`.
_DASH_SEPARATOR = re.compile(r"([0-9]{1,4})-([0-9]{2})")


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

    def has_negative(self) -> bool:
        """Return whether it has a negative amount."""
        return any(self.is_money(amount) and amount.value < 0 for amount in self.amounts)

    def cells(self) -> list[Cell]:
        """Return its parts between wide gaps."""
        return list(cells(self.line.words, _ROW_GAP))

    def cell_at(self, place: int) -> tuple[int, int]:
        """Return where in the text the cell with a character begins and ends."""
        count, start, end = 0, 0, 0
        for cell in self.cells():
            start, count = self.places[count], count + len(cell.words)
            end = self.places[count - 1] + len(cell.words[-1].text)
            if place < end:
                break
        return start, end

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
        (text_page, _with_decimal_point(line))
        for text_page in text_pages
        for line in text_page.lines
        if line.words
    ]
    found = [
        Row(
            line,
            _with_columns(line)[:_MOST_LETTERS],
            _places(line),
            index,
            line.box.y_center / max(text_page.height, 1),
            minor,
        )
        for index, (text_page, line) in enumerate(_both_ends(placed))
    ]
    return tuple(_with_groupings(_with_marked_prices(found)))


def _with_columns(line: Line) -> str:
    """Return the text of a line in which no gap between columns looks like one in a number.

    In `2 603,98` the first may be a quantity.
    """
    text, words = line.text, line.words
    following = (*words[2:], None)
    for before, word, after, place in zip(
        words, words[1:], following, _places(line)[1:], strict=False
    ):
        two = f"{word.text} {after.text}" if after else word.text
        is_first = _NEXT_NUMBER.match(two)
        is_group = is_first or _NEXT_GROUP.match(word.text)
        may_be_number = _FIRST_GROUP.search(before.text) and is_group
        # Wide type has wide gaps, too.
        least = max(CELL_GAP * word.box.height, _COLUMN_LETTERS * word.box.width / len(word.text))
        if may_be_number and word.box.x0 - before.box.x1 > least:
            text = f"{text[: place - 1]}{_COLUMN_GAP}{text[place:]}"
    return text


def _with_marked_prices(rows: Sequence[Row]) -> list[Row]:
    """Mark the spaces within amounts after a currency symbol: `R 1 920.00`.

    Other amounts of such a document have them, too, if they are alone in their cell.
    """
    spaced = {row.index for row in rows if _SPACED.search(row.text)}
    is_usual = any(
        _price_symbol().search(row.text[: amount.start()])
        for row in rows
        if row.index in spaced
        for amount in _SPACED.finditer(row.text)
    )
    return [_with_marked(row, is_usual=is_usual) if row.index in spaced else row for row in rows]


def _with_marked(row: Row, *, is_usual: bool) -> Row:
    alone = {cell.text.strip(MINUS) for cell in row.cells()} if is_usual else set[str]()

    def marked(amount: re.Match[str]) -> str:
        is_priced = _price_symbol().search(row.text[: amount.start()])
        return _joined(amount[0]) if is_priced or amount[0] in alone else amount[0]

    return replace(row, text=_SPACED.sub(marked, row.text))


@cache
def _price_symbol() -> re.Pattern[str]:
    return re.compile(rf"{currency_symbols.priced()}\s?$")


def _with_groupings(rows: Sequence[Row]) -> list[Row]:
    """Mark the spaces within numbers, on a page with amounts such as `12 990 Ft`.

    Only at the end of a cell: between others a space may separate a quantity from a price.
    """
    if not any(_grouped_amount().search(row.text) for row in rows):
        return list(rows)
    return [
        replace(row, text=_GROUPED.sub(lambda match: _joined(match[0]), row.text)) for row in rows
    ]


def _joined(number: str) -> str:
    return number.replace(" ", numbers.GROUPING)


@cache
def _grouped_amount() -> re.Pattern[str]:
    symbol = currency_symbols.pattern()
    return re.compile(rf"(?<![\d.,])[1-9]\d{{0,2}}(?: \d{{3}})+\s?{symbol}(?![^\W\d_])")


def _places(line: Line) -> tuple[int, ...]:
    lengths = (len(word.text) + 1 for word in line.words[:-1])
    return tuple(itertools.accumulate(lengths, initial=0))


def _with_decimal_point(line: Line) -> Line:
    """Return the line with a point in its last word if that is an amount with a dash."""
    *before, last = line.words
    amount = _DASH_SEPARATOR.fullmatch(last.text)
    is_labelled = bool(before) and before[-1].text[-1:].isalpha()
    if not amount or not is_labelled or Cell(line.words).is_exact:
        return line
    return replace(line, words=(*before, replace(last, text=f"{amount[1]}.{amount[2]}")))


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


def of_pages(text_pages: Sequence[TextPage], *, minor: int = numbers.CENTS) -> list[Row]:
    """Return the rows of a document from top to bottom; `minor` is its currency's decimals."""
    rows = [
        of_line(_with_decimal_point(line), minor=minor)
        for text_page in text_pages
        for line in text_page.lines
        if line.words
    ]
    rows = _with_marked_prices([row for row in rows if len(row.text) <= _LONGEST])
    # In the tables of a wide page every number has a cell.
    rows = _with_names_first(_with_groupings(rows) if are_narrow(rows) else rows, minor)
    marked = sum(_TAX_CODE.search(row.text) is not None for row in rows)
    return [_with_separate_tax_code(row) for row in rows] if marked >= _FEWEST_ROWS else rows


def _with_names_first(rows: list[Row], minor: int) -> list[Row]:
    """Put the names first on a document that prints all amounts before them."""
    amounts_first = [_amounts_first(row) for row in rows]
    others = sum(any(figure.is_money for figure in row.numbers) for row in rows) - sum(
        amounts_first
    )
    if sum(amounts_first) < _FEWEST_ROWS or others * 2 > sum(amounts_first):
        return rows
    return [
        _with_first_cell_last(row, minor) if is_amount_first else row
        for row, is_amount_first in zip(rows, amounts_first, strict=True)
    ]


def _amounts_first(row: Row) -> bool:
    """Return whether a row is an amount, a gap, and words without another amount."""
    first, _, rest = row.text.partition("\t")
    is_amount_first = numbers.is_number(first) and any(
        figure.is_money for figure in numbers.every(first)
    )
    has_name = sum(map(str.isalpha, rest)) > 1
    return (
        is_amount_first and has_name and not any(figure.is_money for figure in numbers.every(rest))
    )


def _with_first_cell_last(row: Row, minor: int) -> Row:
    """Return a row with its first cell last."""
    cut = next(index for index, place in enumerate(row.places) if "\t" in row.text[:place])
    start = row.places[cut]
    text = f"{row.text[start:]}\t{row.text[: start - 1]}"
    offset = len(text) - (start - 1)
    places = [place - start for place in row.places[cut:]]
    places += [place + offset for place in row.places[:cut]]
    words = row.line.words[cut:] + row.line.words[:cut]
    return Row(replace(row.line, words=words), text, tuple(places), minor=minor)


def is_under(upper: Row, lower: Row, edge: float) -> bool:
    """Return whether a row is indented below one at the items' left edge, and so continues it.

    A title is left of all items, or ends with a colon.
    """
    slack = _EDGE * lower.height
    is_at_edge = abs(upper.line.box.x0 - edge) <= slack and not upper.text.endswith(":")
    return is_at_edge and lower.line.box.x0 > edge + 2 * slack


def _with_separate_tax_code(row: Row) -> Row:
    """Separate an amount from its tax code, on a document with tax codes after amounts."""
    return replace(row, text=_JOINED_TAX_CODE.sub(r"\1 \2", row.text))


def of_line(line: Line, *, minor: int = numbers.CENTS) -> Row:
    """Return a line as a row."""
    text = ""
    places: list[int] = []
    before: Word | None = None
    is_exact = Cell(line.words).is_exact
    for word in line.words:
        if before is not None:
            gap = word.box.x0 - before.box.x1
            text += "\t" if gap > CELL_GAP * min(word.box.height, before.box.height) else " "
        places.append(len(text))
        text += _with_separator(word.text) if is_exact else _repaired(_with_separator(word.text))
        before = word
    # Some receipts separate the columns by bars: `MACA GALA|12,90|0,655|KG|8,45`.
    columns = text.replace("|", "\t") if text.count("|") >= _FEWEST_BARS else text
    return Row(line, columns, tuple(places), minor=minor)


def are_narrow(rows: Sequence[Row]) -> bool:
    """Return whether the rows are of a narrow receipt: few characters fit into a line."""
    pitches = sorted(
        word.box.width / len(word.text) for row in rows for word in row.line.words if word.text
    )
    if not pitches:
        return False
    left = min(row.line.box.x0 for row in rows)
    right = max(row.line.box.x1 for row in rows)
    return (right - left) / max(pitches[len(pitches) // 2], 1.0) < _NARROW_LETTERS


def single_words(words: Sequence[Word]) -> tuple[Word, ...]:
    """Split words that contain spaces."""
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


def _repaired(text: str) -> str:
    """Return a text with digits that OCR read as letters repaired; positions stay the same."""
    whole = _FIRST_ZERO.sub(r"\g<1>0", _LAST_ZERO.sub("0", text))
    return _MISREAD_TAX_CODE.sub("S", whole)


def _with_separator(text: str) -> str:
    match = _MISSING_SEPARATOR.fullmatch(text.strip())
    return f"{match[1]}.{match[2]}" if match else text
