"""Finds the sale of one measured quantity whose numbers are in rows of their own, as fuel is sold.

PRODUCT: UNLEADED
GALLONS     11.382
PRICE/GAL   $2.899
FUEL SALE   $33.00

PUMP  PRODUCT     $/G
 07   UNLD     $3.299
GALLONS    FUEL TOTAL
 11.384    $    37.56
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import product

from recibo.extract.fields.items import arithmetic, details, item_name
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, LineItem
from recibo.extract.text import lexicon
from recibo.extract.text.numbers import Number

#: The price, the amount and the name are at most this many rows from the quantity.
_NEAR = 5
_CONFIDENCE = 0.8
_HALF = Decimal("0.5")
_PAIR = 2
# Volumes have three decimals.
_GROUP = 3
# The number of the pump, and the symbol of the currency.
_AROUND_NAME = " \t$0123456789#.:"


def read(rows: Sequence[Row]) -> tuple[Extracted[LineItem], ...]:
    """Return the only sale of this kind; none if there are several, or no name."""
    found = {index: sale for index, row in enumerate(rows) if (sale := _sale(index, row, rows))}
    if not found:
        return _tabled(rows)
    if len(found) != 1:
        return ()
    index, (qty, price, total, row) = found.popitem()
    name = next(_names(rows[max(0, index - _NEAR) : index + _NEAR]), None)
    if name is None:
        return ()
    item = LineItem(name, qty, price, total)
    return (row.cell.found(item, confidence=_CONFIDENCE),)


def _tabled(rows: Sequence[Row]) -> tuple[Extracted[LineItem], ...]:
    """Return the only sale with its volume and amount in one row, its name and price in another."""
    sales = [
        (row, priced, qty, price)
        for index, row in enumerate(rows)
        if (qty := _volume(row)) is not None
        for priced in rows[max(0, index - _NEAR) : index + _NEAR]
        if priced is not row
        if (price := _price(priced, qty, row.numbers[1].value)) is not None
    ]
    if len(sales) != 1:
        return ()
    row, priced, qty, price = sales[0]
    words = priced.text[: priced.numbers[-1].start].strip(_AROUND_NAME)
    name = item_name.cleaned(words.replace("\t", " "))
    if not item_name.is_name(name):
        return ()
    item = LineItem(name, qty, price, row.numbers[1].value)
    return (row.cell.found(item, confidence=_CONFIDENCE),)


def _volume(row: Row) -> Decimal | None:
    """Return the volume in a row that has nothing else but the amount."""
    if len(row.numbers) != _PAIR or any(map(str.isalpha, row.text)):
        return None
    volume, total = row.numbers
    is_volume = len(row.text[volume.start : volume.end].rpartition(".")[2]) == _GROUP
    return volume.readings[-1] if is_volume and total.is_money else None


def _price(row: Row, qty: Decimal, total: Decimal) -> Decimal | None:
    """Return the last number of a row if it is the price of a quantity."""
    if not row.numbers:
        return None
    price = row.numbers[-1].readings[-1]
    return price if _is_sold_for(total, qty, price) else None


def _sale(
    index: int, row: Row, rows: Sequence[Row]
) -> tuple[Decimal, Decimal, Decimal, Row] | None:
    """Return the quantity in a row with the price and the amount in two of the rows around it."""
    near = [*rows[index + 1 : index + 1 + _NEAR], *rows[max(0, index - _NEAR) : index][::-1]]
    single = [(each, number) for each in near if (number := _only(each)) is not None]
    for quantities, prices, priced in _factors(row, single):
        for (paid, total), price, qty in product(single, prices, quantities):
            if paid is priced or not total.is_money or 1 in (price, qty):
                continue
            if _is_sold_for(total.value, qty, price):
                return qty, price, total.value, paid
    return None


def _is_sold_for(total: Decimal, qty: Decimal, price: Decimal) -> bool:
    """Return whether a quantity costs a total; who buys for a round sum gets a rounded volume."""
    if arithmetic.agrees(qty, price, total):
        return True
    digits = -int(qty.as_tuple().exponent)
    rounding = _HALF.scaleb(-digits)
    return digits > 1 and abs(qty * price - total) <= rounding * price


def _factors(
    row: Row, single: Sequence[tuple[Row, Number]]
) -> Iterator[tuple[Sequence[Decimal], Sequence[Decimal], Row]]:
    """Yield the possible quantities and prices of a row, and the row of the price."""
    if (detail := details.read(row)) is not None:
        yield detail.quantities, detail.prices, row
    quantities = _quantities(row)
    for priced, price in single if quantities else ():
        if not price.is_percent:
            yield quantities, price.readings[::-1], priced


def _quantities(row: Row) -> tuple[Decimal, ...]:
    """Return the possible values of a row with a labelled quantity alone."""
    labelled = details.read_labelled(row)
    if labelled is None or labelled.is_price:
        return ()
    return tuple(value for value in labelled.readings if value > 0)


def _only(row: Row) -> Number | None:
    return row.numbers[0] if len(row.numbers) == 1 else None


def _names(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the name behind a label, `PRODUCT: UNLD`, behind a pump, `PUMP 4  SP95`, or alone."""
    for row in rows:
        name = lexicon.named_product(row.text) or item_name.without_place(row.text)
        if name != row.text and item_name.is_name(name):
            yield item_name.cleaned(name.replace("\t", " "))
    for row in rows:
        if lexicon.is_fuel(row.text):
            yield item_name.cleaned(row.text.replace("\t", " "))
