"""The order of the inbox: the parameter `sort` of its address, and the links that change it."""

from collections.abc import Mapping
from dataclasses import dataclass

from recibo.portal.translations import LazyText, lazy_gettext, lazy_pgettext
from recibo.services.reading.receipt_lists import Filters
from recibo.services.reading.sorted_lists import Order, Sort

#: The order of lists that nobody sorted.
NEWEST = Order(Sort.UPLOADED, is_descending=True)
# What people look for first: new, large, doubtful; names from A to Z.
_DESCENDS_FIRST = {Sort.UPLOADED, Sort.ISSUED, Sort.TOTAL}
_NAMES: Mapping[Sort, LazyText] = {
    Sort.UPLOADED: lazy_gettext("Upload"),
    Sort.ISSUED: lazy_gettext("Date of issue"),
    Sort.MERCHANT: lazy_gettext("Merchant"),
    Sort.CONFIDENCE: lazy_gettext("Confidence"),
    Sort.TOTAL: lazy_gettext("Total"),
}
_DIRECTIONS: Mapping[Sort, tuple[LazyText, LazyText]] = {
    Sort.UPLOADED: (lazy_gettext("oldest first"), lazy_gettext("newest first")),
    Sort.ISSUED: (lazy_gettext("oldest first"), lazy_gettext("newest first")),
    Sort.MERCHANT: (lazy_gettext("A to Z"), lazy_gettext("Z to A")),
    Sort.CONFIDENCE: (lazy_gettext("lowest first"), lazy_gettext("highest first")),
    Sort.TOTAL: (
        lazy_pgettext("totals", "smallest first"),
        lazy_pgettext("totals", "largest first"),
    ),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A link that sorts the list."""

    order: Order
    #: The values of the address that differ.
    values: Mapping[str, str]
    #: The current direction of a heading, for `aria-sort`; empty if another one sorts.
    state: str

    @property
    def name(self) -> LazyText:
        """What is sorted by."""
        return _NAMES[self.order.sort]

    @property
    def direction(self) -> LazyText:
        """Which receipts come first."""
        return direction(self.order)


def parse(given: str) -> Order:
    """Return the order that an address names; the newest first if it names none."""
    try:
        sort = Sort(given.removeprefix("-"))
    except ValueError:
        return NEWEST
    return Order(sort, given.startswith("-"))


def applied(given: str, filters: Filters) -> Order:
    """Return the order that an address names, if the filtered receipts can be compared by it."""
    order = parse(given)
    if order.sort is Sort.TOTAL and filters.currency is None:
        return NEWEST
    return order


def spelled(order: Order) -> str:
    """Return the value of the parameter for an order; empty for the newest first."""
    if order == NEWEST:
        return ""
    return f"-{order.sort}" if order.is_descending else order.sort.value


def name(order: Order) -> LazyText:
    """Return what an order sorts by."""
    return _NAMES[order.sort]


def direction(order: Order) -> LazyText:
    """Return which receipts come first."""
    return _DIRECTIONS[order.sort][order.is_descending]


def choices(current: Order, currency: str) -> dict[str, Choice]:
    """Return the links by what they sort; totals are compared within one currency only."""
    found = {}
    for sort in Sort:
        if sort is Sort.TOTAL and not currency:
            continue
        is_current = sort is current.sort
        is_descending = not current.is_descending if is_current else sort in _DESCENDS_FIRST
        order = Order(sort, is_descending)
        values = {"sort": spelled(order)}
        if sort is Sort.TOTAL:
            values["currency"] = currency
        state = "descending" if current.is_descending else "ascending"
        found[sort.value] = Choice(order, values, state if is_current else "")
    return found
