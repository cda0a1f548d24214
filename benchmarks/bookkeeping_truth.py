"""The ground truth of the bookkeeping fields, and when a value that was read is right.

`tests/accuracy/bookkeeping.jsonl` has an entry for each document. Names, addresses, tax numbers
and article codes are in it only as hashes of their letters and digits.
"""

import hashlib
import itertools
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, cast

from training.documents import GENERATED, GENERATED_LIST

FILE = Path(__file__).resolve().parents[1] / "tests" / "accuracy" / "bookkeeping.jsonl"

#: The fields with hashed values.
HASHED = ("merchant_address", "customer_name", "customer_tax_id")
AMOUNTS = ("discount", "tip", "service_charge", "rounding")
LISTS = ("taxes", "payments")
ITEM_FIELDS = ("code", "unit", "tax_rate", "discount")
FIELDS = (*HASHED, "due_date", *AMOUNTS)
#: Of a line item: it is not known what is printed.
UNKNOWN = "?"
_ADDRESS = "merchant_address"
# The attributes of an entry of a list that must be equal. Names of taxes are spelled in many ways.
_ATTRIBUTES = {
    "taxes": ("rate", "base", "amount", "informational"),
    "payments": ("method", "amount", "tendered", "last4"),
}

# The generator does not know the kind of a card.
_ANY_CARD, _CARDS = "any card", frozenset({"card", "credit_card", "debit_card"})
# The same in all places, so that hashes of the same text are equal.
_SALT = "recibo bookkeeping "
_HASH_DIGITS = 16
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "\u0131": "i"})
# The parts of an address are tried in every order, if there are not more.
_MOST_PARTS = 6

#: A right value: a text, or None if the field is not printed. Of hashed fields it is the hash.
Value = str | None


@dataclass(frozen=True, slots=True)
class Truth:
    """The bookkeeping fields of a document."""

    #: All right values by field, hashed or in clear; None if nothing is printed.
    values: Mapping[str, Sequence[Value]]
    #: `taxes` and `payments`: entries with texts, None for what is not printed.
    lists: Mapping[str, Sequence[Mapping[str, Any]]]
    #: `code` (hashed), `unit`, `tax_rate` and `discount` of each line item.
    items: Sequence[Mapping[str, Value]] | None

    def is_printed(self, field: str) -> bool:
        """Return whether a field is on the document."""
        return any(value is not None for value in self.values[field])

    def is_right(self, field: str, read: Value) -> bool:
        """Return whether a value is right; None means "not printed"."""
        return any(_is_equal(field, value, read) for value in self.values[field])


def load(file: Path = FILE) -> dict[str, Truth]:
    """Return the truth of each document by its key without the kind of file."""
    lines = file.read_text("utf-8").splitlines()
    return {entry["id"]: of_entry(entry) for entry in map(json.loads, lines)}


def of_entry(entry: Mapping[str, Any]) -> Truth:
    """Return the truth in a line of the file; fields that are not in it are not scored."""
    values = {
        field: entry[field] if isinstance(entry[field], list) else [entry[field]]
        for field in FIELDS
        if field in entry
    }
    lists = {field: entry[field] for field in LISTS if field in entry}
    items = entry.get("items")
    named = None if items is None else [dict(zip(ITEM_FIELDS, one, strict=True)) for one in items]
    return Truth(values, lists, named)


def of_generated(folder: Path) -> dict[str, Truth]:
    """Return what the generator knows of its documents, by their keys in `training.documents`."""
    entries = json.loads((folder / GENERATED_LIST).read_text("utf-8"))
    return {
        f"{GENERATED}/{entry['id']}": _of_generator(entry["bookkeeping"])
        for entry in entries
        if entry["bookkeeping"]
    }


def _of_generator(known: Mapping[str, Any]) -> Truth:
    payments = [
        {**payment, "method": _ANY_CARD if payment["method"] == "card" else payment["method"]}
        for payment in known["payments"]
    ]
    taxes = [{**tax, "informational": False} for tax in known["taxes"]]
    values = {field: [known[field]] for field in AMOUNTS}
    return Truth(values, {"taxes": taxes, "payments": payments}, None)


def hashed(text: str) -> str:
    """Return the hash of the letters and digits of a text."""
    digest = hashlib.sha256(f"{_SALT}{normalized(text)}".encode())
    return digest.hexdigest()[:_HASH_DIGITS]


def normalized(text: str) -> str:
    """Return a text without case, accents, punctuation and spaces."""
    parts = unicodedata.normalize("NFKD", text).casefold().translate(_LETTERS)
    return "".join(sign for sign in parts if sign.isalnum())


def orders(address: str) -> set[str]:
    """Return the hashes of an address with its parts in every order."""
    parts = [part for part in address.split(",") if normalized(part)]
    # A long address is joined into few parts.
    while len(parts) > _MOST_PARTS:
        parts[-2:] = ["".join(parts[-2:])]
    return {hashed("".join(order)) for order in itertools.permutations(parts)}


def is_item_right(field: str, value: Value, read: Value) -> bool:
    """Return whether a detail of a line item is right."""
    if value is None or read is None:
        return value is read
    if field == "code":
        return value == hashed(read)
    if field == "unit":
        return normalized(value) == normalized(read)
    return _number(value) == _number(read)


def matched(
    field: str, expected: Sequence[Mapping[str, Any]], read: Sequence[Mapping[str, Any]]
) -> list[tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]]:
    """Return the entries of a list in pairs, those with the most equal attributes first."""
    pairs: list[tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]] = []
    left, others = list(expected), list(read)
    while left and others:
        first, second = max(
            itertools.product(left, others), key=lambda pair: agreement(field, *pair)
        )
        pairs.append((first, second))
        left.remove(first)
        others.remove(second)
    return [*pairs, *((one, None) for one in left), *((None, one) for one in others)]


def agreement(field: str, expected: Mapping[str, Any], read: Mapping[str, Any]) -> float:
    """Return the share of the attributes that are equal."""
    names = _ATTRIBUTES[field]
    return sum(_are_equal(expected[name], read.get(name)) for name in names) / len(names)


def _is_equal(field: str, value: Value, read: Value) -> bool:
    if value is None or read is None:
        return value is read
    if field == _ADDRESS:
        return value in orders(read)
    if field in HASHED:
        return value == hashed(read)
    return _are_equal(value, read)


def _are_equal(value: object, read: object) -> bool:
    if value is None or read is None or isinstance(value, bool):
        return value is read
    if value == _ANY_CARD:
        return str(read) in _CARDS
    numbers = _number(cast("str", value)), _number(str(read))
    return numbers[0] == numbers[1] if None not in numbers else value == read


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
