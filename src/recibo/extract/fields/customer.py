"""Finds the customer: the name near a label, and the tax number near one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from recibo.extract.fields import (
    address_pieces,
    addressees,
    choices,
    company_names,
    customer_labels,
    recipients,
    unlabelled_customer,
)
from recibo.extract.fields.name_page import book, is_address
from recibo.extract.fields.tax_id import TaxId
from recibo.extract.layout import headings, name_stoplist
from recibo.extract.layout.rows import Row
from recibo.extract.model import Box, Extracted
from recibo.extract.text import dates, lexicon
from recibo.extract.text.folding import fold, normalize
from recibo.extract.weights import weights

NAME, TAX_ID = "customer_name", "customer_tax_id"
_LONGEST, _FEWEST_LETTERS = 80, 3
# A tax number is at most this many rows below a label.
_NEAR_ROWS = 8
# An address begins within this many heights of its name; so many lines are examined.
_ADDRESS_BELOW, _MOST_PIECES = 2.5, 250
# What is in blanks and in the headings of items, but in no name.
_NO_NAME = ("__", "$")
_LONG_WORD, _FEWEST_SHARED = 4, 2
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
    labels = [(label, piece) for row in rows for label, piece in customer_labels.find(row)]
    is_billed = any(customer_labels.is_billed(label, piece) for label, piece in labels)
    labelled = [
        found
        for label, piece in labels
        if not (is_billed and customer_labels.is_of_delivery(label, piece))
        for found in customer_labels.texts_near(label, piece, piece.row, rows)
    ]
    blocks = recipients.find(rows, sellers) if rows else []
    lines = [
        *((line.text, line.row, line.box) for line in map(recipients.name_of, blocks)),
        *((line.text, line.row, line.box) for line in recipients.names_below_senders(rows)),
    ]
    # The same line is found in both ways.
    by_letters = {normalize(text).letters: (text, row, box) for text, row, box in lines}
    addressed = [
        (customer_labels.found(text, row, box), {"letter": 1.0})
        for text, row, box in by_letters.values()
    ]
    addressed += [
        (customer_labels.found(one.text, one.row, one.box), {"letter": 1.0, "colon": 1.0})
        for one in addressees.find(rows)
    ]
    unlabelled = [
        (customer_labels.found(piece.text, piece.row, piece.box), features)
        for piece, features in (unlabelled_customer.find(rows, sellers) if rows else [])
        if normalize(piece.text).letters not in by_letters
    ]
    found = list(_whole((*labelled, *addressed, *unlabelled)))
    if not found:
        return []
    places = _Places.of(rows, [one for one, _ in found])
    return [
        Candidate(one, {**features, **_features(one.value, sellers[:1]), **places.features(one)})
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
        if not (is_start or is_other or any(sign in one.value for sign in _NO_NAME)):
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
    labels = [(row, piece.box) for row in rows for _, piece in customer_labels.find(row)]
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


def _features(name: str, sellers: Sequence[str]) -> dict[str, float]:
    letters = sum(map(str.isalpha, name))
    digits = sum(map(str.isdigit, name))
    return {
        "always": 1.0,
        "no_name": float(letters < _FEWEST_LETTERS or len(name) > _LONGEST),
        "digits": min(digits, 4) / 4,
        "many_digits": float(_MANY_DIGITS.search(name) is not None),
        "seller": float(any(_is_same(name, seller) for seller in sellers)),
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


def _is_same(name: str, seller: str) -> bool:
    """Return whether two names are equal, or share two long words, which are half of each."""
    if normalize(name).letters == normalize(seller).letters:
        return True
    own, others = (
        {word for word in map(fold, text.split()) if len(word) >= _LONG_WORD}
        for text in (name, seller)
    )
    shared = len(own & others)
    return shared >= _FEWEST_SHARED and 2 * shared >= max(len(own), len(others))


def _is_stop(name: str) -> bool:
    is_label = lexicon.wordbook(*customer_labels.OTHERS).is_all(name)
    return is_label or name_stoplist.is_not_name(name) or bool(book("notice").is_all(name))
