"""The rows from the subtotal to the total, and their truth."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from training.receipts.baskets import NOTHING, Bought, Group, groups
from training.receipts.item_rows import Desk
from training.receipts.strips import RULE, Cell, Row, RuleRow
from training.receipts.truth import Bookkeeping, TruthPayment, TruthTax

#: How the total is paid: in one way, in two, or by a card whose slip adds a tip.
Payment = Literal["one", "two", "slip"]


# The share of the usual one of two ways to print something.
_OFTEN = 0.6


@dataclass(frozen=True, slots=True)
class Extras:
    """A charge or discount on the item sum, as a percentage or an amount."""

    discount: Decimal = NOTHING
    service: Decimal = NOTHING
    tip: Decimal = NOTHING
    is_cash: bool = False
    payment: Payment = "one"
    has_subtotal: bool = True
    #: Whether a table shows net, tax and gross of each rate.
    has_tax_table: bool = False


@dataclass(frozen=True, slots=True)
class Sums:
    """The amounts of a document."""

    listed: Decimal
    #: The discounts of items, which are rows of the list.
    item_off: Decimal
    off: Decimal
    service: Decimal
    taxes: tuple[Group, ...]
    rounding: Decimal
    tip: Decimal
    total: Decimal


@dataclass(frozen=True, slots=True)
class Stated:
    """The printed amounts, and further values that count as right."""

    total: str
    subtotal: str | None
    tax: str | None
    alternatives: dict[str, tuple[str | None, ...]]
    bookkeeping: Bookkeeping


def reckon(desk: Desk, basket: Sequence[Bought], extras: Extras) -> Sums:
    """Return the amounts of a basket."""
    country = desk.country
    listed = sum((bought.paid for bought in basket), NOTHING)
    off = country.rounded(listed * extras.discount / 100)
    taxes = groups(country, basket, is_included=country.is_tax_included, off=off)
    service = country.rounded((listed - off) * extras.service / 100)
    added = NOTHING if country.is_tax_included else sum((one.tax for one in taxes), NOTHING)
    exact = listed - off + service + added
    step = country.cash_step if extras.is_cash else None
    total = (exact / step).quantize(Decimal(1), ROUND_HALF_UP) * step if step else exact
    total = country.rounded(total)
    tip = country.rounded(total * extras.tip / 100)
    item_off = sum((bought.discount for bought in basket), NOTHING)
    return Sums(listed, item_off, off, service, taxes, total - exact, tip, total + tip)


def rows(
    rng: random.Random, desk: Desk, sums: Sums, extras: Extras
) -> tuple[list[Row | RuleRow], Stated]:
    """Return the rows and their truth."""
    country = desk.country
    label = _Labels(rng, desk)
    lines: list[Row | RuleRow] = []
    if extras.has_subtotal:
        lines.append(Row(label("subtotal"), desk.figure(sums.listed)))
    if sums.off:
        lines.append(Row(label("sum_discount", extras.discount), desk.figure(-sums.off)))
    if sums.service:
        lines.append(Row(label("service", extras.service), desk.figure(sums.service)))
    if not country.is_tax_included:
        lines += _added(rng, desk, sums.taxes)
    if sums.rounding:
        sign = "+" if sums.rounding > 0 else ""
        lines.append(Row(label("rounding"), f"{sign}{desk.figure(sums.rounding)}"))
    is_slip = extras.payment == "slip"
    if sums.tip and not is_slip:
        lines.append(Row(label("tip"), desk.figure(sums.tip)))
    lines += _total(rng, desk, sums.total - sums.tip if is_slip else sums.total)
    paid = _PAID[extras.payment](rng, desk, sums, extras)
    lines += paid.rows
    included = _included(rng, desk, sums.taxes, is_table=extras.has_tax_table)
    lines += included
    has_tax = bool(included) or (not country.is_tax_included and _is_taxed(sums.taxes))
    known = _bookkeeping(desk, sums, extras, paid.payments, has_tax=has_tax)
    return lines, _stated(desk, sums, extras, known, has_tax=has_tax)


@dataclass(frozen=True, slots=True)
class _Labels:
    """Chooses the spelling of a label, some of them in capitals or with a colon."""

    rng: random.Random
    desk: Desk

    def __call__(self, name: str, rate: Decimal | None = None) -> str:
        word = self.rng.choice(self.desk.country.labels[name])
        return word.format(_percent(self.desk, rate)) if rate is not None else word


def money(desk: Desk, amount: Decimal, sign: str) -> str:
    """Return an amount with the sign of its currency, if there is one."""
    if not sign:
        return desk.figure(amount)
    if desk.country.is_sign_after:
        return f"{desk.figure(amount)} {sign}"
    return f"{sign}{desk.figure(amount)}" if len(sign) == 1 else f"{sign} {desk.figure(amount)}"


def _percent(desk: Desk, rate: Decimal) -> str:
    return f"{rate.normalize():f}".replace(".", desk.country.decimal)


def _total(rng: random.Random, desk: Desk, total: Decimal) -> list[Row | RuleRow]:
    label = rng.choice(desk.country.labels["total"])
    sign = rng.choice((*desk.country.signs, ""))
    amount = money(desk, total, sign)
    is_big = rng.random() < 0.4
    stretch = 1.5 if is_big and len(label) + len(amount) < desk.strip.columns / 1.5 - 4 else 1
    row = Row(
        label, amount, is_bold=rng.random() < 0.8, height=1.5 if is_big else 1, stretch=stretch
    )
    return [rng.choice((RULE, RuleRow("=")))] * rng.choice((0, 1)) + [row]


@dataclass(frozen=True, slots=True)
class _Paid:
    """The rows of the payments, and their truth."""

    rows: tuple[Row, ...]
    payments: tuple[TruthPayment, ...]


def _in_one(rng: random.Random, desk: Desk, sums: Sums, extras: Extras) -> _Paid:
    labels, total = desk.country.labels, sums.total
    if extras.is_cash:
        return _in_cash(rng, desk, total, total)
    row = Row(rng.choice(labels["card"]), desk.figure(total))
    return _Paid((row,), (TruthPayment("card", str(total)),))


def _in_cash(rng: random.Random, desk: Desk, amount: Decimal, total: Decimal) -> _Paid:
    """Return cash and change; `amount` is what the cash is for."""
    labels = desk.country.labels
    step = Decimal(rng.choice((5, 10, 20, 50))) * desk.country.rounded(Decimal(1))
    while step < total / 20:
        step *= 10
    given = (amount // step + 1) * step
    rows = (
        Row(rng.choice(labels["cash"]), desk.figure(given)),
        Row(rng.choice(labels["change"]), desk.figure(given - amount)),
    )
    return _Paid(rows, (TruthPayment("cash", str(amount), str(given)),))


def _in_two(rng: random.Random, desk: Desk, sums: Sums, extras: Extras) -> _Paid:
    """Return a card, mostly with its last digits, and another card or cash."""
    labels, total = desk.country.labels, sums.total
    first = desk.country.rounded(total * rng.randint(20, 80) / 100)
    digits = f"{rng.randint(0, 9999):04d}" if rng.random() < _OFTEN else None
    label = rng.choice(labels["card"])
    shown = f"{label} ****{digits}" if digits else label
    card = _Paid(
        (Row(shown, desk.figure(first)),), (TruthPayment("card", str(first), last4=digits),)
    )
    other = total - first
    if extras.is_cash:
        rest = _in_cash(rng, desk, other, total)
        # Without change, cash is an amount like any other.
        if rng.random() < _OFTEN:
            row = Row(rng.choice(labels["cash"]), desk.figure(other))
            rest = _Paid((row,), (TruthPayment("cash", str(other)),))
    else:
        digits = f"{rng.randint(0, 9999):04d}"
        row = Row(f"{rng.choice(labels['card'])} ****{digits}", desk.figure(other))
        rest = _Paid((row,), (TruthPayment("card", str(other), last4=digits),))
    return _Paid((*card.rows, *rest.rows), (*card.payments, *rest.payments))


def _on_slip(rng: random.Random, desk: Desk, sums: Sums, _: Extras) -> _Paid:
    """Return a slip that adds the tip to the total."""
    labels = desk.country.labels
    digits = f"{rng.randint(0, 9999):04d}"
    brand = rng.choice(("VISA", "MASTERCARD", "AMEX"))
    named = (
        (Row(f"{brand} ************{digits}"),)
        if rng.random() < _OFTEN
        else (Row(brand), Row(f"XXXXXXXXXXXX{digits}"))
    )
    approved = Row(f"{rng.choice(labels['approved'])} {rng.randint(100000, 999999)}")
    added = (
        Row(rng.choice(labels["amount"]), desk.figure(sums.total - sums.tip)),
        Row(rng.choice(labels["tip"]), desk.figure(sums.tip)),
        Row(rng.choice(labels["total"]), desk.figure(sums.total)),
    )
    payment = TruthPayment("card", str(sums.total), last4=digits)
    return _Paid((*named, approved, *added), (payment,))


_PAID = {"one": _in_one, "two": _in_two, "slip": _on_slip}


def _bookkeeping(
    desk: Desk,
    sums: Sums,
    extras: Extras,
    payments: tuple[TruthPayment, ...],
    *,
    has_tax: bool,
) -> Bookkeeping:
    return Bookkeeping(
        taxes=tuple(_taxes(desk, sums.taxes, extras)) if has_tax else (),
        payments=payments,
        discount=_printed(sums.off + sums.item_off),
        tip=_printed(sums.tip),
        service_charge=_printed(sums.service),
        rounding=_printed(sums.rounding),
    )


def _printed(amount: Decimal) -> str | None:
    return str(amount) if amount else None


def _taxes(desk: Desk, taxes: Sequence[Group], extras: Extras) -> Iterator[TruthTax]:
    for group in taxes:
        if desk.country.is_tax_included:
            base = str(group.net) if extras.has_tax_table else None
            yield TruthTax(_rate(group.rate), base, str(group.tax))
        elif group.rate:
            for _, tax, rate in _parts(desk, group, ""):
                yield TruthTax(_rate(rate), None, str(tax))


def _rate(rate: Decimal) -> str:
    return f"{rate.normalize():f}"


def _is_taxed(taxes: Sequence[Group]) -> bool:
    return any(group.rate for group in taxes)


def _added(rng: random.Random, desk: Desk, taxes: Sequence[Group]) -> list[Row]:
    """Return the rows of an added tax, in two halves in some countries."""
    name = rng.choice(desk.country.taxes)
    found = []
    for group in taxes:
        if not group.rate:
            continue
        for part, tax, rate in _parts(desk, group, name):
            label = part if "%" in part else f"{part} {_percent(desk, rate)}%"
            found.append(Row(label, desk.figure(tax)))
    return found


def _parts(desk: Desk, group: Group, name: str) -> list[tuple[str, Decimal, Decimal]]:
    if not desk.country.halves:
        return [(name, group.tax, group.rate)]
    first = desk.country.rounded(group.tax / 2)
    amounts = (first, group.tax - first)
    return [
        (half, tax, group.rate / 2) for half, tax in zip(desk.country.halves, amounts, strict=True)
    ]


def _included(
    rng: random.Random, desk: Desk, taxes: Sequence[Group], *, is_table: bool
) -> list[Row | RuleRow]:
    """Return the rows that show the included tax: a table, or one row per rate."""
    country = desk.country
    if not country.is_tax_included or not _is_taxed(taxes):
        return []
    name = rng.choice(country.taxes)
    if is_table:
        return [RULE, *_table(rng, desk, taxes, name)]
    if rng.random() < 0.25:
        return []
    pattern = rng.choice(country.labels["included"])
    return [
        Row(pattern.format(rate=_percent(desk, group.rate), tax=name), desk.figure(group.tax))
        for group in taxes
    ]


def _table(rng: random.Random, desk: Desk, taxes: Sequence[Group], name: str) -> list[Row]:
    labels, right, letters = desk.country.labels, desk.strip.columns, dict(desk.letters)
    edges = right * 0.48, right * 0.74, right
    heads = (rng.choice(labels["net"])[:8], name, rng.choice(labels["gross"])[:8])
    found = [
        Row(
            rng.choice(labels["rate"])[:6],
            cells=tuple(Cell(head, at, "right") for head, at in zip(heads, edges, strict=True)),
        )
    ]
    for group in taxes:
        figures = (group.net, group.tax, group.gross)
        cells = tuple(
            Cell(desk.figure(figure), at, "right")
            for figure, at in zip(figures, edges, strict=True)
        )
        letter = letters.get(group.rate, "")
        found.append(Row(f"{letter} {_percent(desk, group.rate)}%".strip(), cells=cells))
    return found


def _stated(desk: Desk, sums: Sums, extras: Extras, known: Bookkeeping, *, has_tax: bool) -> Stated:
    """Return the printed amounts; the sum of the taxes of several rates counts as printed."""
    tax = sum((group.tax for group in sums.taxes), NOTHING)
    net = sum((group.net for group in sums.taxes), NOTHING)
    other: dict[str, tuple[str | None, ...]] = {}
    subtotal = str(sums.listed) if extras.has_subtotal else None
    is_table = extras.has_tax_table and has_tax and desk.country.is_tax_included
    if is_table:
        # The sum of several net amounts is not printed; a single one is.
        other["subtotal"] = (str(net), None) if len(sums.taxes) > 1 else (str(net),)
        if subtotal is None and len(sums.taxes) == 1:
            subtotal = str(net)
    if sums.off and subtotal is not None:
        other["subtotal"] = (*other.get("subtotal", ()), str(sums.listed - sums.off))
    if has_tax and len(sums.taxes) > 1:
        other["tax"] = tuple(str(group.tax) for group in sums.taxes if group.rate)
    before = sums.total - sums.tip - sums.rounding
    if before != sums.total:
        other["total"] = (str(before), str(sums.total - sums.tip))
    return Stated(str(sums.total), subtotal, str(tax) if has_tax else None, other, known)
