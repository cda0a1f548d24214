"""Invoices on A4 or US letter: heads, a table over one page or more, and sums."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from training.receipts import baskets
from training.receipts.baskets import NOTHING, Bought, Group
from training.receipts.countries import Country
from training.receipts.faces import Case, Face
from training.receipts.moments import Moment
from training.receipts.prints import (
    A4,
    LETTER,
    MM,
    Anchor,
    Fill,
    Mark,
    Page,
    Print,
    Rule,
    Text,
)
from training.receipts.sellers import Seller

_MARGIN = 18 * MM
_FOOT = 22 * MM
# The gap between descriptions and adjacent columns.
_GUTTER = 2 * MM
# The height of the sums and the foot below the table.
_SUMS = 62 * MM
_US_LETTER = {"en-US", "en-CA", "es-MX"}
# The columns of invoices, by the labels of their headings.
_TABLES = (
    ("description", "quantity", "unit_price", "amount"),
    ("place", "description", "quantity", "unit_price", "amount"),
    ("quantity", "description", "unit_price", "amount"),
    ("place", "description", "quantity", "unit_price", "rate", "amount"),
    ("description", "quantity", "unit_price", "rate", "amount"),
    ("description", "amount"),
)
# The columns of invoices that print the tax of each item; some countries print it as two halves.
_TAXED = (
    ("description", "quantity", "unit_price", "net", "rate", "tax", "gross"),
    ("place", "description", "quantity", "net", "rate", "tax", "gross"),
)
_HALVED = (
    ("description", "quantity", "net", "rate 1", "tax 1", "rate 2", "tax 2", "gross"),
    ("description", "quantity", "unit_price", "net", "tax 1", "tax 2", "gross"),
)
# Shares of the table's width; the description has the rest.
_WIDTHS = {
    "place": 0.06,
    "quantity": 0.11,
    "unit_price": 0.16,
    "rate": 0.09,
    "amount": 0.17,
    "net": 0.13,
    "tax": 0.11,
    "gross": 0.13,
    "tax 1": 0.1,
    "tax 2": 0.1,
    "rate 1": 0.07,
    "rate 2": 0.07,
}


@dataclass(frozen=True, slots=True)
class Invoice:
    """The contents of an invoice."""

    country: Country
    seller: Seller
    buyer: tuple[str, ...]
    when: Moment
    number: str
    items: tuple[Bought, ...]
    taxes: tuple[Group, ...]
    #: Whether the prices of the table include the tax.
    is_gross: bool
    #: Whether the table shows the tax of each item.
    is_taxed: bool = False

    @property
    def net(self) -> Decimal:
        """The sum without tax."""
        return sum((group.net for group in self.taxes), NOTHING)

    @property
    def tax(self) -> Decimal:
        """The tax of all rates."""
        return sum((group.tax for group in self.taxes), NOTHING)

    @property
    def total(self) -> Decimal:
        """The amount to pay."""
        return self.net + self.tax

    @property
    def has_tax(self) -> bool:
        """Whether a row is about tax."""
        return any(group.rate for group in self.taxes)


@dataclass(frozen=True, slots=True)
class Style:
    """The style of an invoice."""

    face: Face
    size: float
    page_size: tuple[float, float]
    columns: tuple[str, ...]
    is_ruled: bool
    is_striped: bool
    #: Whether the seller is at the right, and the buyer at the left.
    is_seller_right: bool
    #: Printed before or after the amounts of the table and of the sums; mostly empty.
    sign: str


def style(rng: random.Random, country: Country, case: Case, *, is_taxed: bool = False) -> Style:
    """Return a style of the country."""
    tables = [names for names in _TABLES if country.is_tax_included or "rate" not in names]
    if is_taxed:
        tables = [*(_HALVED if country.halves else _TAXED)]
    return Style(
        face=rng.choice(case.proportional),
        size=rng.choice((8, 8.5, 9)),
        page_size=LETTER if country.tag in _US_LETTER else A4,
        columns=rng.choice(tables),
        is_ruled=rng.random() < 0.5,
        is_striped=rng.random() < 0.4,
        is_seller_right=rng.random() < 0.4,
        sign=rng.choice(("", "", country.signs[0])),
    )


def print_out(rng: random.Random, content: Invoice, style: Style) -> Print:
    """Return all pages, numbered if there is more than one."""
    labels = _Labels(rng, content.country)
    sheets = [_Sheet(style)]
    y = _head(sheets[0], content, labels, rng)
    heads = {name: _heading(name, content.country, labels) for name in style.columns}
    y = _heads(sheets[-1], heads, y)
    for place, bought in enumerate(content.items, 1):
        if y > style.page_size[1] - _FOOT - 12 * MM:
            sheets.append(_Sheet(style))
            y = _heads(sheets[-1], heads, _MARGIN)
        y = _row(sheets[-1], content.country, bought, place, y)
    sheets[-1].rule(y - style.size)
    if y > style.page_size[1] - _SUMS:
        sheets.append(_Sheet(style))
        y = _MARGIN
    _sums(sheets[-1], content, labels, y + 3 * MM)
    if len(sheets) > 1:
        _number_pages(sheets, labels("page"))
    return Print(tuple(sheet.page() for sheet in sheets))


def _heading(name: str, country: Country, labels: "_Spelling") -> str:
    column, _, half = name.partition(" ")
    if column not in {"rate", "tax"}:
        return labels(name)
    if column == "rate" and not half:
        return labels("rate")
    tax = country.halves[int(half) - 1] if half else country.taxes[0]
    return f"{tax} %" if column == "rate" else tax


class _Spelling(Protocol):
    """Chooses a spelling of each label."""

    def __call__(self, name: str, /) -> str: ...


@dataclass(frozen=True, slots=True)
class _Labels:
    rng: random.Random
    country: Country

    def __call__(self, name: str) -> str:
        return self.rng.choice(self.country.labels[name])


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A page that is being filled."""

    style: Style
    marks: list[Mark] = field(default_factory=list)

    @property
    def right(self) -> float:
        """The right margin."""
        return self.style.page_size[0] - _MARGIN

    def text(
        self, words: str, at: tuple[float, float], anchor: Anchor = "left", *, bold: float = 0
    ) -> None:
        """Write a text; `bold` is its relative size if it is bold."""
        size = self.style.size * (bold or 1)
        self.marks.append(
            Text(words, *at, size=size, face=self.style.face, is_bold=bool(bold), anchor=anchor)
        )

    def rule(self, y: float, left: float = _MARGIN) -> None:
        """Draw a line across the page."""
        self.marks.append(Rule(left, y, self.right, y))

    def page(self) -> Page:
        """Return the page."""
        return Page(*self.style.page_size, tuple(self.marks))


def _head(sheet: _Sheet, content: Invoice, labels: _Spelling, rng: random.Random) -> float:
    """Write seller, buyer, number and date; return where the table may begin."""
    seller, style = content.seller, sheet.style
    pitch = style.size * 1.4
    left, right = _MARGIN, sheet.right - 62 * MM
    if style.is_seller_right:
        left, right = right, left
    lines = [seller.street, seller.city, f"{labels('phone')} {seller.phone}"]
    if seller.tax_id:
        lines.append(f"{seller.tax_id[0]} {seller.tax_id[1]}")
    # Bold letters are wider than those that were measured.
    names = _wrapped(style, seller.name, 40 * MM if style.is_seller_right else 60 * MM)
    for place, name in enumerate(names):
        sheet.text(name, (left, _MARGIN + 10 + 1.3 * pitch * place), bold=1.3)
    below = _MARGIN + 12 + 1.3 * pitch * (len(names) - 1)
    for place, line in enumerate(lines, 1):
        sheet.text(line, (left, below + pitch * place))
    top = _MARGIN + 34 * MM
    sheet.text(labels("bill_to"), (_MARGIN, top), bold=1)
    for place, line in enumerate(content.buyer, 1):
        sheet.text(line, (_MARGIN, top + pitch * place))
    sheet.text(labels("invoice"), (right, _MARGIN + 12), bold=1.8)
    facts = [
        (labels("invoice_number"), content.number),
        (labels("invoice_date"), content.when.date),
        (labels("customer_number"), str(rng.randint(10000, 99999))),
    ]
    _facts(sheet, facts[: rng.choice((2, 3, 3))], top, is_apart=rng.random() < 0.6)
    return top + pitch * 5 + 6 * MM


def _facts(sheet: _Sheet, facts: Sequence[tuple[str, str]], top: float, *, is_apart: bool) -> None:
    """Write labels with their values: at the right margin, or after a colon."""
    left = sheet.right - 62 * MM
    for place, (label, value) in enumerate(facts):
        y = top + sheet.style.size * 1.5 * place
        if is_apart:
            sheet.text(label, (left, y))
            sheet.text(value, (sheet.right, y), "right")
        else:
            sheet.text(f"{label}: {value}", (left, y))


def _places(sheet: _Sheet) -> dict[str, tuple[float, float]]:
    """Return the left and the right end of each column."""
    width = sheet.right - _MARGIN
    columns = sheet.style.columns
    spare = 1 - sum(_WIDTHS.get(name, 0) for name in columns)
    places, left = {}, _MARGIN
    for name in columns:
        right = left + width * _WIDTHS.get(name, spare)
        # Numbers are right-aligned, so the next column needs a gap.
        gutter = _GUTTER if name == "description" and left > _MARGIN else 0
        places[name] = (left + gutter, right)
        left = right
    return places


def _heads(sheet: _Sheet, heads: dict[str, str], y: float) -> float:
    if sheet.style.is_striped:
        top = y - sheet.style.size * 1.1
        sheet.marks.append(Fill(_MARGIN, top, sheet.right - _MARGIN, sheet.style.size * 1.6))
    for name, (left, right) in _places(sheet).items():
        is_text = name in {"description", "place"}
        sheet.text(
            heads[name], (left if is_text else right, y), "left" if is_text else "right", bold=1
        )
    sheet.rule(y + sheet.style.size * 0.6)
    return y + sheet.style.size * 2.2


def _row(sheet: _Sheet, country: Country, bought: Bought, place: int, y: float) -> float:
    """Write an item, its name broken into rows; return where the next one begins."""
    places, size = _places(sheet), sheet.style.size
    values = {
        "place": str(place),
        "quantity": f"{bought.qty}",
        "unit_price": _money(sheet.style, country, bought.price),
        "rate": _percent(country, bought.rate),
        "amount": _money(sheet.style, country, bought.total),
        **_taxes_of(sheet.style, country, bought),
    }
    for name, (left, right) in places.items():
        if name == "place":
            sheet.text(values[name], (left, y))
        elif name != "description":
            sheet.text(values[name], (right, y), "right")
    left, right = places["description"]
    lines = _wrapped(sheet.style, bought.name, right - left - _GUTTER)
    for number, line in enumerate(lines):
        sheet.text(line, (left, y + number * size * 1.25))
    y += (len(lines) - 1) * size * 1.25
    if sheet.style.is_ruled:
        sheet.rule(y + size * 0.5)
    return y + size * 1.8


def _percent(country: Country, rate: Decimal) -> str:
    return f"{rate.normalize():f}%".replace(".", country.decimal)


def _taxes_of(style: Style, country: Country, bought: Bought) -> dict[str, str]:
    """Return the columns with the tax of an item, whole and in halves."""
    tax = baskets.tax_on(country, bought)
    half = _money(style, country, tax / 2 if country.halves else tax)
    rate = _percent(country, bought.rate / 2)
    return {
        "net": _money(style, country, bought.total),
        "tax": _money(style, country, tax),
        "gross": _money(style, country, bought.total + tax),
        "tax 1": half,
        "tax 2": half,
        "rate 1": rate,
        "rate 2": rate,
    }


def _wrapped(style: Style, text: str, width: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and style.face.width(longer, style.size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _sums(sheet: _Sheet, content: Invoice, labels: _Spelling, y: float) -> None:
    """Write net, tax and total at the right, and how to pay below."""
    country, style = content.country, sheet.style
    name = country.taxes[0]
    rows = [(labels("net_total"), content.net)]
    if content.is_taxed:
        rows.append((name.removesuffix(" 13%"), content.tax))
    for group in content.taxes:
        if group.rate and not content.is_taxed:
            rate = f"{group.rate.normalize():f}".replace(".", country.decimal)
            rows += _named_taxes(country, group, f"{name.removesuffix(' 13%')} {rate}%")
    rows.append((labels("total"), content.total))
    left = sheet.right - 74 * MM
    for place, (label, amount) in enumerate(rows):
        is_last = place == len(rows) - 1
        if is_last:
            sheet.rule(y - style.size * 1.1, left)
        how = 1.15 if is_last else 0
        sheet.text(label, (left, y), bold=how)
        shown = _money(style, country, amount)
        if is_last and not style.sign:
            shown = f"{shown} {country.currency}"
        sheet.text(shown, (sheet.right, y), "right", bold=how)
        y += style.size * 1.7
    sheet.text(labels("bank"), (_MARGIN, y + 8 * MM))


def _named_taxes(country: Country, group: Group, name: str) -> list[tuple[str, Decimal]]:
    if not country.halves:
        return [(name, group.tax)]
    first = country.rounded(group.tax / 2)
    rate = (group.rate / 2).normalize()
    names = [f"{half} {rate:f}%" for half in country.halves]
    return list(zip(names, (first, group.tax - first), strict=True))


def _money(style: Style, country: Country, amount: Decimal) -> str:
    figure = country.figure(amount)
    if not style.sign:
        return figure
    if country.is_sign_after:
        return f"{figure} {style.sign}"
    return f"{style.sign}{figure}" if len(style.sign) == 1 else f"{style.sign} {figure}"


def _number_pages(sheets: Sequence[_Sheet], pattern: str) -> None:
    for number, sheet in enumerate(sheets, 1):
        foot = (sheet.right, sheet.style.page_size[1] - 10 * MM)
        sheet.text(pattern.format(number, len(sheets)), foot, "right")
