"""Finds the line items of a document."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from recibo.extract.brazil.documents import nfse
from recibo.extract.brazil.fiscal import Identified
from recibo.extract.fields.items import (
    arithmetic,
    item_details,
    itemlist,
    joined,
    misaligned,
    sections,
    tables,
    terminators,
)
from recibo.extract.layout import item_rows
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, LineItem, TextPage
from recibo.extract.text.numbers import CENTS

#: Names may be longer by a unit or code, but not by this factor.
_MORE = 1.3

_Items = tuple[Extracted[LineItem], ...]


def find(
    text_pages: Sequence[TextPage], document: Identified | None, *, minor: int = CENTS
) -> tuple[Extracted[LineItem], ...]:
    """Return the line items of a document from top to bottom.

    Args:
        text_pages: Its pages.
        document: The fiscal document on these pages; None if it is not one.
        minor: The decimals of its currency.
    """
    # Fewer decimals than cents do not help to distinguish amounts from quantities.
    lines = item_rows.of_pages(joined.separated(text_pages), minor=max(minor, CENTS))
    if document is None:
        found = _listed(lines, None)
    else:
        found = document.without_sums(document.line_items() or _listed(lines, document))
    return item_details.with_details(found, lines, is_narrow=item_rows.are_narrow(lines))


def _listed(lines: Sequence[Row], document: Identified | None) -> _Items:
    is_narrow = item_rows.are_narrow(lines)
    # With a quantity of one the amount is twice in its row, which proves nothing.
    amounts = Counter(
        value
        for row in lines
        for value in {figure.value for figure in row.numbers if figure.is_money}
    )
    tabled = tables.read(lines, is_narrow=is_narrow)
    is_consistent = _is_summed(tabled, amounts) and all(
        arithmetic.is_product(item.value) for item in tabled
    )
    if is_consistent and not is_narrow:
        return tabled
    if document and document.is_service_note:
        service = nfse.service(document.document)
        return (service,) if service else ()
    listed = _on_narrow_page(lines, amounts) if is_narrow else _on_wide_page(lines)
    return _more_consistent(tabled, listed, amounts, is_narrow=is_narrow)


def _on_narrow_page(lines: Sequence[Row], amounts: Counter[Decimal]) -> _Items:
    """Return the items of a narrow receipt; realigned if a sum proves that amounts are shifted."""
    listed = itemlist.read(lines)
    return listed if _is_summed(listed, amounts) else misaligned.read(lines) or listed


def _on_wide_page(lines: Sequence[Row]) -> _Items:
    """Return rows with amounts on a wide page if they add up to a total.

    Such rows may be anything; only their sum shows that they are items.
    """
    sectioned, listed = sections.read(lines), itemlist.read(lines)
    if _sum(listed) not in terminators.totals(lines) or len(sectioned) > len(listed):
        return sectioned
    return max((listed, sectioned), key=_products)


def _more_consistent(
    tabled: _Items, listed: _Items, amounts: Counter[Decimal], *, is_narrow: bool
) -> _Items:
    """Return the items whose numbers agree better; those of the table if both are equal.

    On a narrow receipt names may extend beyond their column, so there the items with longer names
    are preferred.
    """
    if not tabled or not listed:
        return tabled or listed
    return max(
        (tabled, listed),
        key=lambda items: (
            _is_summed(items, amounts),
            sum(_may_be_discounted(item.value) for item in items),
            _products(items),
            is_narrow and _letters(items) > _MORE * _letters(tabled),
        ),
    )


def _letters(items: _Items) -> int:
    return sum(sum(map(str.isalpha, item.value.name or "")) for item in items)


def _is_summed(items: _Items, amounts: Counter[Decimal]) -> bool:
    """Return whether the sum of the items' totals is printed, apart from a single item itself."""
    return bool(items) and amounts[_sum(items)] > (len(items) == 1)


def _products(items: _Items) -> int:
    return sum(arithmetic.is_product(item.value) for item in items)


def _sum(items: _Items) -> Decimal:
    return sum((item.value.total or Decimal(0) for item in items), Decimal(0))


def _may_be_discounted(item: LineItem) -> bool:
    """Return whether quantity times unit price is the total, or more: tables include discounts."""
    if item.qty is None or item.unit_price is None or item.total is None:
        return False
    return arithmetic.is_product(item) or 0 < item.total < item.qty * item.unit_price
