"""Reads a row of a tax table: finds net, tax and gross among its amounts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations

from recibo.extract.layout.rows import Row
from recibo.extract.text.numbers import Number

# The largest tax as a share of the net price.
_MOST_RATE = Decimal("0.5")
_CENT = Decimal("0.01")
# A till taxes and rounds each item separately, so the rate of their sum is slightly off.
_OFF_BY_CENTS, _OFF_BY_SHARE = Decimal("0.02"), Decimal("0.005")
_WHOLE = Decimal(100)
_HIGHEST_RATE = Decimal(35)
# The most numbers in a row of a tax table.
_MOST_FIGURES = 7

#: The positions of net, tax and gross among the numbers of a row, from the right.
Columns = tuple[int | None, int, int | None]


@dataclass(frozen=True, slots=True)
class TaxRow:
    """The amounts of one rate, or of all rates."""

    row: Row
    tax: Decimal
    gross: Decimal
    #: None if only the gross amount is printed.
    net: Decimal | None
    figures: tuple[Number, ...]
    columns: Columns
    #: The printed rate, in percent, that agrees with the amounts of the row.
    rate: Decimal | None
    #: Whether the amounts agree, by their rate or by their sum.
    is_proven: bool


def tax_rows(row: Row, *, is_headed: bool) -> Iterator[TaxRow]:
    """Yield the possible amounts of a tax in a row, with columns in any order.

    Below the headings of a tax table a rate needs no percent sign.
    """
    if len(row.amounts) > _MOST_FIGURES:
        return
    money = [amount for amount in row.amounts if row.is_money(amount) and amount.value >= 0]
    for base, tax in permutations(money, 2):
        if tax.value <= base.value * _MOST_RATE and base.value:
            rates = _rates(row, is_headed=is_headed)
            yield from _of_two(row, base, tax, rates)
            yield from _of_three(row, base, tax, rates)


def _of_two(row: Row, base: Number, tax: Number, rates: Sequence[Number]) -> Iterator[TaxRow]:
    """Yield two amounts with the larger one as net, and as gross."""
    net, levied = base.value, tax.value
    on_net = _rate(rates, net, levied, (base, tax))
    yield _tax_row(row, (base, tax, None), net=net, rate=on_net)
    if levied <= (net - levied) * _MOST_RATE:
        within = _rate(rates, net - levied, levied, (base, tax))
        yield _tax_row(row, (None, tax, base), net=None, rate=within)


def _of_three(row: Row, net: Number, tax: Number, rates: Sequence[Number]) -> Iterator[TaxRow]:
    """Yield amounts with a third one as the sum of two, or of the net and two halves of a tax."""
    money = [amount for amount in row.amounts if row.is_money(amount)]
    is_halved = sum(amount.value == tax.value for amount in money) > 1
    for gross in money:
        levied = gross.value - net.value
        is_sum = abs(levied - tax.value) <= _CENT or (is_halved and levied == 2 * tax.value)
        if is_sum and gross not in (net, tax):
            rate = _rate(rates, net.value, levied, (net, tax, gross))
            yield _tax_row(row, (net, tax, gross), net=net.value, rate=rate)


def _tax_row(
    row: Row,
    parts: tuple[Number | None, Number, Number | None],
    *,
    net: Decimal | None,
    rate: Decimal | None,
) -> TaxRow:
    _, tax, gross = parts
    levied = tax.value if gross is None or net is None else gross.value - net
    return TaxRow(
        row=row,
        tax=levied,
        gross=gross.value if gross else (net or Decimal(0)) + tax.value,
        net=net,
        figures=tuple(part for part in parts if part),
        columns=(_rank(row, parts[0]), _rank(row, tax) or 0, _rank(row, gross)),
        rate=rate,
        is_proven=rate is not None or None not in parts,
    )


def _rank(row: Row, amount: Number | None) -> int | None:
    return None if amount is None else len(row.amounts) - row.amounts.index(amount)


def _rates(row: Row, *, is_headed: bool) -> list[Number]:
    marked = [amount for amount in row.amounts if amount.is_percent]
    bare = [amount for amount in row.amounts if is_headed and not amount.has_symbol]
    return [rate for rate in marked or bare if 0 <= rate.value <= _HIGHEST_RATE]


def _rate(
    rates: Sequence[Number], net: Decimal, tax: Decimal, others: Sequence[Number]
) -> Decimal | None:
    """Return the rate that agrees with the tax, a number other than the amounts."""
    near = (
        rate.value
        for rate in rates
        if rate not in others
        and abs(net * rate.value / _WHOLE - tax) <= max(_OFF_BY_CENTS, tax * _OFF_BY_SHARE)
    )
    return next(near, None)
