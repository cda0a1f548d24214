"""Rows for finding items: text with tabs for wide gaps, and its positions on the page."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from recibo.extract.layout.rows import CELL_GAP, Cell, Row
from recibo.extract.model import Line, TextPage, Word
from recibo.extract.text import numbers

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
# OCR may miss the separator of an amount but keep the gap: `80 91`.
_MISSING_SEPARATOR = re.compile(r"([0-9]{1,4}) ([0-9]{2})")


def of_pages(text_pages: Sequence[TextPage], *, minor: int = numbers.CENTS) -> list[Row]:
    """Return the rows of a document from top to bottom; `minor` is its currency's decimals."""
    rows = [
        of_line(line, minor=minor)
        for text_page in text_pages
        for line in text_page.lines
        if line.words
    ]
    rows = _with_names_first([row for row in rows if len(row.text) <= _LONGEST], minor)
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
