"""The layouts of items on strips, and the values that each one prints."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from training.receipts.baskets import Bought
from training.receipts.countries import Country
from training.receipts.strips import Cell, Row, Strip
from training.receipts.truth import TruthItem

#: The width of an amount and its tax code.
_AMOUNT = 10


@dataclass(frozen=True, slots=True)
class Listed:
    """An item as printed rows and as truth; rows that are no item have none."""

    rows: tuple[Row, ...]
    truth: TruthItem | None


@dataclass(frozen=True, slots=True)
class Desk:
    """The seller's country and how its till prints numbers."""

    country: Country
    strip: Strip
    #: Printed before every amount of the list; mostly empty.
    sign: str = ""
    #: Rate to the letter printed after the amounts taxed at it; empty without letters.
    letters: tuple[tuple[Decimal, str], ...] = ()
    #: Printed between quantity and price.
    times: str = " x "
    #: Whether long names continue in a second row, instead of being cut.
    is_wrapping: bool = False

    def amount(self, bought: Bought) -> str:
        """Return the total of an item, as printed."""
        letter = dict(self.letters).get(bought.rate, "")
        return f"{self.sign}{self.figure(bought.total)} {letter}".rstrip()

    def figure(self, amount: Decimal) -> str:
        """Return an amount without a sign."""
        return self.country.figure(amount)

    def quantity(self, bought: Bought) -> str:
        """Return the quantity; a weight with three decimals."""
        if bought.unit:
            return f"{bought.qty:.3f}".replace(".", self.country.decimal)
        return f"{bought.qty:.0f}"

    def names(self, name: str, columns: float) -> tuple[str, ...]:
        """Return the rows of a name."""
        if self.is_wrapping:
            return self.strip.wrapped(name, columns)
        return (self.strip.cut(name, columns),)


Way = Callable[[Desk, Bought], Listed]


def listed(desk: Desk, way: str, basket: Iterable[Bought]) -> tuple[Listed, ...]:
    """Return the items one below the other."""
    return tuple(WAYS[way](desk, bought) for bought in basket)


def heading(desk: Desk, way: str, rng: random.Random) -> tuple[Row, ...]:
    """Return the heading row; none for a layout without columns."""
    if way not in IN_COLUMNS:
        return ()
    right, labels = desk.strip.columns, desk.country.labels
    name, count, price, amount = (
        desk.strip.cut(rng.choice(labels[label]), room)
        for label, room in (("description", 11), ("quantity", 5), ("unit_price", 8), ("amount", 9))
    )
    figures = (Cell(price, right - 11, "right"), Cell(amount, right, "right"))
    if way == "name first":
        return (Row(name, cells=(Cell(count, right - 21, "right"), *figures)),)
    return (Row(cells=(Cell(count, 0), Cell(name, 6), *figures)),)


def truth(bought: Bought, names: Sequence[str], shown: str) -> TruthItem:
    """Return the truth, given what is printed: `q` the quantity, `p` the price."""
    places = 3 if bought.unit else 0
    return TruthItem(
        " ".join(names),
        f"{bought.qty:.{places}f}" if "q" in shown else None,
        str(bought.price) if "p" in shown else None,
        str(bought.total),
    )


def _in_a_row(desk: Desk, bought: Bought) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """Return the name with the amount at its right, in the last of its rows."""
    names = desk.names(bought.name, desk.strip.columns - _AMOUNT - 2)
    *first, last = names
    return (*(Row(name) for name in first), Row(last, desk.amount(bought))), names


def times(desk: Desk, bought: Bought, indent: str = "   ") -> str:
    """Return the quantity and the price, as in `2 x 1,15`."""
    unit = f" {bought.unit}" if bought.unit else ""
    per = f"/{bought.unit}" if bought.unit else ""
    price = f"{desk.figure(bought.price)}{per}"
    return f"{indent}{desk.quantity(bought)}{unit}{desk.times}{desk.sign}{price}"


def _below(desk: Desk, bought: Bought) -> Listed:
    """`NAME  3,45`, and quantity and price below it unless the quantity is one."""
    rows, names = _in_a_row(desk, bought)
    if bought.qty == 1:
        return Listed(rows, truth(bought, names, ""))
    return Listed((*rows, Row(times(desk, bought))), truth(bought, names, "qp"))


def _above(desk: Desk, bought: Bought) -> Listed:
    """Quantity and price unless the quantity is one, and `NAME  3,45` below them."""
    rows, names = _in_a_row(desk, bought)
    if bought.qty == 1:
        return Listed(rows, truth(bought, names, ""))
    return Listed((Row(times(desk, bought)), *rows), truth(bought, names, "qp"))


def _two_rows(desk: Desk, bought: Bought) -> Listed:
    """The name, then `2 x 1,15   2,30`."""
    names = desk.names(bought.name, desk.strip.columns)
    figures = Row(times(desk, bought), desk.amount(bought))
    rows = (*(Row(name) for name in names), figures)
    return Listed(rows, truth(bought, names, "qp"))


def _counted(desk: Desk, bought: Bought) -> Listed:
    """`2 NAME  2,30`, without a unit price."""
    count = desk.quantity(bought)
    names = desk.names(bought.name, desk.strip.columns - _AMOUNT - 6)
    first, *more = names
    rows = [Row(f"{count:<2} {first}", desk.amount(bought))]
    rows += [Row(f"   {name}") for name in more]
    return Listed(tuple(rows), truth(bought, names, "q"))


def _counted_at(desk: Desk, bought: Bought) -> Listed:
    """`2 x NAME  2,30`, and the unit price below if the quantity is more than one."""
    count = desk.quantity(bought)
    names = desk.names(bought.name, desk.strip.columns - _AMOUNT - 8)
    first, *more = names
    rows = [Row(f"{count} x {first}", desk.amount(bought))]
    rows += [Row(f"    {name}") for name in more]
    if bought.qty == 1:
        return Listed(tuple(rows), truth(bought, names, "q"))
    rows.append(Row(f"    @ {desk.sign}{desk.figure(bought.price)}"))
    return Listed(tuple(rows), truth(bought, names, "qp"))


def _name_first(desk: Desk, bought: Bought) -> Listed:
    """Columns: name, quantity, price, amount."""
    names = desk.names(bought.name, desk.strip.columns - 27)
    first, *more = names
    cells = _figures(desk, bought)
    rows = (Row(first, cells=cells), *(Row(name) for name in more))
    return Listed(rows, truth(bought, names, "qp"))


def _quantity_first(desk: Desk, bought: Bought) -> Listed:
    """Columns: quantity, name, price, amount."""
    names = desk.names(bought.name, desk.strip.columns - 27)
    first, *more = names
    count, *figures = _figures(desk, bought)
    cells = (Cell(count.text, 0), Cell(first, 6), *figures)
    rows = (Row(cells=cells), *(Row(cells=(Cell(name, 6),)) for name in more))
    return Listed(rows, truth(bought, names, "qp"))


def _figures(desk: Desk, bought: Bought) -> tuple[Cell, ...]:
    right = desk.strip.columns
    return (
        Cell(desk.quantity(bought), right - 21, "right"),
        Cell(desk.figure(bought.price), right - 11, "right"),
        Cell(desk.amount(bought), right, "right"),
    )


def _coded(desk: Desk, bought: Bought) -> Listed:
    """An article number before the name, then quantity, price and amount."""
    # The same name has the same number on every receipt.
    code = 1000 + sum(ord(sign) * place for place, sign in enumerate(bought.name, 1)) % 9000
    names = desk.names(bought.name, desk.strip.columns - 5)
    figures = Row(times(desk, bought, "     "), desk.amount(bought))
    first, *more = names
    rows = (Row(f"{code} {first}"), *(Row(f"     {name}") for name in more), figures)
    return Listed(rows, truth(bought, names, "qp"))


#: The layouts by name.
WAYS: dict[str, Way] = {
    "below": _below,
    "above": _above,
    "two rows": _two_rows,
    "counted": _counted,
    "counted at": _counted_at,
    "name first": _name_first,
    "quantity first": _quantity_first,
    "coded": _coded,
}

#: The layouts that need room for columns.
IN_COLUMNS = ("name first", "quantity first")
