"""Finds a customer without a label: a name above its address or tax number."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from statistics import median

from recibo.extract.fields import company_names, name_candidates
from recibo.extract.fields.name_candidates import Piece
from recibo.extract.fields.name_page import book, is_address
from recibo.extract.fields.recipients import is_form_of_address
from recibo.extract.layout import headings, name_stoplist
from recibo.extract.layout.rows import Row
from recibo.extract.text import dates, lexicon
from recibo.extract.text.folding import normalize
from recibo.extract.text.phrases import Phrasebook

# Such a block is in the head of a wide page: the share of its height, its width in type.
_HEAD, _WIDE = 0.45, 34
# With a person addressed the page may be narrower, but no till receipt.
_LESS_WIDE = 28
_FEWEST_WORDS, _MOST_WORDS = 2, 7
# The next line begins or ends at the same edge, at most so many heights below.
_EDGE, _GAP = 0.7, 1.2
_MOST_ROWS_BELOW = 4
_MOST_NAMES, _MOST_ROWS = 40, 120
# Numbers with so many digits are of taxes or telephones.
_LONG_NUMBER = 8
# `NIT 800.441.207-1`, `B97228841`, `CUIT 30-71199022-4`, `CPF: 402.***.***-89`
_TAX_NUMBER = re.compile(
    r"(?:[^\W\d_][\w./]{1,8}[.:]?\s+){0,2}[A-Z]{0,3}[\d*][\d*.\-/ ]{6,18}[A-Z\d]?$"
)
# `Room 204`, `Apto 12 - 2 adultos`
_NUMBERED = re.compile(r"[^\W\d_]{2,12}\.?\s\d{1,5}\b")


def find(rows: Sequence[Row], sellers: Sequence[str]) -> list[tuple[Piece, Mapping[str, float]]]:
    """Return the lines that may be the customer's name, with features of what is below them."""
    page = [row for row in rows if row.line.page == rows[0].line.page][:_MOST_ROWS]
    height = median(row.line.box.height for row in page)
    width = max(row.line.box.x1 for row in page) / height
    if not sellers or width < _LESS_WIDE:
        return []
    known = normalize(sellers[0]).letters
    found: list[tuple[Piece, Mapping[str, float]]] = []
    for place, row in enumerate(page):
        if row.depth >= _HEAD or any(row.is_money(amount) for amount in row.amounts):
            break
        for piece in name_candidates.pieces_of(row):
            if _may_be_name(piece.text, known) and not _is_below_text(piece, page[:place]):
                below = list(_below(piece, page[place + 1 : place + 1 + _MOST_ROWS_BELOW]))
                features = _features(piece, [one.text for one in below])
                is_person = bool(features.get("addresses_person"))
                is_wide = width >= _WIDE or is_person
                is_second = is_person or _has_party(piece, below, page[: place + 1])
                if features and is_wide and is_second:
                    found.append((_name_of(piece, below), {**features, "unlabelled": 1.0}))
    return found[:_MOST_NAMES]


def _name_of(piece: Piece, below: Sequence[Piece]) -> Piece:
    """Return the first line of a block that is not only a form of address."""
    is_name = not is_form_of_address(piece.text) or not below
    return piece if is_name else below[0]


def _has_party(piece: Piece, below: Sequence[Piece], rows: Sequence[Row]) -> bool:
    """Return whether the seller's address or tax number is above a block or in its rows."""
    return any(
        is_address(one.text) or _has_long_number(one.text)
        for row in rows
        for one in name_candidates.pieces_of(row)
        if one.text not in (piece.text, *(line.text for line in below))
    )


def _has_long_number(text: str) -> bool:
    return sum(map(str.isdigit, text)) >= _LONG_NUMBER and not dates.days(text)


def _may_be_name(text: str, seller: str) -> bool:
    words = text.split()
    is_plain = not any(map(str.isdigit, text)) and ":" not in text
    if not is_plain or not _FEWEST_WORDS <= len(words) <= _MOST_WORDS:
        return False
    letters = normalize(text).letters
    is_sellers = seller in letters or letters in seller
    is_other = headings.role_of(text) is not None or name_stoplist.is_not_name(text)
    is_other = is_other or bool(book("notice").find(text) or _labels().find(text))
    return not (is_sellers or is_other or is_address(text)) and words[0][:1].isupper()


@cache
def _labels() -> Phrasebook:
    return lexicon.wordbook(
        *("customer", "number", "order_number", "weak_number", "other_number"),
        *("date", "other_date", "due_date", "time", "total", "payable", "subtotal", "tax"),
    )


def _is_below_text(piece: Piece, above: Sequence[Row]) -> bool:
    """Return whether a line continues a block: text is just above it in its column."""
    for row in reversed(above[-_MOST_ROWS_BELOW:]):
        for other in name_candidates.pieces_of(row):
            if book("notice").find(other.text) or book("letter_openings").is_all(other.text):
                # A title or a greeting is not part of a block.
                continue
            gap = piece.box.y0 - other.box.y1
            if _is_in_column(piece, other) and gap < _GAP * piece.box.height:
                return True
    return False


def _below(piece: Piece, rows: Sequence[Row]) -> Iterator[Piece]:
    """Yield the lines that follow closely in the column of a name."""
    last = piece
    for row in rows:
        own = [one for one in name_candidates.pieces_of(row) if _is_in_column(piece, one)]
        if own and own[0].box.y0 - last.box.y1 > _GAP * last.box.height:
            return
        if own:
            last = own[0]
            yield last


def _is_in_column(piece: Piece, other: Piece) -> bool:
    most = _EDGE * piece.box.height
    left, right = abs(piece.box.x0 - other.box.x0), abs(piece.box.x1 - other.box.x1)
    return piece.row.line.page == other.row.line.page and min(left, right) < most


def _features(piece: Piece, below: Sequence[str]) -> dict[str, float]:
    """Return what shows that a line is a name: none if nothing does."""
    features = {
        "addresses_person": float(_is_addressed(piece)),
        "tax_number_below": float(any(map(_is_tax_number, below))),
        "place_below": float(any(map(is_address, below))),
        "numbered_below": float(bool(below) and _NUMBERED.match(below[0]) is not None),
    }
    is_shown = any(features.values())
    is_company = company_names.legal_ending(piece.text) is not None
    return features if is_shown or (is_company and below) else {}


def _is_tax_number(text: str) -> bool:
    return _TAX_NUMBER.match(text) is not None and not dates.days(text)


def _is_addressed(piece: Piece) -> bool:
    return any(one.start == 0 for one in book("persons").find(piece.text))
