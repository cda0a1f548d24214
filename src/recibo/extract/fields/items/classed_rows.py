"""Reads the item rows of a DANFE whose headings are misread: each has the class of its product.

Right of the NCM code of eight digits are tax codes, the unit, quantity, price, perhaps a discount,
and the total; left of it are an article code and the name, which may continue below.
"""

import itertools
import re
from collections.abc import Sequence

from recibo.extract.fields.items import arithmetic, item_name
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, LineItem
from recibo.extract.text import ocr_confusions
from recibo.extract.text.numbers import Number

_NCM = re.compile(r"(?<![0-9])[0-9]{8}(?=\s)")
#: The numbers behind the quantity that may be the price and the total.
_NEAR = 4
#: The most rows of a name, and the distance of two of them in heights.
_MOST_ROWS, _WRAPPED = 3, 2.2
_LIKELY = 0.9


def read(rows: Sequence[Row]) -> tuple[Extracted[LineItem], ...]:
    """Return the items in rows with a class, a name and a product."""
    found = []
    for index, row in enumerate(rows):
        match = _NCM.search(row.text)
        product = _product(row, match.end()) if match else None
        if match is None or product is None:
            continue
        upper = item_name.strip_code(row.text[: match.start()])
        parts = [upper, *_below(rows, index, place=match.start() - len(upper))]
        name = item_name.cleaned(" ".join(parts).replace("\t", " "))
        if item_name.is_name(name):
            item = LineItem(ocr_confusions.repaired(name), *product)
            found.append(row.cell.found(item, confidence=_LIKELY))
    return tuple(found)


def _product(row: Row, start: int) -> arithmetic.Product | None:
    """Return the quantity, the price and the total right of a class."""
    # Codes of taxes and of operations have no decimals; three behind a comma may be thousands.
    figures = [
        figure
        for figure in row.numbers
        if figure.start >= start and (figure.decimals or len(figure.readings) > 1)
    ]
    if not figures or figures[0].is_percent:
        return None
    qty, *others = figures[: _NEAR + 1]
    pairs = itertools.combinations(others, 2)
    products = (arithmetic.reconciled(qty, *pair) for pair in pairs if _is_total(pair[1]))
    return next((product for product in products if product), None)


def _is_total(figure: Number) -> bool:
    return figure.is_money and figure.value > 0


def _below(rows: Sequence[Row], index: int, *, place: int) -> list[str]:
    """Return the rows below an item that continue its name: right of its code, without numbers."""
    parts: list[str] = []
    upper, edge = rows[index], rows[index].x_at(place) - rows[index].height
    for row in rows[index + 1 : index + _MOST_ROWS] if place else ():
        distance = row.line.box.y_center - upper.line.box.y_center
        is_near = 0 <= distance < _WRAPPED * row.height and row.line.page == upper.line.page
        is_below = edge < row.line.box.x0 < rows[index].line.box.x_center
        if not (is_near and is_below) or "\t" in row.text:
            break
        parts.append(row.text)
        upper = row
    return parts
