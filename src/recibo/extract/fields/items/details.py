"""Reads rows with quantity and unit price of a total: `2 x 1,29`, `0,535 kg x 18,90 EUR/kg`."""

import functools
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract.fields.items import arithmetic, item_name
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.layout.rows import Row
from recibo.extract.text import currency_symbols, lexicon, numbers
from recibo.extract.text.numbers import MINUS, Number

_AMOUNT = (
    r"(?:[0-9]{1,3}(?:[.,'][0-9]{3})+(?:[.,](?:[0-9]{2}|[0-9]{4}))?(?![0-9])"
    r"|[0-9]+(?:[.,][0-9]{1,4})?)"
)
_CODE = "[0-9]{4,14}"
# Size or color before a quantity: `Size: M | `.
_SORT = r"(?:[^|·•\n]{1,40}[|·•]\s?){0,3}"
# `2 AT 1 FOR 1.98`: a quantity and a unit price.
_AT_ONE_FOR = re.compile(
    rf"^\W*(?P<qty>[0-9]+)\s+AT\s+1\s+FOR\s+\W?(?P<price>{_AMOUNT})\W*$", re.IGNORECASE
)
# `@110 x 2`: a unit price and a quantity.
_AT_TIMES = re.compile(
    rf"^\W*@\s?[^\w\s]?\s?(?P<price>{_AMOUNT})\s?[^\W\d]?\s?[xX×*]\s?(?P<qty>[0-9]{{1,3}})\W?\s*\w?\W*$"
)
# `42,18 l  1,799 EUR/l`, `38,42 Liter 1,729 EUR/L`: a price per unit needs no multiplication sign.
_PER_MEASURE = re.compile(
    rf"^\W*(?P<qty>[0-9]+[.,][0-9]+)\s?(?P<unit>[^\W\d]{{1,4}})[^\W\d]{{0,4}}\W+(?:[^\W\d]{{1,3}}\s)?"
    rf"(?P<price>{_AMOUNT})\s?[^\d/]{{0,5}}/\s?(?P=unit)[^\W\d]{{0,4}}\W*$",
    re.IGNORECASE,
)
# `3 @ 3/$6.97`: a quantity, and the price of several.
_TOGETHER = re.compile(
    rf"(?<![0-9.,])(?P<qty>[0-9]{{1,3}})\s*@\s*(?P<of>[0-9]{{1,2}})\s*(?:/|for)\s*\W?(?P<price>{_AMOUNT})",
    re.IGNORECASE,
)
# `4017728  2 EA  12.99 EA`, `2 STK  12,99 /STK`: a quantity, and the price of the same unit,
# perhaps with an article number; the name is in the next row.
_PER_UNIT = re.compile(
    rf"^\W*(?:(?P<code>{_CODE})\s+)?(?P<qty>{_AMOUNT})\s?(?P<unit>[^\W\d]{{1,5}})\.?\s+"
    rf"(?:(?P<code2>{_CODE})\s+)?[$€£]?\s?(?P<price>{_AMOUNT})\s?[$€£]?\s?/?\s?(?P=unit)"
    rf"(?:\.?\s+(?P<code3>{_CODE}))?\W*$",
    re.IGNORECASE,
)
# `@ 3.78`: a unit price, below the row of the item.
_PRICE_ALONE = re.compile(rf"^\s*[@à]\s*[^\w\s]?(?:[A-Z]{{1,3}}\W?)?\s*(?P<price>{_AMOUNT})\W*$")
# `2013.59`, `20: 4.49`: the sign between quantity and price was read as digits.
_MERGED = re.compile(
    r"^\W*(?P<qty>[1-9][0-9]{1,5})(?:\W{1,2}(?P<rest>[0-9]{1,4}))?[.,]\s?(?P<cents>[0-9]{2})\W*$"
)
#: The most digits that such a sign is read as.
_MOST_EXTRA_DIGITS = 2
#: A larger number is no count of articles.
_MOST_COUNTED = 1000
#: The decimals of a weight.
_GRAMS = 3


@dataclass(frozen=True, slots=True)
class Detail:
    """A row with the quantity and unit price of a total."""

    row: Row
    #: The possible values: the dot of `2 X 1.250` may group. Without quantities, total and price
    #: determine the quantity.
    quantities: tuple[Decimal, ...]
    prices: tuple[Decimal, ...]
    #: The number of units that have the price together.
    together: Decimal = Decimal(1)
    #: The article number in the row.
    code: str | None = None

    def _is_returned(self, total: Decimal) -> bool:
        """Return whether the quantity has a minus, too: `-1 x 17,99`."""
        return total < 0 and self.row.text.lstrip().startswith(tuple(MINUS))

    def qty_and_price(
        self, total: Decimal, *, counted: Decimal | None = None
    ) -> tuple[Decimal, Decimal | None] | None:
        """Return the quantity and the unit price of a total; None if they do not agree.

        If the price of several is printed there is no unit price.

        Args:
            total: The amount.
            counted: The quantity before the name, for a detail without one.
        """
        known = self.quantities or ((counted,) if counted else ())
        if self.together != 1:
            qty, price = self.quantities[0], self.prices[0]
            return (qty, None) if arithmetic.agrees(qty / self.together, price, total) else None
        # A weight at a grouped price, `1,135 X 2.190`, is likelier than thousands at a small one.
        for price, qty in itertools.product(sorted(self.prices, reverse=True), known):
            if arithmetic.is_rounded(qty, price, total):
                return -qty if self._is_returned(total) else qty, price
        if self.quantities:
            return None
        # A few units at a grouped price are likelier than thousands at a small one.
        for price in sorted(self.prices, reverse=True):
            missing = arithmetic.missing_qty(price, total)
            if missing and arithmetic.is_rounded(missing, price, total):
                return missing, price
        return None


@dataclass(frozen=True, slots=True)
class Labelled:
    """A number with a label for quantity or price: `Litres 25.03`, `Price/L 1.534`."""

    row: Row
    is_price: bool
    readings: tuple[Decimal, ...]


def read(row: Row) -> Detail | None:
    """Read `2 x 1,29` and the like."""
    if (offer := _TOGETHER.fullmatch(row.text.strip())) and offer["of"] != "0":
        qty, price = Decimal(offer["qty"]), _readings(offer["price"])
        return Detail(row, (qty,), price, Decimal(offer["of"]))
    patterns = (
        *_labelled(),
        _AT_TIMES,
        _times(),
        _AT_ONE_FOR,
        _PER_MEASURE,
        _PER_UNIT,
        _PRICE_ALONE,
    )
    text = item_name.without_place(row.text)
    match = next((found for each in patterns if (found := each.match(text))), None)
    if match is None:
        return None
    named = match.groupdict()
    codes = (named.get(name) for name in ("code", "code2", "code3"))
    code = next((code for code in codes if code), None)
    return Detail(row, _readings(named.get("qty")), _readings(named["price"]), code=code)


def read_labelled(row: Row) -> Labelled | None:
    """Read a row of one labelled number, as fuel pumps print quantity and price."""
    numbers = [figure for figure in row.numbers if not figure.is_percent]
    label = row.text[: numbers[0].start] if numbers else ""
    if len(numbers) != 1 or not (kind := lexicon.measure_kind(label)):
        return None
    return Labelled(row, kind == "rates", numbers[0].readings[::-1])


def count(found: Sequence[Labelled]) -> Decimal | None:
    """Return the number of articles if it is the only labelled number of an item."""
    numbers = found[0].readings if len(found) == 1 else ()
    return next((one for one in numbers if 0 < one < _MOST_COUNTED and one % 1 == 0), None)


def joined(one: Labelled, other: Labelled) -> Detail | None:
    """Return the detail of a labelled quantity and a labelled price."""
    if one.is_price == other.is_price:
        return None
    price, qty = (one, other) if one.is_price else (other, one)
    return Detail(one.row, qty.readings, price.readings)


#: The quantity and unit price of a total, the rows they are in, and the row of the total without
#: them.
Explained = tuple[tuple[Decimal, Decimal | None], list[Row], Priced]


def around(read: Priced, above: Sequence[Row], below: Sequence[Row]) -> Explained | None:
    """Return the quantity and the price near a total whose product is the total.

    Only the arithmetic decides, not the words of a pump or scale between them.
    """
    if read.total <= 0:
        return None
    for rows in (below[:1], above[:1], [*below[:1], *above[:1]], below, above):
        if rows and (found := _product_in(rows, read)):
            qty, price, cut = found
            words = read.words if cut is None else read.row.text[:cut]
            return (qty, price), list(rows), replace(read, words=words)
    left = read.row.text[: read.total_figure.start].rstrip()
    merged = _split_digits(left.rpartition("\t")[2], read.total)
    if merged and not read.has_name:
        return merged, [], read
    for row in (*below[:1], *above[:1]):
        if found_merged := _split_digits(row.text, read.total):
            return found_merged, [row], read
    return None


def _product_in(rows: Sequence[Row], read: Priced) -> tuple[Decimal, Decimal, int | None] | None:
    """Return a quantity, a price, and the quantity's position if it is in the row of the total."""
    own = [each for each in read.row.numbers if each.end <= read.total_figure.start]
    weights = [each for each in own if each.decimals == _GRAMS or len(each.readings) > 1]
    numbers = [
        each
        for row in rows
        for each in row.numbers[: arithmetic.MOST_FIGURES]
        if not each.is_percent
    ]
    prices = [each for each in numbers if each.is_money or len(each.readings) > 1]
    for price, qty in itertools.product(prices, [*numbers, *weights]):
        if qty is price or qty.has_symbol or qty.is_rate:
            continue
        for one, count in itertools.product(price.readings[::-1], qty.readings[::-1]):
            if count != 1 and one > 0 and arithmetic.agrees(count, one, read.total):
                return count, one, qty.start if qty in weights and qty in own else None
    return None


def _split_digits(text: str, total: Decimal) -> tuple[Decimal, Decimal] | None:
    """Return the factors of a total if the sign between them was read as digits: `2013.59`."""
    match = _MERGED.match(text)
    if match is None:
        return None
    digits = match["qty"] + (match["rest"] or "")
    for length, start in itertools.product((1, 2), range(1, len(digits))):
        if 0 < start - length <= _MOST_EXTRA_DIGITS:
            qty, price = Decimal(digits[:length]), Decimal(f"{digits[start:]}.{match['cents']}")
            if qty > 1 and qty * price == total:
                return qty, price
    return None


def _readings(figure: str | None) -> tuple[Decimal, ...]:
    """Return the possible values of a number, a decimal one first."""
    found = next(numbers.every(figure), None) if figure else None
    return found.readings[::-1] if found else ()


def count_of_offer(row: Row, total: Number) -> Decimal | None:
    """Return the quantity if the price of several is printed, `3 @ 3/$6.97`."""
    match = _TOGETHER.search(row.text[: total.start])
    if match is None or match["of"] == "0":
        return None
    qty, group_size = Decimal(match["qty"]), Decimal(match["of"])
    price = Decimal(match["price"].replace(",", "."))
    return qty if arithmetic.agrees(qty / group_size, price, total.value) else None


@functools.cache
def _times() -> re.Pattern[str]:
    """`2 x 1,29`, `0.535 kg @ 2.99/kg`, `Qty 3 @ 1.50 ea.`, perhaps after an article number."""
    return re.compile(
        rf"^\W*(?:[0-9]{{6,14}}\s+)?(?:(?i:{lexicon.counting()})\W+)?(?P<qty>{_AMOUNT})"
        rf"(?:\s*(?i:{lexicon.units()})|\s*[^\W\d]{{1,4}}\.?(?=\s))?\s*(?:(?i:{lexicon.counting()})\s)?(?:[x×X*@àá]|\b(?:a|at)\b)\s*"
        rf"[^\w\s]?(?:[A-Z]{{1,3}}\W?|単)?\s*(?P<price>{_AMOUNT})"
        r"\s?[^\w\s]?\s?(?:[^\W\d]{1,5}\.?)?\s?(?:/\s?\w{1,6})?(?:\s\([0-9.,]+\))?\W*$"
    )


@functools.cache
def _labelled() -> Sequence[re.Pattern[str]]:
    """`Qty 2 · $68.00 each`, `Size M | Qty 2 | $68.00`, `$68.00 each, quantity 2`, `$68.00 × 2`."""
    sign, each = currency_symbols.pattern(), lexicon.each()
    amount = rf"(?:{sign}\s?)?(?P<price>{_AMOUNT})(?:\s?{sign})?"
    price = rf"{amount}(?:\s?/?\s?(?i:{each}))?"
    label, unit = lexicon.quantity_labels(), lexicon.units()
    qty = rf"(?i:{label})\W{{0,4}}(?P<qty>[0-9]{{1,4}})(?:\s?(?i:{unit}))?"
    rows = (
        rf"{_SORT}{qty}\W{{1,9}}(?:(?i:{lexicon.counting()})\W{{1,4}})?{price}",
        rf"{price}\W{{1,9}}{qty}",
        rf"{sign}\s?(?P<price>{_AMOUNT})\s?[xX×*]\s?(?P<qty>[0-9]{{1,3}})",
        rf"{amount}\s*/?\s*(?i:{each})",
    )
    return tuple(re.compile(rf"^\W*{row}\W*$") for row in rows)
