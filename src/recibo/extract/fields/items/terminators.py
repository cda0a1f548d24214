"""Detects rows that are not items: totals, taxes, payments, counts. They end a list of items."""

import functools
import re
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum

from recibo.extract.layout.rows import Row
from recibo.extract.text import lexicon
from recibo.extract.text.numbers import Number

_END_KINDS = ("end", "summary")
_TOTALS = ("payable", "total", "subtotal")
_ENDS = (*_TOTALS, "tax", "cash", "change", "card", "rounding", "charge", "count", "sum")
#: `Subtotal before discount`, `Total incl. tax`.
_QUALIFIERS = ("excluding", "including", "discount")
#: The least share of a label in the words before the amount: item names may contain such words.
_LEAST_SHARE = 0.6
#: Shorter words are units and codes, `KG` or `ST`.
_LEAST_LETTERS = 3
# A digit inside a word is a misread letter, `SUBT0TAL`.
_FIGURE = re.compile(r"(?<![^\W\d_])[0-9]+(?:[.,][0-9]+)*\s*%?")
_SIGNS = " \t:.*-=#@()$€£¥"
#: Payments and additional charges are below the total. Above it such a word may be the name of an
#: item: a greeting card, a charge for a room.
_PAYMENTS = frozenset({"cash", "card", "change", "sum", "count"})
_CHARGE = frozenset({"charge"})
# `1,000 KG X 72,09  72,09`: a unit between quantity and price, although weights are counts
# elsewhere. A space precedes the sign, or `Tax` would match.
_MEASURED = re.compile(r"[^\W\d]{1,4}\.?\s+[xX×àá]|[xX×]")
# `2 x Coperto`: the rest of a quantity before a name.
_TIMES = re.compile(r"^[xX×]\s+")
#: From here on, a word may have two characters.
_CJK = "\u2e80"


class Meaning(Enum):
    """The meaning of a row that is not an item."""

    END = "end"
    #: Ends the items too, unless more of them follow.
    PAYMENT = "payment"
    CHARGE = "charge"
    DISCOUNT = "discount"
    #: On Brazilian documents: the total of the item above is gross, and the discount is not an
    #: item.
    ON_ITEM = "on item"


#: The meanings that end a list of items.
ENDS = frozenset({Meaning.END, Meaning.PAYMENT, Meaning.CHARGE})


def meaning(row: Row) -> Meaning | None:
    """Return the meaning of a row that is not an item; None for items.

    The cell before the amount counts too: an address may be left of the total.
    """
    return _meaning_before_amount(_before_amount(row))


def totals(rows: Sequence[Row]) -> frozenset[Decimal]:
    """Return the last amounts of the rows that end a list."""
    ends = (row for row in rows if meaning(row) in ENDS)
    return frozenset(amount.value for row in ends if (amount := _last_amount(row)))


def without_summaries(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that are not in a table of taxes with a title, up to the next total."""
    left: list[Row] = []
    is_summary = False
    for row in rows:
        is_title = _is_title(row)
        is_summary = is_title or (is_summary and meaning(row) is not Meaning.END)
        if is_title or not is_summary:
            left.append(row)
    return left


def _is_title(row: Row) -> bool:
    return lexicon.row_kind(row.text) == "summary"


def _last_amount(row: Row) -> Number | None:
    """Return the last amount of a row, or its last number if amounts have no decimals."""
    figures = [figure for figure in row.numbers if not figure.is_percent]
    amounts = [figure for figure in figures if figure.is_money]
    return next(reversed(amounts or figures), None)


def is_total(row: Row) -> bool:
    """Return whether a row has the label of a total or subtotal."""
    return meaning(row) is Meaning.END and bool(lexicon.phrasebook(*_TOTALS).find(_label(row)))


def is_subtotal(row: Row) -> bool:
    """Return whether a row has the label of a subtotal."""
    return meaning(row) is Meaning.END and bool(lexicon.phrasebook("subtotal").find(_label(row)))


def ends_table(row: Row) -> bool:
    """Return whether a row ends a table: a total with its amount, or the title of the next part.

    A label without an amount below an item is part of its description.
    """
    has_amount = any(figure.is_money or len(figure.readings) > 1 for figure in row.numbers)
    return lexicon.row_kind(row.text) in _END_KINDS or (has_amount and meaning(row) in ENDS)


def ends_list(row: Row, *, has_amount: bool) -> bool:
    """Return whether a row ends a list of items: a total with its amount, or only its label."""
    if meaning(row) not in ENDS:
        return False
    return has_amount or _is_title(row) or lexicon.phrasebook(*_TOTALS).is_all(_label(row))


def is_final_price(row: Row) -> bool:
    """Return whether a row is the final price of the item above."""
    return lexicon.row_kind(_label(row)) == "final"


@functools.lru_cache(maxsize=4096)
def _meaning_before_amount(text: str) -> Meaning | None:
    label = _words(text)
    if _MEASURED.fullmatch(label):
        return None
    if _is_sum_of(text) or _are_sums(text):
        return Meaning.END
    return _meaning(label) or _meaning(label.split("\t")[-1].strip(_SIGNS))


@functools.lru_cache(maxsize=4096)
def _meaning(label: str) -> Meaning | None:
    match lexicon.row_kind(label):
        case "item" | "final":
            return None
        case "on_item":
            return Meaning.ON_ITEM
        case "end" | "summary":
            return Meaning.END
        case _:
            return _labelled(label)


def _labelled(label: str) -> Meaning | None:
    """Return the meaning of a label in any language."""
    if kinds := _kinds_if_mostly(label, _ENDS):
        if kinds <= _CHARGE:
            return Meaning.CHARGE
        return Meaning.PAYMENT if kinds <= _PAYMENTS else Meaning.END
    return Meaning.DISCOUNT if _kinds_if_mostly(label, ("discount",)) else None


def _is_sum_of(text: str) -> bool:
    """Return whether a text begins with a total of something: `Total for this stay`, `Total 6%:`.

    An item may be called Total, but not total of something, nor with a colon before its price.
    """
    found = lexicon.phrasebook(*_TOTALS).find(text)
    if not found or any(map(str.isalnum, text[: found[0].start])):
        return False
    following = text[found[0].end :].split()
    return text.rstrip().endswith(":") or bool(following and lexicon.is_of(following[0]))


def _are_sums(text: str) -> bool:
    """Return whether a text has a tax with its amount, then a total: `TAX 1.07   BAL`."""
    found = lexicon.phrasebook("tax", *_TOTALS).find(text)
    kinds = [phrase.kind for phrase in found]
    is_first = bool(found) and not any(map(str.isalnum, text[: found[0].start]))
    return is_first and kinds[0] == "tax" and len(kinds) > 1 and kinds[-1] in _TOTALS


def _label(row: Row) -> str:
    """Return the words before the last amount, without numbers."""
    return _words(_before_amount(row))


def _words(text: str) -> str:
    return _TIMES.sub("", _FIGURE.sub(" ", text).strip(_SIGNS))


def _before_amount(row: Row) -> str:
    amounts = [figure for figure in row.numbers if figure.is_money]
    return row.text[: amounts[-1].start] if amounts else row.text


def _kinds_if_mostly(label: str, kinds: tuple[str, ...]) -> frozenset[str]:
    """Return the kinds of a label that consists mostly of such phrases."""
    letters = sum(sign.isalpha() for sign in label)
    is_short = letters < _LEAST_LETTERS and not any(sign > _CJK for sign in label)
    found = lexicon.phrasebook(*dict.fromkeys(kinds + _QUALIFIERS)).find(label)
    covered = sum(
        sum(sign.isalpha() for sign in label[phrase.start : phrase.end]) for phrase in found
    )
    if is_short or covered < _LEAST_SHARE * letters:
        return frozenset()
    return frozenset(phrase.kind for phrase in found if phrase.kind in kinds)
