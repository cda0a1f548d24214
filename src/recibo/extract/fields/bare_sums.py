"""Recognizes the sum of the items above the tax if it has no label."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.fields.labelled_amounts import Entry, Role

_FEWEST_ADDED = 2


def with_bare_sums(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the amounts, of which those that are the bare sum of the rows above are subtotals.

    Lunch       12.00
    Coffee       3.00
                15.00
    VAT 20 %     3.00
    """
    last = {entry.row.index: entry for entry in entries}
    found = set(_bare_sums(last))
    return tuple(
        replace(entry, role=Role.SUBTOTAL)
        if entry.row.index in found and entry.role is Role.NONE
        else entry
        for entry in entries
    )


def _bare_sums(last: dict[int, Entry]) -> Iterator[int]:
    """Yield the index of each row that has only the sum of the rows above, and a tax below."""
    for index, entry in last.items():
        following = last.get(index + 1)
        is_bare = entry.role is Role.NONE and entry.amount.is_money and _has_no_words(entry)
        if is_bare and following and following.role is Role.TAX and _is_sum(last, index):
            yield index


def _has_no_words(entry: Entry) -> bool:
    return not any(letter.isalpha() for letter in entry.row.text)


def _is_sum(last: dict[int, Entry], index: int) -> bool:
    """Return whether an amount is the sum of those at the ends of at least two rows above it."""
    added, count = Decimal(0), 0
    for place in range(index - 1, -1, -1):
        above = last.get(place)
        if above is None or above.role is not Role.NONE or added > last[index].amount.value:
            return False
        added, count = added + above.amount.value, count + 1
        if added == last[index].amount.value and count >= _FEWEST_ADDED:
            return True
    return False
