"""Rows about money instead of goods: totals, taxes, payments, counts. They end a list of goods."""

import functools
import re
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum

from recibo.extract.layout.item_rows import Row
from recibo.extract.text import item_words, lexicon
from recibo.extract.text.figures import Figure

_TOTALS = ("payable", "total", "subtotal")
_ENDS = (*_TOTALS, "tax", "cash", "change", "card", "rounding", "charge", "count", "sum")
#: `Subtotal before discount`, `Total incl. tax`.
_QUALIFYING = ("excluding", "including", "discount")
#: A label must make up this much of the words before the amount: goods may be named after taxes.
_LEAST_SHARE = 0.6
#: Shorter ones are units of measure and marks, `KG` or `ST`.
_LEAST_LETTERS = 3
# Inside of a word a figure is a misread letter, `SUBT0TAL`.
_FIGURE = re.compile(r"(?<![^\W\d_])[0-9]+(?:[.,][0-9]+)*\s*%?")
_SIGNS = " \t:.*-=#@()$€£¥"
#: Payments and the like stand below the total, and so does what is charged on top of the goods.
#: Above it such a word may be the name of goods: a greeting card, a charge for a room.
_PAYMENTS = frozenset({"cash", "card", "change", "sum", "count"})
_CHARGE = frozenset({"charge"})
# `1,000 KG X 72,09  72,09`: a unit between quantity and price, though weights are counts elsewhere.
# The sign stands apart, or `Tax` would be one.
_MEASURED = re.compile(r"[^\W\d]{1,4}\.?\s+[xX×]|[xX×]")
# `2 x Coperto`: what is left of a quantity in front of a name.
_TIMES = re.compile(r"^[xX×]\s+")
#: Scripts from here on write a word with two signs.
_SYLLABLES = "\u2e80"


class Meaning(Enum):
    """What a row without goods is about."""

    END = "end"
    #: Ends the goods too, unless more of them follow.
    PAYMENT = "payment"
    CHARGE = "charge"
    DISCOUNT = "discount"
    #: On a Brazilian paper: the item's own total stays gross, and the discount is no item.
    ON_ITEM = "on item"


#: What ends a list of goods.
ENDS = frozenset({Meaning.END, Meaning.PAYMENT, Meaning.CHARGE})


def meaning(row: Row) -> Meaning | None:
    """Return what a row is about if it is not about goods.

    The cell before the amount counts too: an address may stand beside the total.
    """
    return _meaning_before_amount(_before_amount(row))


def totals(rows: Sequence[Row]) -> frozenset[Decimal]:
    """Return the last amounts of the rows about money."""
    ends = (row for row in rows if meaning(row) in ENDS)
    return frozenset(amount.value for row in ends if (amount := _last_amount(row)))


def _last_amount(row: Row) -> Figure | None:
    """Return the last amount of a row, or its last figure where money has no decimals."""
    figures = [figure for figure in row.figures if not figure.is_percent]
    amounts = [figure for figure in figures if figure.is_money]
    return next(reversed(amounts or figures), None)


def is_total(row: Row) -> bool:
    """Tell whether a row names a total or subtotal."""
    return meaning(row) is Meaning.END and bool(lexicon.phrasebook(*_TOTALS).find(_label(row)))


def is_subtotal(row: Row) -> bool:
    """Tell whether a row names a subtotal."""
    return meaning(row) is Meaning.END and bool(lexicon.phrasebook("subtotal").find(_label(row)))


def ends_table(row: Row) -> bool:
    """Tell whether a row ends a table: a total with its amount, or the title of the next part.

    A mere word about taxes under an item is a part of its description.
    """
    has_amount = any(figure.is_money or len(figure.readings) > 1 for figure in row.figures)
    return item_words.opening(row.text) == "end" or (has_amount and meaning(row) in ENDS)


def ends_list(row: Row, *, has_amount: bool) -> bool:
    """Tell whether a row ends the goods of a roll: a total with its amount, or its bare label."""
    if meaning(row) not in ENDS:
        return False
    return has_amount or lexicon.phrasebook(*_TOTALS).is_all(_label(row))


def restates(row: Row) -> bool:
    """Tell whether a row gives the final price of the item above."""
    return item_words.opening(_label(row)) == "final"


@functools.lru_cache(maxsize=4096)
def _meaning_before_amount(text: str) -> Meaning | None:
    label = _words(text)
    if _MEASURED.fullmatch(label):
        return None
    if _is_sum_of(text):
        return Meaning.END
    return _meaning(label) or _meaning(label.split("\t")[-1].strip(_SIGNS))


@functools.lru_cache(maxsize=4096)
def _meaning(label: str) -> Meaning | None:
    match item_words.opening(label):
        case "goods" | "final":
            return None
        case "on_item":
            return Meaning.ON_ITEM
        case "end":
            return Meaning.END
        case _:
            return _labelled(label)


def _labelled(label: str) -> Meaning | None:
    """Return what the labels of all languages say."""
    if kinds := _kinds_if_mostly(label, _ENDS):
        if kinds <= _CHARGE:
            return Meaning.CHARGE
        return Meaning.PAYMENT if kinds <= _PAYMENTS else Meaning.END
    return Meaning.DISCOUNT if _kinds_if_mostly(label, ("discount",)) else None


def _is_sum_of(text: str) -> bool:
    """Tell whether a text begins with a total of something, `Total for this invoice`, `Total 6%:`.

    Goods may be called Total, but not total of something, nor with a colon before their price.
    """
    found = lexicon.phrasebook(*_TOTALS).find(text)
    if not found or any(map(str.isalnum, text[: found[0].start])):
        return False
    following = text[found[0].end :].split()
    return text.rstrip().endswith(":") or bool(following and item_words.is_of(following[0]))


def _label(row: Row) -> str:
    """Return the words before the last amount, figures left out."""
    return _words(_before_amount(row))


def _words(text: str) -> str:
    return _TIMES.sub("", _FIGURE.sub(" ", text).strip(_SIGNS))


def _before_amount(row: Row) -> str:
    amounts = [figure for figure in row.figures if figure.is_money]
    return row.text[: amounts[-1].start] if amounts else row.text


def _kinds_if_mostly(label: str, kinds: tuple[str, ...]) -> frozenset[str]:
    """Return the kinds of a label that is made of such phrases and what goes with them."""
    letters = sum(sign.isalpha() for sign in label)
    is_short = letters < _LEAST_LETTERS and not any(sign > _SYLLABLES for sign in label)
    found = lexicon.phrasebook(*dict.fromkeys(kinds + _QUALIFYING)).find(label)
    covered = sum(
        sum(sign.isalpha() for sign in label[phrase.start : phrase.end]) for phrase in found
    )
    if is_short or covered < _LEAST_SHARE * letters:
        return frozenset()
    return frozenset(phrase.kind for phrase in found if phrase.kind in kinds)
