"""Adds up the taxes that are printed with each line item: `8200.00 9% 738.00 9% 738.00 9676.00`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import TypeVar

from recibo.extract.candidates import TaxBreakdown, TaxCandidate
from recibo.extract.fields.tax_candidates import HIGHEST_RATE, TaxContext, agree, rates_in
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, TaxLine
from recibo.extract.text.numbers import Number

T = TypeVar("T")

# Replaced by the probability when the lines are chosen.
_UNKNOWN = 0.5
_CONFIDENCE = 0.9
_CENT = Decimal("0.01")
_TOLERANCE = Decimal("0.05")
# Rows of one list have at most so many other rows between them.
_MOST_APART = 4
# The second half of a tax is at most so many rows below the first.
_MOST_BELOW = 2


@dataclass(frozen=True, slots=True)
class _Part:
    """A tax of one line item."""

    #: Its place among the taxes of the item: CGST is 0, SGST is 1.
    place: int
    name: str | None
    rate: Decimal
    amount: Decimal


@dataclass(frozen=True, slots=True)
class _Taxed:
    """A line item with its taxable amount and its taxes."""

    row: Row
    base: Decimal
    parts: tuple[_Part, ...]

    @property
    def tax(self) -> Decimal:
        return sum((part.amount for part in self.parts), Decimal(0))


def item_taxes(context: TaxContext) -> tuple[tuple[TaxCandidate, ...], ...]:
    """Return the sums of the taxes of all line items, by tax and rate; one tuple for each list."""
    return tuple(tuple(_lines(items, context)) for items in _lists(context))


def breakdowns(context: TaxContext, totals: Sequence[Decimal]) -> Iterator[TaxBreakdown]:
    """Yield the net amount and the tax of each list that adds up to one of `totals`."""
    for items in _lists(context):
        net = sum((item.base for item in items), Decimal(0))
        tax = sum((item.tax for item in items), Decimal(0))
        if tax and any(abs(net + tax - total) <= _CENT for total in totals):
            parts = (_found(items, value, _CONFIDENCE) for value in (net, tax))
            yield TaxBreakdown(net + tax, *parts)


def _lists(context: TaxContext) -> list[list[_Taxed]]:
    """Return the line items with taxes, list by list: a summary may repeat them."""
    lists: list[list[_Taxed]] = []
    for item in _taxed(context):
        if lists and item.row.index - lists[-1][-1].row.index <= _MOST_APART:
            lists[-1].append(item)
        else:
            lists.append([item])
    return [items for items in lists if any(item.tax for item in items)]


def _taxed(context: TaxContext) -> Iterator[_Taxed]:
    for row in context.rows:
        item = _of_row(row, context)
        if item is not None:
            yield item


def _of_row(row: Row, context: TaxContext) -> _Taxed | None:
    """Return the item of a row, with the taxes of its continuation."""
    money = context.money(row)
    for base in money:
        if base.value <= 0:
            continue
        parts = _pairs(row, base, context)
        taxes = sum((part.amount for part in parts), Decimal(0))
        if not parts:
            continue
        more = tuple(_below(row, base.value, len(parts), context))
        wholes = {base.value + taxes, base.value + taxes + sum(part.amount for part in more)}
        others = [amount.value for amount in money if amount.start > base.start]
        has_gross = any(abs(other - whole) <= _TOLERANCE for other in others for whole in wholes)
        # A list of taxes ends with their sum, one of items with what is paid.
        last = row.amounts[-1]
        is_sum = not last.is_percent and last.value == taxes
        if has_gross or (is_sum and sum(part.amount > 0 for part in parts) > 1):
            return _Taxed(row, base.value, (*parts, *more))
    return None


def _pairs(row: Row, base: Number, context: TaxContext) -> tuple[_Part, ...]:
    """Return the taxes of a row: after the taxable amount, each one right after its rate."""
    after = [amount for amount in row.amounts if amount.start > base.start]
    names = _names(row, context)
    found: list[_Part] = []
    for rate, tax in pairwise(after):
        is_bare = bool(rate.value) and rate.value in context.known and not rate.has_symbol
        is_rate = rate.is_percent or is_bare
        is_tax = (
            is_rate and not tax.is_percent and (tax.decimals == 1 or context.is_money(row, tax))
        )
        if is_tax and rate.value <= HIGHEST_RATE and agree(base.value, rate.value, tax.value):
            place = len(found)
            found.append(_Part(place, _named(names, place), rate.value, tax.value))
    return tuple(found)


def _below(row: Row, base: Decimal, place: int, context: TaxContext) -> Iterator[_Part]:
    """Yield the other taxes of an item, each in another row: `9% SGST 58.27`."""
    for below in context.rows[row.index + 1 : row.index + 1 + _MOST_BELOW]:
        rates, money = rates_in(below), context.money(below)
        if len(rates) == len(money) == 1 and agree(base, rates[0].value, money[0].value):
            yield _Part(
                place, _named(_names(below, context), place), rates[0].value, money[0].value
            )
            place += 1


def _names(row: Row, context: TaxContext) -> list[str]:
    """Return the different names of taxes in the row or above it."""
    names = {name.casefold(): name for name in reversed(context.names_above(row))}
    return list(names.values())[::-1]


def _named(names: Sequence[str], place: int) -> str | None:
    return names[min(place, len(names) - 1)] if names else None


def _lines(items: Sequence[_Taxed], context: TaxContext) -> Iterator[TaxCandidate]:
    """Yield the sum of each tax and rate."""
    names = {part.place: part.name for item in reversed(items) for part in item.parts}
    keys = dict.fromkeys((part.rate, part.place) for item in items for part in item.parts)
    for rate, place in keys:
        own = [
            (item, part)
            for item in items
            for part in item.parts
            if (part.rate, part.place) == (rate, place)
        ]
        base = sum((item.base for item, _ in own), Decimal(0))
        amount = sum((part.amount for _, part in own), Decimal(0))
        line = TaxLine(names[place], rate, base, amount)
        found = _found([item for item, _ in own], line, _UNKNOWN)
        features = context.features(line, None) | {"by_item": 1, "proven": 1}
        yield TaxCandidate(found, base + amount, None, features)


def _found(items: Sequence[_Taxed], value: T, confidence: float) -> Extracted[T]:
    text = "\n".join(item.row.text for item in items)
    line = items[0].row.line
    return Extracted(value, confidence, text, line.page, line.box)
