"""Finds the parties on the proof of a transfer, such as a Pix: who paid is not on top.

Banks print two blocks, each below a label: to whom, and from whom. The words are in the language
data: `transfer_title`, `payee`, `payer`, `party_name`.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recibo.extract.candidates import PartyCandidates
from recibo.extract.fields.name_candidates import Piece, pieces_of
from recibo.extract.fields.tax_id import TaxId
from recibo.extract.layout.rows import Row
from recibo.extract.model import Box, Extracted, PaymentMethod, around
from recibo.extract.text import lexicon

# The title is among the first rows; a block has so many rows with a name and a tax number.
_HEAD, _BLOCK = 8, 5
_CONFIDENCE = 0.9
_EDGES = " \t.:-"


@dataclass(frozen=True, slots=True)
class Transfer:
    """The blocks of a proof of a transfer: rows and names."""

    payee: Sequence[Row]
    payer: Sequence[Row]
    method: PaymentMethod

    @property
    def payee_name(self) -> Extracted[str] | None:
        """To whom the money went, the seller."""
        return _name(self.payee)

    def tax_ids(self, found: Sequence[TaxId]) -> tuple[TaxId, ...]:
        """Return the tax numbers of the payee; those of banks are in no block."""
        return _within(self.payee, found)

    def parties(self, known: PartyCandidates, found: Sequence[TaxId]) -> PartyCandidates:
        """Return the parties with the payer as the customer; addresses are of banks."""
        name = _name(self.payer)
        return replace(
            known,
            merchant_addresses=(),
            customer_names=(name,) if name else (),
            customer_tax_ids=tuple(one.found for one in _within(self.payer, found)),
        )


def find(rows: Sequence[Row]) -> Transfer | None:
    """Return the blocks of a proof of a transfer; None for other documents."""
    title = lexicon.wordbook("transfer_title")
    if not any(title.find(row.text) for row in rows[:_HEAD]):
        return None
    payee, payer = _start(rows, "payee"), _start(rows, "payer")
    if payee is None or payer is None:
        return None
    return Transfer(_block(rows, payee, end=payer), _block(rows, payer, end=payee), _method(rows))


def _method(rows: Sequence[Row]) -> PaymentMethod:
    is_pix = any(lexicon.wordbook("paid_pix").find(row.text) for row in rows[:_HEAD])
    return PaymentMethod.PIX if is_pix else PaymentMethod.BANK_TRANSFER


def _start(rows: Sequence[Row], role: str) -> int | None:
    """Return the place of the first row that is a label of a block, or begins with one."""
    book = lexicon.wordbook(role)
    firsts = ((place, piece) for place, row in enumerate(rows) for piece in pieces_of(row)[:1])
    return next((place for place, first in firsts if book.is_all(first.text)), None)


def _block(rows: Sequence[Row], start: int, *, end: int) -> Sequence[Row]:
    """Return the rows of a block, from its label to that of the other one."""
    last = start + _BLOCK
    return rows[start : min(end, last) if end > start else last]


def _name(block: Sequence[Row]) -> Extracted[str] | None:
    """Return the name in a block: behind its label, else the first text."""
    label = lexicon.wordbook("party_name")
    for row, below in itertools.zip_longest(block, block[1:]):
        # A sentence has no pieces.
        first, second = (*pieces_of(row)[:2], None, None)[:2]
        if first is None:
            continue
        if label.is_all(first.text) and second:
            return _found(*_with_rest(second, below), row)
        head, sign, value = first.text.partition(":")
        if sign and label.is_all(head) and value.strip():
            return _found(value, first.box, row)
    return _unlabelled(block)


def _unlabelled(block: Sequence[Row]) -> Extracted[str] | None:
    others = pieces_of(block[0])[1:]
    if others:
        return _found(others[0].text, others[0].box, block[0])
    if len(block) > 1 and len(pieces_of(block[1])) == 1 and ":" not in block[1].text:
        return _found(block[1].text, pieces_of(block[1])[0].box, block[1])
    return None


def _with_rest(name: Piece, below: Row | None) -> tuple[str, Box]:
    """Return a name in the column of values, with its rest in a row without a label."""
    rest = pieces_of(below) if below else ()
    edges = ((rest[0].box.x0, name.box.x0), (rest[0].box.x1, name.box.x1)) if rest else ()
    is_aligned = any(abs(one - other) < name.box.height for one, other in edges)
    is_rest = len(rest) == 1 and is_aligned
    if not is_rest or rest[0].box.y0 - name.box.y1 > name.box.height:
        return name.text, name.box
    return f"{name.text} {rest[0].text}", around([name.box, rest[0].box])


def _found(text: str, box: Box, row: Row) -> Extracted[str] | None:
    name = text.strip(_EDGES)
    is_name = sum(map(str.isalpha, name)) > sum(map(str.isdigit, name))
    return Extracted(name, _CONFIDENCE, text, row.line.page, box) if is_name else None


def _within(block: Sequence[Row], found: Sequence[TaxId]) -> tuple[TaxId, ...]:
    places = {row.index for row in block}
    return tuple(one for one in found if one.row in places)
