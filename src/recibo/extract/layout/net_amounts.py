"""Leaves out the net amounts of items, printed below their discounts: they look like totals."""

from dataclasses import replace
from decimal import Decimal

from recibo.extract.model import Line, TextPage
from recibo.extract.text import lexicon, numbers

_TOTALS = ("payable", "total", "subtotal")


def without(text_page: TextPage) -> TextPage:
    """Return a page without the lines of the net amounts above a greater total."""
    lines = text_page.lines
    net: set[int] = set()
    greatest = Decimal(0)
    for place in range(len(lines) - 1, -1, -1):
        amounts = numbers.money(lines[place].text) if _has(lines[place], *_TOTALS) else []
        if not amounts:
            continue
        is_net = place > 1 and amounts == [_less_discount(*lines[place - 2 : place])]
        if is_net and amounts[0] < greatest:
            net.add(place)
        greatest = max(greatest, amounts[-1])
    kept = tuple(line for place, line in enumerate(lines) if place not in net)
    return replace(text_page, lines=kept) if net else text_page


def _less_discount(item: Line, line: Line) -> Decimal | None:
    """Return the amount of an item less the discount in the next line; None for other lines."""
    if not _has(line, "discount") or _has(item, *_TOTALS):
        return None
    whole, discounts = numbers.money(item.text), numbers.money(line.text)
    is_reduced = bool(whole) and len(discounts) == 1 and bool(discounts[0])
    return whole[-1] - abs(discounts[0]) if is_reduced else None


def _has(line: Line, *roles: str) -> bool:
    return bool(lexicon.phrasebook(*roles).find(line.text))
