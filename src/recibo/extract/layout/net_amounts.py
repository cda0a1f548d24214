"""Leaves out the net amounts of items, printed below their discounts: they look like totals."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.model import Line, TextPage
from recibo.extract.text import lexicon, numbers

_TOTALS = ("payable", "total", "subtotal")


def without(text_page: TextPage) -> TextPage:
    """Return a page without the lines of the net amounts above a greater total."""
    lines = text_page.lines
    net = {
        place for place in range(2, len(lines)) if _is_net(*lines[place - 2 : place + 1])
    } - _last_totals(lines)
    if not net:
        return text_page
    return replace(
        text_page, lines=tuple(line for place, line in enumerate(lines) if place not in net)
    )


def _is_net(item: Line, discount: Line, line: Line) -> bool:
    """Return whether three lines are an item, its discount, and the amount less the discount."""
    found = numbers.money(line.text)
    reduced, whole = numbers.money(discount.text), numbers.money(item.text)
    return (
        len(found) == len(reduced) == 1
        and bool(whole)
        and whole[-1] - abs(reduced[0]) == found[0] > 0 != reduced[0]
        and _has(line, *_TOTALS)
        and _has(discount, "discount")
        and not _has(item, *_TOTALS)
    )


def _last_totals(lines: Sequence[Line]) -> set[int]:
    """Return the places of totals that no greater one follows."""
    greatest, last = Decimal(0), set()
    for place in range(len(lines) - 1, -1, -1):
        amounts = numbers.money(lines[place].text)
        if not amounts or not _has(lines[place], *_TOTALS):
            continue
        if amounts[-1] >= greatest:
            last.add(place)
        greatest = max(greatest, amounts[-1])
    return last


def _has(line: Line, *roles: str) -> bool:
    return bool(lexicon.phrasebook(*roles).find(line.text))
