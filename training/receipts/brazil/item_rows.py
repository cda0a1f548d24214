"""The layouts of item rows on Brazilian tills."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from training.receipts.brazil.sales import Sold, brazilian
from training.receipts.brazil.tapes import Tape
from training.receipts.strips import Cell

#: The widths of the columns of codes and quantities, in characters.
_CODE_ROOM, _QTY_ROOM = 8, 9

#: Prints the items below their headings.
Layout = Callable[["Setting", Sequence[Sold]], None]


@dataclass(frozen=True, slots=True)
class Setting:
    """The receipt to print items on, and their format."""

    tape: Tape
    rng: random.Random
    #: The decimals of whole quantities.
    qty_places: int
    #: The label of a discount on an item.
    discount: str
    #: Whether the amount of an item already includes its discount.
    is_net: bool = False

    def qty(self, item: Sold) -> str:
        """Return the quantity as printed, with all its decimals."""
        return brazilian(item.qty, max(self.qty_places, _places(item.qty)))

    def price(self, item: Sold) -> str:
        """Return the unit price with all its decimals, at least two."""
        return brazilian(item.unit_price, max(2, _places(item.unit_price)))

    def changes(self, item: Sold) -> None:
        """Print the discount or surcharge of an item."""
        if item.discount:
            self.tape.pair(f"   {self.discount}", f"-{brazilian(item.discount)}")
        if item.surcharge:
            self.tape.pair("   acréscimo sobre item", f"+{brazilian(item.surcharge)}")


def layouts(tape: Tape) -> dict[str, Layout]:
    """Return the layouts that fit this width, by name."""
    fewest = {
        "two rows": (_two_rows, 0),
        "name first": (_name_first, 40),
        "product": (_product, 48),
        "compact": (_compact, 48),
        "columns": (_columns, 56),
        "numbered columns": (_numbered_columns, 56),
    }
    return {name: layout for name, (layout, letters) in fewest.items() if letters <= tape.columns}


def _columns(setting: Setting, items: Sequence[Sold]) -> None:
    """Print six columns, the description cut to its width."""
    _six(setting, "Código", "Descrição", ("Qtde", "UN", "Vl Unit", "Vl Total"))
    for item in items:
        figures = (setting.qty(item), item.unit, setting.price(item), brazilian(item.gross))
        _six(setting, item.code, item.name, figures)
        setting.changes(item)


def _six(setting: Setting, code: str, name: str, figures: Sequence[str]) -> None:
    """Print a row of six columns; the rest of a long description is below."""
    room = setting.tape.columns - 23 - _QTY_ROOM - _CODE_ROOM - 2
    head, rest = _tax_breakdown(name, room)
    columns = setting.tape.columns
    ends = (columns - 23, columns - 19, columns - 10, columns)
    cells = [Cell(text, end, "right") for text, end in zip(figures, ends, strict=True)]
    setting.tape.cells([Cell(code[-_CODE_ROOM:], 0), Cell(head, _CODE_ROOM + 1), *cells])
    if rest:
        setting.tape.cells([Cell(rest, _CODE_ROOM + 1)])


def _numbered_columns(setting: Setting, items: Sequence[Sold]) -> None:
    """Print seven columns; the first is an index."""
    tape = setting.tape
    tape.left("# COD DESC QTD UN VL UN R$ (VLTR R$)* VL ITEM R$")
    tape.rule()
    for count, item in enumerate(items, 1):
        left = f"{count:03d} {item.code[-6:]} {item.name}"
        right = f"{setting.qty(item)} {item.unit} x {setting.price(item)} {brazilian(item.gross)}"
        tape.left(left)
        tape.pair("", right)
        setting.changes(item)


def _two_rows(setting: Setting, items: Sequence[Sold]) -> None:
    """Print code and description, below them quantity, price and amount."""
    tape = setting.tape
    tape.pair("ITEM CODIGO DESCRICAO", "")
    tape.pair("   QTD. UN. VL UNIT R$", "VL ITEM R$")
    tape.rule()
    for count, item in enumerate(items, 1):
        tape.left(f"{count:03d} {item.code} {item.name}")
        amount = f"    {setting.qty(item)} {item.unit} X {setting.price(item)}"
        tape.pair(amount, brazilian(item.gross))
        setting.changes(item)


def _product(setting: Setting, items: Sequence[Sold]) -> None:
    """Print the description, below it `qty UN x price = amount`."""
    tape = setting.tape
    if setting.rng.random() < 0.6:
        tape.left("Descrição Qtde UN Vl.Unit Vl.Total")
    for item in items:
        tape.left(f"{item.code} - {item.name}")
        tape.pair(
            f"Qtde.:{setting.qty(item)} UN: {item.unit} Vl. Unit.: {setting.price(item)}",
            brazilian(item.gross),
        )
        setting.changes(item)


def _name_first(setting: Setting, items: Sequence[Sold]) -> None:
    """Print the description, below it the code and the numbers."""
    tape = setting.tape
    tape.pair("DESCRIÇÃO", "")
    tape.pair("CÓDIGO    QTD UN   VL.UNIT", "VL.TOTAL")
    for item in items:
        tape.left(item.name)
        middle = f"{setting.qty(item)} {item.unit} {setting.price(item)}"
        tape.pair(f"{item.code}   {middle}", brazilian(item.gross))
        setting.changes(item)


def _compact(setting: Setting, items: Sequence[Sold]) -> None:
    """Print all on one row if it fits."""
    tape = setting.tape
    tape.left("#|COD|DESC|QTD|UN|VL UNIT R$|VL ITEM R$")
    for count, item in enumerate(items, 1):
        left = f"{count} {item.code[-5:]} {item.name} {setting.qty(item)}{item.unit}"
        tape.pair(f"{left} x {setting.price(item)}", brazilian(item.gross))
        setting.changes(item)


def _tax_breakdown(text: str, room: int) -> tuple[str, str]:
    """Split a text at the last space within a width."""
    if len(text) <= room:
        return text, ""
    place = text.rfind(" ", 0, room + 1)
    place = place if place > 0 else room
    return text[:place].strip(), text[place:].strip()


def _places(figure: Decimal) -> int:
    return max(0, -int(figure.normalize().as_tuple().exponent))
