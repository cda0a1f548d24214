"""The goods and services that a document lists."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from recibo.extract.brazil.documents import nfse
from recibo.extract.brazil.fiscal import Opened
from recibo.extract.fields.items import (
    arithmetic,
    itemlist,
    misaligned,
    sections,
    tables,
    terminators,
)
from recibo.extract.layout import item_rows
from recibo.extract.layout.item_rows import Row
from recibo.extract.model import Extracted, LineItem, TextPage
from recibo.extract.text.figures import CENTS

#: Units and codes make names longer too, but not by so much.
_MORE = 1.3

_Items = tuple[Extracted[LineItem], ...]


def find(
    text_pages: Sequence[TextPage], document: Opened | None, *, minor: int = CENTS
) -> tuple[Extracted[LineItem], ...]:
    """Return the line items of a document, top to bottom; none is invented.

    Args:
        text_pages: Its pages.
        document: The same opened as a fiscal document; None if it is none.
        minor: How many decimals its money has.
    """
    if document is None:
        return _listed(text_pages, None, minor)
    own = document.goods()
    return document.without_sums(own or _listed(text_pages, document, minor))


def _listed(text_pages: Sequence[TextPage], document: Opened | None, minor: int) -> _Items:
    # A whole amount may be told apart from a count only by its place: fewer than cents are no help.
    lines = item_rows.of_sheets(text_pages, minor=max(minor, CENTS))
    is_roll = item_rows.are_roll(lines)
    # A price of one stands twice in its row, as unit price and as total, and proves nothing.
    amounts = Counter(
        value
        for row in lines
        for value in {figure.value for figure in row.figures if figure.is_money}
    )
    tabled = tables.read(lines, is_roll=is_roll)
    is_sound = _is_summed(tabled, amounts) and all(
        arithmetic.is_product(item.value) for item in tabled
    )
    if is_sound and not is_roll:
        return tabled
    if document and document.is_service_note:
        service = nfse.service(document.paper)
        return (service,) if service else ()
    listed = _on_roll(lines, amounts) if is_roll else _on_page(lines)
    return _sounder(tabled, listed, amounts, is_roll=is_roll)


def _on_roll(lines: Sequence[Row], amounts: Counter[Decimal]) -> _Items:
    """Return the goods of a roll, set right where a sum proves that its amounts slipped."""
    listed = itemlist.read(lines)
    return listed if _is_summed(listed, amounts) else misaligned.read(lines) or listed


def _on_page(lines: Sequence[Row]) -> _Items:
    """Return rows with amounts on a wide page if they add up to a total.

    There they may be anything; only their sum tells that they are goods.
    """
    outlined, listed = sections.read(lines), itemlist.read(lines)
    if _sum(listed) not in terminators.totals(lines) or len(outlined) > len(listed):
        return outlined
    return max((listed, outlined), key=_products)


def _sounder(tabled: _Items, listed: _Items, amounts: Counter[Decimal], *, is_roll: bool) -> _Items:
    """Return the reading whose figures agree better with one another, the table when in doubt.

    On a roll the columns are no wider than their headings, and names reach beyond: there the
    reading with more of the names goes first.
    """
    if not tabled or not listed:
        return tabled or listed
    return max(
        (tabled, listed),
        key=lambda items: (
            _is_summed(items, amounts),
            sum(_may_be_discounted(item.value) for item in items),
            _products(items),
            is_roll and _letters(items) > _MORE * _letters(tabled),
        ),
    )


def _letters(items: _Items) -> int:
    return sum(sum(map(str.isalpha, item.value.name or "")) for item in items)


def _is_summed(items: _Items, amounts: Counter[Decimal]) -> bool:
    """Tell whether the sum of the items' totals is printed, apart from the only item itself."""
    return bool(items) and amounts[_sum(items)] > (len(items) == 1)


def _products(items: _Items) -> int:
    return sum(arithmetic.is_product(item.value) for item in items)


def _sum(items: _Items) -> Decimal:
    return sum((item.value.total or Decimal(0) for item in items), Decimal(0))


def _may_be_discounted(item: LineItem) -> bool:
    """Tell whether quantity times unit price makes the total, or more: tables print discounts."""
    if item.qty is None or item.unit_price is None or item.total is None:
        return False
    return arithmetic.is_product(item) or 0 < item.total < item.qty * item.unit_price
