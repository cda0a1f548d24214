"""Finds the labels of the customer, and the texts near a label that may be the name."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from recibo.extract.fields import company_names
from recibo.extract.fields.name_candidates import Piece, pieces_of
from recibo.extract.fields.name_page import book
from recibo.extract.layout import headings
from recibo.extract.layout.rows import Row
from recibo.extract.model import Box, Extracted, around
from recibo.extract.text import lexicon
from recibo.extract.text.phrases import Phrase

#: The labels of other fields.
OTHERS = (
    *("number", "order_number", "weak_number", "other_number", "date", "other_date", "due_date"),
    *("time", "start_date", "total", "payable", "currency_label"),
)
_ROLE = "customer"
# Salutations, which need no colon: `Spett.le Rossi S.p.A.`
_ADDRESSED = "addressed"
_DELIVERY = "delivery"
# A name is at most this many rows and line heights below its label.
_ROWS_BELOW, _HEIGHTS_BELOW = 4, 5.0
_LONGEST = 80
_SHORT_LABEL = 4
# A text right of a label is at most so many heights lower.
_CLOSE = 0.6
# A label begins its cell, or is behind few characters.
_FIRST_SIGNS = 3
_MOST_CELLS = 3
# Boxes in a head are hardly ever more.
_MOST_IN_HEAD = 4
_EDGES = " \t.,:;*_-~=|#"
_AFTER_LABEL = re.compile(r"\s*(?:\(?s?\))?\s*[.:\uff1a]\s*")
# The rest of a label: `Customer / Vehicle`, `Cliente (cód. 00418)`.
_SECOND_WORD = re.compile(r"\s*(?:/\s*[^\W\d_]+(?:\s[^\W\d_]+)?|\([^()]{1,24}\))\s*:?\s*$")
_FIRST_WORD = re.compile(r"[^\W\d_]+(?:\s[^\W\d_]+)?\s*/\s*$")
# `Naam: J. de Groot Datum: 24-9-2024`
_NEXT_LABEL = re.compile(r"\s+[^\W\d_][\w./]{1,14}:(?=\s)")
# `ROSA FERREIRA - UNID. 704 BL B`
_UNIT_OF_BUILDING = re.compile(r"\s[-–]\s(?:unid|unidade|apto?|bl|bloco)\b.*$", re.IGNORECASE)
# The customer's number: `Rosa Ferreira (4418)`.
_NUMBER_AT_END = re.compile(r"(?<=\w)\s*\(\W*\d[\d\s-]*\)$")
# `Rosa Ferreira - CPF 187.720.441-28`
_TAX_NUMBER_AT_END = re.compile(
    r"(?<=\w)(?:\s*[-–—,|]\s*|\s+)[A-Z]{2,5}(?:/[A-Z]{2,5})?[.:]?\s*\d[\d.\-/]{7,20}[A-Z\d]?$"
)
# `Consumidor - CPF 903.351.274-28`: the name is below.
_TAX_NUMBER = re.compile(r"\s*[-–—]?\s*[A-Z]{2,5}(?:/[A-Z]{2,5})?[.:]?\s*\d[\d.\-/]{7,20}")
_INITIALS = re.compile(r"[^\W\d_](?: [^\W\d_])+")


def find(row: Row) -> Iterator[tuple[Phrase, Piece]]:
    """Yield the labels of the customer that begin a cell, with the cell."""
    for piece in pieces_of(row) or _start_of(row):
        if " " in piece.text.strip() and book("anonymous").is_all(piece.text):
            # The last line of the title of an NFC-e: `para Consumidor Final`.
            continue
        for label in lexicon.wordbook(_ROLE, _ADDRESSED).find(piece.text):
            rest = _behind(label, piece)
            is_alone = not any(map(str.isalnum, rest))
            is_led = is_alone and not _is_weak(label, piece)
            if _INITIALS.fullmatch(piece.text[label.start : label.end]):
                # Not the label `M/s`: `M S Kobayashi`.
                continue
            is_led |= label.kind == _ADDRESSED or _AFTER_LABEL.match(rest) is not None
            before = piece.text[: label.start]
            is_first = label.start <= _FIRST_SIGNS or _FIRST_WORD.match(before)
            if is_led and (is_first or _TAX_NUMBER.fullmatch(before.rstrip(" ,-"))):
                yield label, piece
        # One of many headings in a row is that of a column: `Flight  From  To  Departure`.
        if book("billed_alone").is_all(piece.text) and len(pieces_of(row)) <= _MOST_CELLS:
            yield Phrase("billed_alone", 0, len(piece.text)), piece


def _start_of(row: Row) -> tuple[Piece, ...]:
    """Return the start of a sentence that is too long to be a cell: `Recebemos de Ana Lima ...`."""
    words = row.line.words
    ends = itertools.accumulate(len(word.text) + 1 for word in words)
    count = sum(end <= _LONGEST for end in ends)
    start = replace(row, line=replace(row.line, words=words[:count]))
    return tuple(replace(piece, row=row) for piece in pieces_of(start)) if count else ()


def is_billed(label: Phrase, piece: Piece) -> bool:
    """Return whether a label names who is billed, and nothing else."""
    return not (_is_weak(label, piece) or is_of_delivery(label, piece))


def _is_weak(label: Phrase, piece: Piece) -> bool:
    """Return whether the words are labels of other things, too."""
    found = book("weak_customer").find(piece.text[label.start : label.end])
    return [label.end - label.start] == [one.end - one.start for one in found]


def is_of_delivery(label: Phrase, piece: Piece) -> bool:
    """Return whether a label names who gets the delivery."""
    return lexicon.wordbook(_DELIVERY).is_all(piece.text[label.start : label.end])


def texts_near(
    label: Phrase, piece: Piece, row: Row, rows: Sequence[Row]
) -> Iterator[tuple[Extracted[str], dict[str, float]]]:
    """Yield the text right of a label, and the texts below it."""
    behind = _behind(label, piece)
    words = {
        "short_label": float(label.end - label.start <= _SHORT_LABEL),
        "weak_label": float(_is_weak(label, piece)),
        "alone": float(label.kind == "billed_alone"),
        "addressed": float(label.kind == _ADDRESSED),
        "heading": float(not any(map(str.isalnum, behind))),
        "colon": float(":" in piece.text[label.end :]),
    }
    sign = _AFTER_LABEL.match(behind)
    rest = _before_other(_trimmed(behind[sign.end() if sign else 0 :]))
    start = row.text.find(piece.text) + label.end
    # Behind `Buyer (Bill to)` there is only a bracket.
    if any(map(str.isalnum, rest)):
        box = row.box(start, start + len(piece.text) - label.end)
        yield found(rest, row, box), {**words, "right": 1.0}
        yield from _continued(rest, row, box, rows, words)
        return
    cells = [one for one in (*pieces_of(row), *_lower(piece, rows)) if one.box.x0 >= piece.box.x1]
    has_value = bool(cells) and not _is_of_party(cells[0].text)
    is_listed = has_value and not _names_other(cells[0]) and _is_above_label(piece, cells[0], rows)
    if has_value:
        # In a list of labels and values a colon is usually missing.
        place = {"right": 1.0, "colon": 1.0, "heading": 0.0} if is_listed else {"right_cell": 1.0}
        yield found(_trimmed(cells[0].text), row, cells[0].box), {**words, **place}
    # `Client    Vehicle` may also be the headings of two columns.
    if not is_listed or len(cells[0].text.split()) == 1:
        yield from _below(piece, row, rows, words)


def _lower(label: Piece, rows: Sequence[Row]) -> tuple[Piece, ...]:
    """Return the first text of the next row, which follows closely, if a label is alone."""
    is_alone = len(pieces_of(label.row)) == 1
    below = rows[label.row.index + 1 : label.row.index + 2] if is_alone else ()
    end = label.box.y1 + _CLOSE * label.box.height
    return tuple(one for row in below for one in pieces_of(row)[:1] if one.box.y0 < end)


def _trimmed(text: str) -> str:
    """Return a text without signs at its ends, but with the last period of `S.p.A.`."""
    trimmed = text.strip(_EDGES)
    is_abbreviation = "." in trimmed.rpartition(" ")[2] and f"{trimmed}." in text
    return f"{trimmed}." if is_abbreviation else trimmed


def _behind(label: Phrase, piece: Piece) -> str:
    """Return the text behind a label, without its second word."""
    rest = piece.text[label.end :]
    return "" if _SECOND_WORD.match(rest) or _TAX_NUMBER.fullmatch(rest) else rest


def _before_other(text: str) -> str:
    """Return a name without what is behind it: `Recebemos de Ana Lima a quantia de R$ 90,00`."""
    text = _before_address(text)
    sums = lexicon.wordbook("after_payer").find(text)
    ends = [*(one.start for one in sums), *(one.start() for one in _NEXT_LABEL.finditer(text))]
    end = min((end for end in ends if end), default=None)
    return text if end is None else text[:end].rstrip(_EDGES)


def _before_address(text: str) -> str:
    """Return a company's name without the address behind it: `Petek d.o.o., Savska cesta 118`."""
    for comma in re.finditer(r",\s", text):
        if comma.start() > _LONGEST:
            break
        ending = company_names.legal_ending(text[: comma.start()])
        is_whole = ending is not None and ending.end >= comma.start() - 1
        if is_whole and any(map(str.isdigit, text[comma.end() :])):
            return text[: comma.start()]
    return text


def _names_other(piece: Piece) -> bool:
    """Return whether a text has the label of a number, a date or a sum, or is a heading of sums."""
    has_sign = any(sign in piece.text for sign in ":$")
    return has_sign or bool(lexicon.phrasebook(*OTHERS).find(piece.text))


def _is_above_label(label: Piece, value: Piece, rows: Sequence[Row]) -> bool:
    """Return whether the next row has texts below a label and below its value, too."""
    following = rows[label.row.index + 1 : label.row.index + 2]
    boxes = [one.box for below in following for one in pieces_of(below)]
    labels = [box for box in boxes if abs(box.x0 - label.box.x0) < label.box.height]
    return any(
        other.x1 < box.x0 < value.box.x1 and value.box.x0 < box.x1
        for other in labels
        for box in boxes
    )


def _continued(
    rest: str, row: Row, box: Box, rows: Sequence[Row], words: Mapping[str, float]
) -> Iterator[tuple[Extracted[str], dict[str, float]]]:
    """Yield a name that continues in the row below."""
    for below in rows[row.index + 1 : row.index + 3]:
        for piece in pieces_of(below):
            is_under = abs(piece.box.x0 - box.x0) < 1.5 * box.height
            gap = piece.box.y0 - box.y1
            if is_under and gap < box.height and not _is_label(piece.text):
                both = f"{rest} {_trimmed(piece.text)}"
                yield (
                    found(both, row, around([box, piece.box])),
                    {**words, "right": 1.0, "continued": 1.0},
                )
                return


def _below(
    piece: Piece, row: Row, rows: Sequence[Row], words: Mapping[str, float]
) -> Iterator[tuple[Extracted[str], dict[str, float]]]:
    """Yield the first texts below a label in its column."""
    steps = 0
    last: tuple[str, Box] | None = None
    edge = _next_label(piece, row)
    limit = min((one.box.x0 for one in pieces_of(row) if one.box.x0 > piece.box.x1), default=edge)
    for below in rows[row.index + 1 : row.index + 1 + 2 * _ROWS_BELOW]:
        for other in _pieces_before(below, edge):
            gap = other.box.y0 - piece.box.y1
            is_under = (
                other.box.x0 < piece.box.x1 and piece.box.x0 - piece.box.height < other.box.x1
            )
            is_left = other.box.x0 > piece.box.x0 - 3 * piece.box.height
            # A block at the right edge of a page is often aligned with it.
            is_left |= abs(other.box.x1 - piece.box.x1) < 0.5 * piece.box.height
            if below.line.page != row.line.page or gap > _HEIGHTS_BELOW * piece.box.height:
                return
            if not (is_under and is_left) or steps >= _ROWS_BELOW:
                continue
            has_ended = other.text.rstrip().endswith(":") or book("seller").is_all(other.text)
            if has_ended or _is_of_items(below, limit) or _is_heading_of_table(below):
                return
            if _is_label(other.text):
                continue
            text = _trimmed(_behind_name_label(other.text))
            features = {**words, "below": 1.0, f"step{min(steps, 2)}": 1.0}
            yield found(text, below, other.box), features
            if last and steps == 1:
                both = f"{last[0]} {text}"
                joined = {**words, "below": 1.0, "step0": 1.0, "continued": 1.0}
                yield found(both, below, around([last[1], other.box])), joined
            last = (text, other.box)
            steps += 1


def _behind_name_label(text: str) -> str:
    """Return what is behind a label inside a row: `RFC: PEM150923HT4  Nombre: Pan del Sur`."""
    for label in lexicon.wordbook(_ROLE).find(text):
        rest = text[label.end :].lstrip()
        if label.start and rest.startswith(":") and ":" in text[: label.start]:
            return _before_other(rest[1:].lstrip()) or text
    return text


def _is_of_items(row: Row, limit: float) -> bool:
    """Return whether a row is one of items, left of the text that is next to the label."""
    is_priced = any(row.is_money(one) and row.x_at(one.start) < limit for one in row.amounts)
    is_other = bool(lexicon.phrasebook(*OTHERS).find(row.text))
    first = pieces_of(row)[0]
    is_left = first.box.x0 < limit < float("inf") and headings.role_of(first.text) is None
    return (headings.is_heading(row) and not is_left) or (is_priced and not is_other)


def _is_heading_of_table(row: Row) -> bool:
    """Return whether a row has many cells, all without digits: `Flight  From  To  Date  Class`."""
    is_plain = not any(map(str.isdigit, row.text))
    return is_plain and len(pieces_of(row)) > _MOST_IN_HEAD


def _next_label(piece: Piece, row: Row) -> float:
    """Return the left edge of the next label in a row: the columns below end there."""
    others = (one for one in pieces_of(row) if one.box.x0 > piece.box.x1)
    lefts = (one.box.x0 - one.box.height for one in others if _is_label(one.text))
    return min(lefts, default=float("inf"))


def _pieces_before(row: Row, edge: float) -> tuple[Piece, ...]:
    """Return the pieces of a row left of an edge, at which words in one piece are separated."""
    words = tuple(word for word in row.line.words if word.box.x0 < edge)
    if len(words) == len(row.line.words):
        return pieces_of(row)
    return pieces_of(replace(row, line=replace(row.line, words=words))) if words else ()


def found(text: str, row: Row, box: Box) -> Extracted[str]:
    """Return a text as a name, without a number at its end; its confidence is not known yet."""
    name = _TAX_NUMBER_AT_END.sub("", _NUMBER_AT_END.sub("", text))
    name = _UNIT_OF_BUILDING.sub("", name)
    return Extracted(name, 0, text, row.line.page, box)


def _is_of_party(text: str) -> bool:
    """Return whether a text is a label of the customer or of the seller."""
    return _is_label(text) or bool(book("seller").is_all(text))


def _is_label(text: str) -> bool:
    return text.rstrip().endswith(":") or bool(lexicon.wordbook(_ROLE).is_all(text))
