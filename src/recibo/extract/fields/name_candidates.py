"""Splits the rows of a page into candidates for the seller's name, and joins wrapped ones."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from recibo.extract.fields import company_names, sender_lines
from recibo.extract.layout import stacked
from recibo.extract.layout.rows import Row
from recibo.extract.model import Box, Word, around
from recibo.extract.text import lexicon, tables
from recibo.extract.text.phrases import Phrasebook

# Below the head only a name with its legal form can be the seller's.
_HEAD_ROWS = 20
_MOST_BELOW_HEAD = 30
# Shorter forms are also common words: "as", "me".
_LEAST_FORM = 3
_LEAST_PAYER = 5
# The greatest length of a name.
_MOST_LETTERS = 120
# Words further apart than this many heights belong to different columns.
_COLUMN_GAP = 1.8
_MOST_COLUMNS = 6
# A name has at most this many rows, of one size and without a gap.
_MOST_ROWS = 3
_MOST_GAP, _SMALLEST_RATIO = 0.9, 0.6
_LEAST_OVERLAP = 0.5
# A tax number behind a name, with its label: `CNPJ 33.908.174/0001-06`, `NIF: B47103882`.
_TAX_NUMBER = re.compile(
    r"\b(?:[A-Za-z]{2,6}/)?[A-Z][A-Za-z.]{1,6}(?:/[A-Z]{2,4})?[.:]?\s?(?:[Nn][º°o.]{1,2}\s?)?"
    r"(?:[A-Z]{1,2}-?)?\d[\d.]{5,12}[/\d.\-]{0,8}\b"
)
_TAX_NUMBER_AT_END = re.compile(
    r"(?<=[\w).])[\s,;|(–-]+[A-Z]{3,5}(?:/[A-Z]{3,5})?[.:]?\s?(?=(?:\W*\d){8})\d[\d.\-/]{7,20}\W*$"
)
_LEAST_LETTERS = 8
_BANK_CODE = re.compile(r"[|I\[(]?\s?\d{3}-[\dX]\s?[|I\])]?")
_BEFORE_NUMBER = " ,;|(–-·"
# Not the period of `S.A.`, `Ltda.` or `Cia.`
_END_OF_SENTENCE = re.compile(r"(?<=[^\W\d_A-Z]{5})[.!?:]\s+")
_LONGEST_NAME = 60
# `A nota será emitida por Vento Ltda., CNPJ 33.908...`
_BY = re.compile(
    r"^.*\b(?:emitid|prestad|vendid|fornecid|issued|provided|sold|operated)\w*\s+(?:por|pela|pelo|by)\s+",
    re.IGNORECASE,
)
_AFTER_LABEL = re.compile(r"\s*[.:\uff1a]\s*(?=[^\W\d])")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words of one row."""

    text: str
    box: Box
    row: Row
    #: The mean of the words' confidences.
    confidence: float
    #: Whether it is the whole row.
    is_whole_row: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may be the seller's name."""

    name: str
    #: As printed.
    text: str
    box: Box
    pieces: tuple[Piece, ...]
    #: Whether it follows a label of the seller.
    is_labelled: bool = False

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of its pieces, from the top."""
        return tuple(piece.row for piece in self.pieces)


def candidates(rows: Sequence[Row]) -> Iterator[Candidate]:
    """Return every piece of the rows as a candidate, and every run of pieces that may be a name."""
    by_row = [pieces_of(row) for row in rows]
    below_head = 0
    payer = next((index for index, row in enumerate(rows) if _names_payer(row.text)), len(rows))
    for index, pieces in enumerate(by_row):
        for piece in pieces if not _is_of_bank(pieces) else ():
            ending = company_names.legal_ending(piece.text) if index >= _HEAD_ROWS else None
            is_named = ending is not None and sum(map(str.isalnum, ending.form.text)) >= _LEAST_FORM
            below_head += is_named
            if index < _HEAD_ROWS or (is_named and below_head <= _MOST_BELOW_HEAD):
                yield from _runs(piece, by_row[index + 1 : index + _MOST_ROWS])
        yield from _labelled(rows[index], _seller_book())
        yield from _registered(rows[index])
        if index > payer:
            yield from _labelled(rows[index], _signer_book())
            yield from _signed(rows[index])


def _is_of_bank(pieces: Sequence[Piece]) -> bool:
    """Return whether a row is the head of a bank slip (boleto): the bank and its code, `| 001-9 |`.

    The payee is below. Source: Febraban, layout of the bank slip.
    """
    return len(pieces) > 1 and any(_BANK_CODE.fullmatch(piece.text) for piece in pieces[1:])


def _names_payer(text: str) -> bool:
    """Return whether a text begins as a receipt that names who paid: `Received from Ana Lima`."""
    found = lexicon.wordbook("addressed").find(text)
    if not found or any(map(str.isalnum, text[: found[0].start])):
        return False
    # `M/s` may be in front of a seller.
    return sum(map(str.isalpha, text[found[0].start : found[0].end])) >= _LEAST_PAYER


def _runs(piece: Piece, below: Sequence[tuple[Piece, ...]]) -> Iterator[Candidate]:
    """Yield a piece as a candidate, then joined with those that continue below it."""
    # The document's title above the name is no part of it.
    if _seller_book().is_all(piece.text) or _title_book().is_all(piece.text):
        return
    if _names_payer(piece.text) or piece.text.startswith("©"):
        return
    # `di Rina Bellomo` is the rest of the name above it, but `de MARCHETTI S.R.L.` the owner.
    if piece.row.index and piece.text[0].islower() and lexicon.is_joining(piece.text.split()[0]):
        if company_names.legal_ending(piece.text) is None:
            return
        piece = replace(piece, text=piece.text.partition(" ")[2])
    candidate: Candidate | None = _candidate((piece,))
    while candidate is not None:
        if candidate.name:
            yield candidate
        last = candidate.pieces[-1]
        others = below[len(candidate.pieces) - 1] if len(candidate.pieces) <= len(below) else ()
        following = next((other for other in others if _continues(last, other)), None)
        if following is None or company_names.is_complete(candidate.text):
            return
        if company_names.follows_form(following.text) and not company_names.continues(last.text):
            return
        longer = _candidate((*candidate.pieces, following))
        # The part that was cut off does not belong to the name.
        candidate = longer if len(longer.name) > len(candidate.name) else None


def _labelled(row: Row, labels: Phrasebook) -> Iterator[Candidate]:
    """Yield the text after a seller's label: "Seller: X", "Account holder: X"."""
    for label in labels.find(row.text):
        if sign := _AFTER_LABEL.match(row.text[label.end :]):
            start = label.end + sign.end()
            candidate = _part(row, start, _end_of_value(row, start))
            if candidate.name:
                yield replace(candidate, is_labelled=True)


def _registered(row: Row) -> Iterator[Candidate]:
    """Yield a company in running text, before its tax number: `... Vento Ltda., CNPJ 33.908...`."""
    number = _TAX_NUMBER.search(row.text)
    before = row.text[: number.start()].rstrip(_BEFORE_NUMBER) if number else ""
    name = _BY.sub("", _END_OF_SENTENCE.split(before)[-1])
    ending = company_names.legal_ending(name) if len(name) <= _LONGEST_NAME else None
    if number and ending is not None and ending.end >= len(name.rstrip(".")):
        yield _part(row, len(before) - len(name), number.end())


def _signed(row: Row) -> Iterator[Candidate]:
    """Yield the name of who signs, before their number: `Nome Rui Prado CPF 470.915.823-14`."""
    number = _TAX_NUMBER.search(row.text)
    signer = next((one for one in _signer_book().find(row.text) if one.start == 0), None)
    name = row.text[signer.end : number.start()] if number and signer else ""
    name = name.strip(f"{_BEFORE_NUMBER}:.")
    if name and not any(map(str.isdigit, name)):
        start = row.text.find(name)
        yield replace(_part(row, start, start + len(name)), is_labelled=True)


def _part(row: Row, start: int, end: int) -> Candidate:
    words = row.line.words
    confidence = sum(word.confidence for word in words) / len(words)
    piece = Piece(row.text[start:end], row.box(start, end), row, confidence, is_whole_row=False)
    return _candidate((piece,))


def _end_of_value(row: Row, start: int) -> int:
    """Return where the text after a label ends: at a wide gap, or before the buyer's label."""
    buyers = [
        label.start
        for label in _buyer_book().find(row.text)
        if _AFTER_LABEL.match(row.text[label.end :])
    ]
    ends = [*(end for end, _ in stacked.gaps(row)), *buyers, len(row.text)]
    return min(end for end in ends if end > start)


def pieces_of(row: Row) -> tuple[Piece, ...]:
    """Split a row at the ends of columns."""
    runs: list[list[Word]] = []
    for word in row.line.words:
        previous = runs[-1][-1] if runs else None
        if previous is None or _is_gap(previous, word):
            runs.append([])
        runs[-1].append(word)
    pieces = (_piece(run, row, is_whole_row=len(runs) == 1) for run in runs[:_MOST_COLUMNS])
    return tuple(piece for piece in pieces if len(piece.text) <= _MOST_LETTERS)


def _is_gap(word: Word, following: Word) -> bool:
    gap = following.box.x0 - word.box.x1
    return gap > _COLUMN_GAP * min(word.box.height, following.box.height)


def _piece(words: Sequence[Word], row: Row, *, is_whole_row: bool) -> Piece:
    box = around([word.box for word in words])
    text = " ".join(word.text for word in words)
    confidence = sum(word.confidence for word in words) / len(words)
    return Piece(text, box, row, confidence, is_whole_row)


def _continues(piece: Piece, below: Piece) -> bool:
    overlap = min(piece.box.x1, below.box.x1) - max(piece.box.x0, below.box.x0)
    heights = sorted((piece.box.height, below.box.height))
    gap = below.box.y0 - piece.box.y1
    return (
        overlap > _LEAST_OVERLAP * min(piece.box.width, below.box.width)
        and heights[0] > _SMALLEST_RATIO * heights[1]
        and gap < _MOST_GAP * heights[0]
    )


def _candidate(pieces: tuple[Piece, ...]) -> Candidate:
    text = _without_tax_number(" ".join(piece.text for piece in pieces))
    text = _BY.sub("", sender_lines.sender_in(text) or text)
    is_exact = all(piece.confidence >= 1 for piece in pieces)
    name = company_names.clean(text, is_exact=is_exact)
    box = around([piece.box for piece in pieces])
    has_letters = any(character.isalpha() for character in name)
    return Candidate(name if has_letters else "", text, box, pieces)


def _without_tax_number(text: str) -> str:
    """Return a name without the tax number that ends its cell: `Solar das Dunas CNPJ: 17...`."""
    number = _TAX_NUMBER_AT_END.search(text)
    before = text[: number.start()].rstrip(_BEFORE_NUMBER) if number else ""
    return before if sum(map(str.isalpha, before)) >= _LEAST_LETTERS else text


@cache
def _seller_book() -> Phrasebook:
    return Phrasebook({"seller": tables.merchants()["seller"]}, joined=False)


@cache
def _signer_book() -> Phrasebook:
    return Phrasebook({"signer": tables.merchants()["signer"]}, joined=False)


@cache
def _buyer_book() -> Phrasebook:
    return Phrasebook({"buyer": tables.merchants()["billed"]}, joined=False)


@cache
def _title_book() -> Phrasebook:
    return Phrasebook({"title": tables.merchants()["titles"]}, joined=False)
