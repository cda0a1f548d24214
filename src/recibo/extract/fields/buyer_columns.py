"""Finds the columns of the buyer on a page: below a label such as `Bill to`."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recibo.extract.fields.name_candidates import Piece, pieces_of
from recibo.extract.fields.name_page import book
from recibo.extract.layout.rows import Row
from recibo.extract.model import Box

# A party has at most this many rows, which are at most this many heights apart.
_MOST_ROWS, _MOST_GAP = 9, 3.5
# Rows of a party begin at most this many heights left of its label.
_INDENTED = 1.5


@dataclass(frozen=True, slots=True)
class Column:
    """The place of a party's rows below its label."""

    page: int
    box: Box

    def holds(self, box: Box, page: int) -> bool:
        """Return whether a text is in the column."""
        is_within = self.box.x0 <= box.x0 < self.box.x1
        return page == self.page and is_within and self.box.y0 <= box.y_center <= self.box.y1


def of_buyer(rows: Sequence[Row]) -> tuple[Column, ...]:
    """Return the columns below labels of the buyer that are alone in their cell."""
    return tuple(_columns(rows))


def is_headed(row: Row) -> bool:
    """Return whether a row has labels of the buyer and of the seller, each alone in its cell."""
    pieces = pieces_of(row)
    return any(map(_is_label, pieces)) and any(map(_is_seller, pieces))


def _columns(rows: Sequence[Row]) -> Iterator[Column]:
    for row in rows:
        pieces = pieces_of(row)
        for piece, following in itertools.zip_longest(pieces, pieces[1:]):
            if not _is_label(piece):
                continue
            height = piece.box.height
            right = following.box.x0 - height if following else float("inf")
            left = piece.box.x0 - _INDENTED * height
            end = _end(piece, rows[row.index + 1 :], left, right)
            yield Column(row.line.page, Box(left, piece.box.y0, right, end))


def _is_label(piece: Piece) -> bool:
    return bool(book("billed").is_all(piece.text) or book("buyer").is_all(piece.text))


def _is_seller(piece: Piece) -> bool:
    return bool(book("seller").is_all(piece.text))


def _end(label: Piece, rows: Sequence[Row], left: float, right: float) -> float:
    """Return the lower end of the rows of a party: above amounts, a wide gap or another label."""
    last = label.box
    for row in rows[:_MOST_ROWS]:
        own = [piece for piece in pieces_of(row) if left <= piece.box.x0 < right]
        is_other = any(_is_label(one) or _is_seller(one) for one in own)
        is_far = row.line.box.y0 - last.y1 > _MOST_GAP * label.box.height
        has_money = any(row.is_money(amount) for amount in row.amounts)
        if row.line.page != label.row.line.page or is_other or is_far or has_money:
            break
        last = row.line.box
    return last.y1
