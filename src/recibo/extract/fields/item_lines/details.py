"""Rows that only say how a total came about: `2 x 1,29`, `0,535 kg x 18,90 EUR/kg`."""

import functools
import re
from dataclasses import dataclass
from decimal import Decimal

from recibo.extract.fields.item_lines import arithmetic, words
from recibo.extract.fields.item_lines.figures import Figure
from recibo.extract.fields.item_lines.rows import Row

_AMOUNT = r"[0-9]+(?:[.,][0-9]{1,4})?"
# `2 AT 1 FOR 1.98`: a count, and what one costs.
_AT_ONE_FOR = re.compile(
    rf"^\W*(?P<qty>[0-9]+)\s+AT\s+1\s+FOR\s+\W?(?P<price>{_AMOUNT})\W*$", re.IGNORECASE
)
# `42,18 l  1,799 EUR/l`: the price of a measure needs no sign of multiplication.
_PER_MEASURE = re.compile(
    rf"^\W*(?P<qty>[0-9]+[.,][0-9]+)\s?(?P<unit>[^\W\d]{{1,4}})\W+(?:[^\W\d]{{1,3}}\s)?"
    rf"(?P<price>{_AMOUNT})\s?[^\d/]{{0,5}}/\s?(?P=unit)\W*$",
    re.IGNORECASE,
)
# `3 @ 3/$6.97`: a count, and what so many cost together.
_TOGETHER = re.compile(
    rf"(?<![0-9.,])(?P<qty>[0-9]{{1,3}})\s*@\s*(?P<of>[0-9]{{1,2}})\s*(?:/|for)\s*\W?(?P<price>{_AMOUNT})",
    re.IGNORECASE,
)
_GROUPING = re.compile(r"[.,](?=[0-9]{3}$)")


@dataclass(frozen=True, slots=True)
class Detail:
    """A row that only says how a total came about."""

    row: Row
    qty: Decimal
    unit_price: Decimal
    #: The same with its dots for grouping signs: `2 X 1.250` without decimals.
    grouped: tuple[Decimal, Decimal]

    def made(self, total: Decimal) -> tuple[Decimal, Decimal] | None:
        """Return the quantity and the unit price that make a total; None if they do not."""
        readings = ((self.qty, self.unit_price), (self.qty, self.grouped[1]), self.grouped)
        return next((each for each in readings if arithmetic.agrees(*each, total)), None)


def read(row: Row) -> Detail | None:
    """Read `2 x 1,29` and the like."""
    patterns = (_times(), _AT_ONE_FOR, _PER_MEASURE)
    match = next((found for each in patterns if (found := each.match(row.text))), None)
    if match is None:
        return None
    parts = match["qty"], match["price"]
    qty, price = (Decimal(part.replace(",", ".")) for part in parts)
    whole_qty, whole_price = (Decimal(_GROUPING.sub("", part).replace(",", ".")) for part in parts)
    return Detail(row, qty, price, (whole_qty, whole_price))


def count_of_offer(row: Row, total: Figure) -> Decimal | None:
    """Return how many were bought where the price of several is printed, `3 @ 3/$6.97`."""
    match = _TOGETHER.search(row.text[: total.start])
    if match is None or match["of"] == "0":
        return None
    qty, several = Decimal(match["qty"]), Decimal(match["of"])
    price = Decimal(match["price"].replace(",", "."))
    return qty if arithmetic.agrees(qty / several, price, total.value) else None


@functools.cache
def _times() -> re.Pattern[str]:
    """`2 x 1,29`, `0.535 kg @ 2.99/kg`, `Qty 3 @ 1.50 ea.`, perhaps behind an article's number."""
    return re.compile(
        rf"^\W*(?:[0-9]{{6,14}}\s+)?(?:(?i:{words.counting()})\W+)?(?P<qty>{_AMOUNT})"
        rf"(?:\s*(?i:{words.units()})|\s*[^\W\d]{{1,4}}\.?(?=\s))?\s*(?:(?i:{words.counting()})\s)?(?:[x×X*@à]|\ba\b)\s*"
        rf"[^\w\s]?(?:[A-Z]{{1,3}}\W?|単)?\s*(?P<price>{_AMOUNT})"
        r"\s?[^\w\s]?\s?(?:[^\W\d]{1,5}\.?)?\s?(?:/\s?\w{1,6})?\W*$"
    )
