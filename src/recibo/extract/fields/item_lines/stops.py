"""Rows about money instead of goods: totals, taxes, payments, counts. They end a list of goods."""

import functools
import re
from enum import Enum

from recibo.extract.fields.item_lines.rows import Row
from recibo.extract.locales import tables

_TOTALS = ("payable", "total", "subtotal")
_ENDS = (*_TOTALS, "tax", "cash", "change", "card", "rounding", "charge", "count", "sum")
#: `Subtotal before discount`, `Total incl. tax`.
_QUALIFYING = ("excluding", "including", "discount")
#: A label must make up this much of the words before the amount: goods may be named after taxes.
_LEAST_SHARE = 0.6
#: Shorter ones are units of measure and marks, `KG` or `ST`.
_LEAST_LETTERS = 3
# Fiscal papers of Brazil end their lists so.
_BRAZILIAN = re.compile(
    r"^\W*(?:QTDE?\.?\s*TOTAL|TOTAL\s*BRUTO|TOTAL\s*(?:DE\s*)?ITENS|VALOR\s*TOTAL|VALOR\s*A\s*PAGAR"
    r"|DADOS\s*ADICIONAIS|C[AÁ]LCULO\s*DO\s*ISSQN|FORMA\s*(?:DE\s*)?PAG|SUBTOTAL|TOTAL\s*R)",
    re.IGNORECASE,
)
_SIGNS = " \t:.*-=#@()$€£"
_FINAL = re.compile(
    r"\W*(?:final|net|sale|special|your|you pay|offer)\s+price\W*$"
    r"|\W*(?:pre[cç]o|precio|prix)\s+(?:final|net)\W*$",
    re.IGNORECASE,
)
# Deposits on bottles are sold with the goods.
_DEPOSIT = re.compile(
    r"^\W*(?:deposit|pfand|einwegpfand|mehrwegpfand|statiegeld|consigne)", re.IGNORECASE
)
# `Total for this invoice`; goods may be called Total, but not total of something.
_SUM_OF = re.compile(
    r"^\W*(?:grand\s)?total[e]?\s+(?:for|of|in|due|do|da|de|des|du|der|per|this)\b"
    r"|^\W*total\b[^:]*:\s*$|\btotal\W*$",
    re.IGNORECASE,
)
_ON_ITEM = re.compile(r"^\W*(?:desconto|desc\b|acr[eé]scimo|abatimento)", re.IGNORECASE)
_DISCOUNT = re.compile(r"^\W*\w*\s*(?:discount|disc\b\.?)", re.IGNORECASE)


class Meaning(Enum):
    """What a row without goods is about."""

    END = "end"
    DISCOUNT = "discount"
    #: On a Brazilian paper: the item's own total stays gross, and the discount is no item.
    ON_ITEM = "on item"


def meaning(row: Row) -> Meaning | None:
    """Return what a row is about if it is not about goods.

    The cell before the amount counts too: an address may stand beside the total.
    """
    label = _label(row)
    if _SUM_OF.search(_before_amount(row)):
        return Meaning.END
    return _meaning(label) or _meaning(label.split("\t")[-1].strip(_SIGNS))


def ends_table(row: Row) -> bool:
    """Tell whether a row ends a table: a total with its amount, or the title of the next part.

    A mere word about taxes under an item is a part of its description.
    """
    has_amount = any(figure.is_money for figure in row.figures)
    return _BRAZILIAN.search(row.text) is not None or (has_amount and meaning(row) is Meaning.END)


def ends_list(row: Row, *, has_amount: bool) -> bool:
    """Tell whether a row ends the goods of a roll: a total with its amount, or its bare label."""
    if meaning(row) is not Meaning.END:
        return False
    return has_amount or tables.phrasebook(*_TOTALS).is_all(_label(row))


def restates(row: Row) -> bool:
    """Tell whether a row gives the final price of the item above."""
    return _FINAL.match(_label(row)) is not None


@functools.lru_cache(maxsize=4096)
def _meaning(label: str) -> Meaning | None:
    if _DEPOSIT.search(label):
        return None
    if _ON_ITEM.search(label):
        return Meaning.ON_ITEM
    if _BRAZILIAN.search(label) or _is_mostly(label, _ENDS):
        return Meaning.END
    if _DISCOUNT.search(label) or _is_mostly(label, ("discount",)):
        return Meaning.DISCOUNT
    return None


def _label(row: Row) -> str:
    """Return the words before the last amount, figures left out."""
    return re.sub(r"[0-9]+(?:[.,][0-9]+)*\s*%?", " ", _before_amount(row)).strip(_SIGNS)


def _before_amount(row: Row) -> str:
    amounts = [figure for figure in row.figures if figure.is_money]
    return row.text[: amounts[-1].start] if amounts else row.text


def _is_mostly(label: str, kinds: tuple[str, ...]) -> bool:
    """Tell whether a label consists of phrases of some kinds, and words that go with them."""
    letters = sum(sign.isalpha() for sign in label)
    found = tables.phrasebook(*dict.fromkeys(kinds + _QUALIFYING)).find(label)
    covered = sum(
        sum(sign.isalpha() for sign in label[phrase.start : phrase.end]) for phrase in found
    )
    names = [phrase for phrase in found if phrase.kind in kinds]
    return bool(names) and letters >= _LEAST_LETTERS and covered >= _LEAST_SHARE * letters
