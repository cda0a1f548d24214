"""The rows from the subtotal to the total, and their truth."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from training.receipts.baskets import NOTHING, Bought, Group, groups
from training.receipts.item_rows import Desk
from training.receipts.strips import RULE, Cell, Row, RuleRow


@dataclass(frozen=True, slots=True)
class Extras:
    """A charge or discount on the item sum, as a percentage or an amount."""

    discount: Decimal = NOTHING
    service: Decimal = NOTHING
    tip: Decimal = NOTHING
    is_cash: bool = False
    has_subtotal: bool = True
    #: Whether a table shows net, tax and gross of each rate.
    has_tax_table: bool = False


@dataclass(frozen=True, slots=True)
class Sums:
    """The amounts of a document."""

    listed: Decimal
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
    return Sums(listed, off, service, taxes, total - exact, tip, total + tip)


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
    if sums.tip:
        lines.append(Row(label("tip"), desk.figure(sums.tip)))
    lines += _total(rng, desk, sums)
    lines += _paid(rng, desk, sums, is_cash=extras.is_cash)
    included = _included(rng, desk, sums.taxes, is_table=extras.has_tax_table)
    lines += included
    has_tax = bool(included) or (not country.is_tax_included and _is_taxed(sums.taxes))
    return lines, _stated(desk, sums, extras, has_tax=has_tax)


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


def _total(rng: random.Random, desk: Desk, sums: Sums) -> list[Row | RuleRow]:
    label = rng.choice(desk.country.labels["total"])
    sign = rng.choice((*desk.country.signs, ""))
    amount = money(desk, sums.total, sign)
    is_big = rng.random() < 0.4
    stretch = 1.5 if is_big and len(label) + len(amount) < desk.strip.columns / 1.5 - 4 else 1
    row = Row(
        label, amount, is_bold=rng.random() < 0.8, height=1.5 if is_big else 1, stretch=stretch
    )
    return [rng.choice((RULE, RuleRow("=")))] * rng.choice((0, 1)) + [row]


def _paid(rng: random.Random, desk: Desk, sums: Sums, *, is_cash: bool) -> list[Row]:
    labels = desk.country.labels
    if not is_cash:
        return [Row(rng.choice(labels["card"]), desk.figure(sums.total))]
    step = Decimal(rng.choice((5, 10, 20, 50))) * desk.country.rounded(Decimal(1))
    while step < sums.total / 20:
        step *= 10
    given = (sums.total // step + 1) * step
    return [
        Row(rng.choice(labels["cash"]), desk.figure(given)),
        Row(rng.choice(labels["change"]), desk.figure(given - sums.total)),
    ]


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


def _stated(desk: Desk, sums: Sums, extras: Extras, *, has_tax: bool) -> Stated:
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
    return Stated(str(sums.total), subtotal, str(tax) if has_tax else None, other)
