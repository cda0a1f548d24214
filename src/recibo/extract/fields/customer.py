"""Finds the customer: the name near a label, and the tax number near one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from recibo.extract.fields import (
    address_pieces,
    addressees,
    choices,
    company_names,
    recipients,
    unlabelled_customer,
)
from recibo.extract.fields.name_candidates import Piece, pieces_of
from recibo.extract.fields.name_page import book, is_address
from recibo.extract.fields.tax_id import TaxId
from recibo.extract.layout import headings, name_stoplist
from recibo.extract.layout.rows import Row
from recibo.extract.model import Box, Extracted, around
from recibo.extract.text import dates, lexicon
from recibo.extract.text.folding import normalize
from recibo.extract.text.phrases import Phrase
from recibo.extract.weights import weights

NAME, TAX_ID = "customer_name", "customer_tax_id"
_ROLE = "customer"
# Salutations, which need no colon: `Spett.le Rossi S.p.A.`
_ADDRESSED = "addressed"
_DELIVERY = "delivery"
# A name is at most this many rows and line heights below its label.
_ROWS_BELOW, _HEIGHTS_BELOW = 4, 5.0
_LONGEST, _FEWEST_LETTERS = 80, 3
_SHORT_LABEL = 4
# A label begins its cell, or is behind few characters.
_FIRST_SIGNS = 3
# A tax number is at most this many rows below a label.
_NEAR_ROWS = 8
# An address begins within this many heights of its name; so many lines are examined.
_ADDRESS_BELOW, _MOST_PIECES = 2.5, 250
_MOST_CELLS = 3
_EDGES, _BLANK = " \t.,:;*_-~=|#", "__"
_AFTER_LABEL = re.compile(r"\s*(?:\(?s?\))?\s*[.:\uff1a]\s*")
_OTHERS = (
    *("number", "order_number", "weak_number", "other_number", "date", "other_date", "due_date"),
    *("time", "total", "payable"),
)
# The rest of a label: `Customer / Vehicle`, `Cliente (cód. 00418)`.
_SECOND_WORD = re.compile(r"\s*(?:/\s*[^\W\d_]+(?:\s[^\W\d_]+)?|\([^()]{1,24}\))\s*:?\s*$")
_FIRST_WORD = re.compile(r"[^\W\d_]+(?:\s[^\W\d_]+)?\s*/\s*$")
# `Naam: J. de Groot Datum: 24-9-2024`
_NEXT_LABEL = re.compile(r"\s+[^\W\d_][\w./]{1,14}:(?=\s)")
# The customer's number: `Rosa Ferreira (4418)`.
_NUMBER_AT_END = re.compile(r"(?<=\w)\s*\(\W*\d[\d\s-]*\)$")
# `Rosa Ferreira - CPF 187.720.441-28`
_TAX_NUMBER_AT_END = re.compile(
    r"(?<=\w)(?:\s*[-–—,|]\s*|\s+)[A-Z]{2,5}(?:/[A-Z]{2,5})?[.:]?\s*\d[\d.\-/]{7,20}[A-Z\d]?$"
)
# `Consumidor - CPF 903.351.274-28`: the name is below.
_TAX_NUMBER = re.compile(r"\s*[-–—]?\s*[A-Z]{2,5}(?:/[A-Z]{2,5})?[.:]?\s*\d[\d.\-/]{7,20}")
_INITIALS = re.compile(r"[^\W\d_](?: [^\W\d_])+")
_MANY_DIGITS = re.compile(r"(?:\d\W?){5,}")


_Labelled = tuple[Extracted[str], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name, and where it is relative to its label."""

    found: Extracted[str]
    features: Mapping[str, float]


def names(rows: Sequence[Row], sellers: Sequence[str]) -> tuple[Extracted[str], ...]:
    """Return the candidates for the customer's name, the likeliest first.

    Args:
        rows: The rows of the document.
        sellers: The likely names of the seller.
    """
    found = name_candidates(rows, sellers)
    ranked = choices.ranked(((one.found, one.features) for one in found), weights(NAME))
    if not ranked:
        return ()
    best, *others = ranked
    # That a name goes on in the next row, or ends before, is no doubt that there is one.
    same = sum(one.confidence for one in others if _is_start(best.value, one.value))
    return (replace(best, confidence=min(best.confidence + same, 1.0)), *others)


def _is_start(one: str, other: str) -> bool:
    return one.startswith(f"{other} ") or other.startswith(f"{one} ")


def name_candidates(rows: Sequence[Row], sellers: Sequence[str]) -> list[Candidate]:
    """Return the texts next to labels of the customer, with their features."""
    known = frozenset(normalize(name).letters for name in sellers[:1])
    labels = [(label, piece) for row in rows for label, piece in _labels(row)]
    is_billed = any(_is_strong(label, piece) for label, piece in labels)
    labelled = [
        found
        for label, piece in labels
        if not (is_billed and _is_of_delivery(label, piece))
        for found in _near(label, piece, piece.row, rows)
    ]
    blocks = recipients.find(rows, sellers) if rows else []
    lines = [
        *((line.text, line.row, line.box) for line in map(recipients.name_of, blocks)),
        *((line.text, line.row, line.box) for line in recipients.names_below_senders(rows)),
    ]
    # The same line is found in both ways.
    by_letters = {normalize(text).letters: (text, row, box) for text, row, box in lines}
    addressed = [
        (_found(text, row, box), {"letter": 1.0}) for text, row, box in by_letters.values()
    ]
    addressed += [
        (_found(one.text, one.row, one.box), {"letter": 1.0, "colon": 1.0})
        for one in addressees.find(rows)
    ]
    unlabelled = [
        (_found(piece.text, piece.row, piece.box), features)
        for piece, features in (unlabelled_customer.find(rows, sellers) if rows else [])
        if normalize(piece.text).letters not in by_letters
    ]
    found = list(_whole((*labelled, *addressed, *unlabelled)))
    if not found:
        return []
    places = _Places.of(rows, [one for one, _ in found])
    return [
        Candidate(one, {**features, **_features(one.value, known), **places.features(one)})
        for one, features in found
    ]


@dataclass(frozen=True, slots=True)
class _Places:
    """What shows that a text is a party's name: its address below it, and further mentions."""

    addresses: Sequence[tuple[int, Box]]
    #: The boxes of each text.
    mentions: Mapping[str, frozenset[Box | None]]

    @classmethod
    def of(cls, rows: Sequence[Row], found: Sequence[Extracted[str]]) -> "_Places":
        pieces = address_pieces.pieces(rows)[:_MOST_PIECES]
        mentions: dict[str, set[Box | None]] = {}
        for one in found:
            mentions.setdefault(normalize(one.value).letters, set()).add(one.box)
        return cls(
            [
                (piece.row.line.page, piece.box)
                for piece in pieces
                if any(piece.features[name] for name in ("street", "numbered", "postcode"))
                or _is_department(piece.text)
            ],
            {letters: frozenset(boxes) for letters, boxes in mentions.items()},
        )

    def features(self, one: Extracted[str]) -> dict[str, float]:
        mentions = self.mentions[normalize(one.value).letters]
        return {
            "has_address": float(self._has_address_below(one)),
            "mentioned": float(len(mentions) > 1),
        }

    def _has_address_below(self, one: Extracted[str]) -> bool:
        box = one.box
        return box is not None and any(
            page == one.page
            and 0 < place.y0 - box.y0 < _ADDRESS_BELOW * box.height
            and place.x0 < box.x1
            and box.x0 < place.x1
            for page, place in self.addresses
        )


def _whole(found: Sequence[_Labelled]) -> Iterator[_Labelled]:
    """Yield the names but those that are the start of a whole cell, and `Consumidor final`."""
    cells = [one for one, features in found if not features.get("continued")]
    for one, features in found:
        is_start = any(
            cell.value.startswith(f"{one.value} ") and _is_at(one, cell) for cell in cells
        )
        is_other = book("anonymous").is_all(one.value) or _is_department(one.value)
        if not (is_start or is_other or _BLANK in one.value):
            yield one, features


def _is_department(text: str) -> bool:
    """Return whether a row is between a name and its address: `Service comptabilité`."""
    return any(one.start == 0 for one in book("departments").find(text))


def _is_at(one: Extracted[str], other: Extracted[str]) -> bool:
    """Return whether two texts begin at one place."""
    if one.box is None or other.box is None or one.page != other.page:
        return False
    height = one.box.height
    return abs(one.box.x0 - other.box.x0) < height and abs(one.box.y0 - other.box.y0) < height


def tax_ids(
    found: Sequence[TaxId], rows: Sequence[Row], seller: str | None
) -> tuple[Extracted[str], ...]:
    """Return the candidates for the customer's tax number, the likeliest first.

    Args:
        found: All tax numbers on the page.
        rows: The rows of the document.
        seller: The seller's number, which is not the customer's.
    """
    others = ((one.found, features) for one, features in tax_id_candidates(found, rows, seller))
    return choices.ranked(others, weights(TAX_ID))


def tax_id_candidates(
    found: Sequence[TaxId], rows: Sequence[Row], seller: str | None
) -> list[tuple[TaxId, Mapping[str, float]]]:
    """Return the tax numbers that are not the seller's, with their features."""
    labels = [(row, piece.box) for row in rows for _, piece in _labels(row)]
    return [
        (one, _tax_features(one, labels))
        for one in found
        if one.found.value != seller and not _is_part(one.found.value, seller)
    ]


def _is_part(value: str, seller: str | None) -> bool:
    """Return whether a number is the seller's with or without its country and its last digits."""
    return seller is not None and (value in seller or seller in value)


def _tax_features(one: TaxId, labels: Sequence[tuple[Row, Box]]) -> dict[str, float]:
    box = one.cell
    above = [
        row.index
        for row, place in labels
        if row.line.page == one.found.page
        and place.y0 <= box.y1
        and place.x0 < box.x1
        and box.x0 < place.x1 + _NEAR_ROWS * place.height
    ]
    steps = one.row - max(above) if above else None
    own = one.features
    return {
        "always": 1.0,
        **{name: float(own.get(name, 0)) for name in ("labelled", "passed", "weak", "buyer")},
        **{name: float(own.get(name, 0)) for name in ("named_buyer", "any_shape", "home")},
        "named": float(steps == 0),
        "near": float(steps is not None and 0 < steps <= _NEAR_ROWS),
        "far": float(steps is not None and steps > _NEAR_ROWS),
    }


def _labels(row: Row) -> Iterator[tuple[Phrase, Piece]]:
    """Yield the labels of the customer that begin a cell, with the cell."""
    for piece in pieces_of(row):
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


def _is_strong(label: Phrase, piece: Piece) -> bool:
    """Return whether a label names who is billed, and nothing else."""
    return not (_is_weak(label, piece) or _is_of_delivery(label, piece))


def _is_weak(label: Phrase, piece: Piece) -> bool:
    """Return whether the words are labels of other things, too."""
    found = book("weak_customer").find(piece.text[label.start : label.end])
    return [label.end - label.start] == [one.end - one.start for one in found]


def _is_of_delivery(label: Phrase, piece: Piece) -> bool:
    return lexicon.wordbook(_DELIVERY).is_all(piece.text[label.start : label.end])


def _near(
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
        yield _found(rest, row, box), {**words, "right": 1.0}
        yield from _continued(rest, row, box, rows, words)
        return
    cells = [one for one in pieces_of(row) if one.box.x0 >= piece.box.x1]
    has_value = bool(cells) and not _is_label(cells[0].text)
    is_listed = has_value and not _names_other(cells[0]) and _is_above_label(piece, cells[0], rows)
    if has_value:
        # In a list of labels and values a colon is usually missing.
        place = {"right": 1.0, "colon": 1.0, "heading": 0.0} if is_listed else {"right_cell": 1.0}
        yield _found(_trimmed(cells[0].text), row, cells[0].box), {**words, **place}
    # `Client    Vehicle` may also be the headings of two columns.
    if not is_listed or len(cells[0].text.split()) == 1:
        yield from _below(piece, row, rows, words)


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
    """Return whether a text has the label of a number, a date or a sum."""
    return ":" in piece.text or bool(lexicon.phrasebook(*_OTHERS).find(piece.text))


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
                    _found(both, row, around([box, piece.box])),
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
            if has_ended or _is_of_items(below):
                return
            if _is_label(other.text):
                continue
            text = _trimmed(_behind_name_label(other.text))
            features = {**words, "below": 1.0, f"step{min(steps, 2)}": 1.0}
            yield _found(text, below, other.box), features
            if last and steps == 1:
                both = f"{last[0]} {text}"
                joined = {**words, "below": 1.0, "step0": 1.0, "continued": 1.0}
                yield _found(both, below, around([last[1], other.box])), joined
            last = (text, other.box)
            steps += 1


def _behind_name_label(text: str) -> str:
    """Return what is behind a label inside a row: `RFC: PEM150923HT4  Nombre: Pan del Sur`."""
    for label in lexicon.wordbook(_ROLE).find(text):
        rest = text[label.end :].lstrip()
        if label.start and rest.startswith(":") and ":" in text[: label.start]:
            return _before_other(rest[1:].lstrip()) or text
    return text


def _is_of_items(row: Row) -> bool:
    is_priced = any(row.is_money(amount) for amount in row.amounts)
    is_other = bool(lexicon.phrasebook(*_OTHERS).find(row.text))
    return headings.is_heading(row) or (is_priced and not is_other)


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


def _found(text: str, row: Row, box: Box) -> Extracted[str]:
    name = _TAX_NUMBER_AT_END.sub("", _NUMBER_AT_END.sub("", text))
    return Extracted(name, 0, text, row.line.page, box)


def _is_label(text: str) -> bool:
    return text.rstrip().endswith(":") or bool(lexicon.wordbook(_ROLE).is_all(text))


def _features(name: str, sellers: frozenset[str]) -> dict[str, float]:
    letters = sum(map(str.isalpha, name))
    digits = sum(map(str.isdigit, name))
    known = normalize(name).letters
    return {
        "always": 1.0,
        "no_name": float(letters < _FEWEST_LETTERS or len(name) > _LONGEST),
        "digits": min(digits, 4) / 4,
        "many_digits": float(_MANY_DIGITS.search(name) is not None),
        "seller": float(known in sellers),
        "form": float(company_names.legal_ending(name) is not None),
        "address": float(is_address(name)),
        "place": float(book("address").is_all(name)),
        "label": float(":" in name or bool(book("billed").find(name))),
        "stop": float(_is_stop(name)),
        "notice": float(bool(book("notice").find(name))),
        "contact": float(bool(book("contact").find(name)) or "@" in name),
        "dated": float(bool(dates.days(name))),
        "money": float(address_pieces.is_money(name)),
        "words": float(min(len(name.split()), 6)),
        "one_word": float(len(name.split()) == 1),
        "heading_words": float(headings.role_of(name) is not None),
        "lower": float(name[:1].islower()),
    }


def _is_stop(name: str) -> bool:
    is_label = lexicon.wordbook(*_OTHERS).is_all(name)
    return is_label or name_stoplist.is_not_name(name) or bool(book("notice").is_all(name))
