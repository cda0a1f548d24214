"""Reads one row of a tax table: which of its figures are net, tax and gross."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations

from recibo.extract.layout.rows import Row
from recibo.extract.text.numbers import Amount

# The largest tax as a share of the net price.
_MOST_RATE = Decimal("0.5")
_CENT = Decimal("0.01")
# A till taxes and rounds each item separately, so the rate of their sum is slightly off.
_OFF_BY_CENTS, _OFF_BY_SHARE = Decimal("0.02"), Decimal("0.005")
_WHOLE = Decimal(100)
_HIGHEST_RATE = Decimal(35)
# A row with more figures is no row of a tax table.
_MOST_FIGURES = 7

#: The places of net, tax and gross among the figures of a row, counted from the right.
Columns = tuple[int | None, int, int | None]


@dataclass(frozen=True, slots=True)
class Portion:
    """What a row says of one rate, or of all of them."""

    row: Row
    tax: Decimal
    gross: Decimal
    #: None where only the gross amount is printed.
    net: Decimal | None
    figures: tuple[Amount, ...]
    columns: Columns
    #: The printed rate, in percent, that gives the tax on the sum in the same row.
    rate: Decimal | None
    #: Whether the figures agree with one another, by their rate or by their sum.
    is_proven: bool


def portions(row: Row, *, is_headed: bool) -> Iterator[Portion]:
    """Yield all that the figures of a row may say of a tax, its columns being in any order.

    Under the headings of a table of taxes a rate needs no percent sign.
    """
    if len(row.amounts) > _MOST_FIGURES:
        return
    money = [amount for amount in row.amounts if row.is_money(amount) and amount.value >= 0]
    for base, tax in permutations(money, 2):
        if tax.value <= base.value * _MOST_RATE and base.value:
            rates = _rates(row, is_headed=is_headed)
            yield from _of_two(row, base, tax, rates)
            yield from _of_three(row, base, tax, rates)


def _of_two(row: Row, base: Amount, tax: Amount, rates: Sequence[Amount]) -> Iterator[Portion]:
    """Take the larger of two figures for the net amount, and for the gross one."""
    net, levied = base.value, tax.value
    on_net = _rate(rates, net, levied, (base, tax))
    yield _portion(row, (base, tax, None), net=net, rate=on_net)
    if levied <= (net - levied) * _MOST_RATE:
        within = _rate(rates, net - levied, levied, (base, tax))
        yield _portion(row, (None, tax, base), net=None, rate=within)


def _of_three(row: Row, net: Amount, tax: Amount, rates: Sequence[Amount]) -> Iterator[Portion]:
    """Take a third figure for the sum of the two, or of the net and the two halves of a tax."""
    money = [amount for amount in row.amounts if row.is_money(amount)]
    is_halved = sum(amount.value == tax.value for amount in money) > 1
    for gross in money:
        levied = gross.value - net.value
        is_sum = abs(levied - tax.value) <= _CENT or (is_halved and levied == 2 * tax.value)
        if is_sum and gross not in (net, tax):
            rate = _rate(rates, net.value, levied, (net, tax, gross))
            yield _portion(row, (net, tax, gross), net=net.value, rate=rate)


def _portion(
    row: Row,
    parts: tuple[Amount | None, Amount, Amount | None],
    *,
    net: Decimal | None,
    rate: Decimal | None,
) -> Portion:
    _, tax, gross = parts
    levied = tax.value if gross is None or net is None else gross.value - net
    return Portion(
        row=row,
        tax=levied,
        gross=gross.value if gross else (net or Decimal(0)) + tax.value,
        net=net,
        figures=tuple(part for part in parts if part),
        columns=(_rank(row, parts[0]), _rank(row, tax) or 0, _rank(row, gross)),
        rate=rate,
        is_proven=rate is not None or None not in parts,
    )


def _rank(row: Row, amount: Amount | None) -> int | None:
    return None if amount is None else len(row.amounts) - row.amounts.index(amount)


def _rates(row: Row, *, is_headed: bool) -> list[Amount]:
    marked = [amount for amount in row.amounts if amount.is_percent]
    bare = [amount for amount in row.amounts if is_headed and not amount.has_mark]
    return [rate for rate in marked or bare if 0 <= rate.value <= _HIGHEST_RATE]


def _rate(
    rates: Sequence[Amount], net: Decimal, tax: Decimal, others: Sequence[Amount]
) -> Decimal | None:
    """Return the rate, which is none of the other figures, that makes the tax."""
    near = (
        rate.value
        for rate in rates
        if rate not in others
        and abs(net * rate.value / _WHOLE - tax) <= max(_OFF_BY_CENTS, tax * _OFF_BY_SHARE)
    )
    return next(near, None)
