"""Repairs invalid dates in which one digit was misread and only one date is possible."""

import re
from collections.abc import Iterator, Sequence

from recibo.extract.text import dates
from recibo.extract.text.dates import Day
from recibo.extract.text.tables import Order

#: Digits that OCR confuses on thermal receipts.
LOOKALIKES = {"0": "68", "1": "7", "3": "8", "5": "6", "6": "058", "7": "1", "8": "036"}

# Only a text that is surely a date: one separator, and a full year or a time after it.
_SHAPE = re.compile(
    r"(?<![\d/.-])\d{1,2}(?:([/-])\d{1,2}\1(?:\d{4}(?![\d/-])|\d{2}(?=\s\d{1,2}:\d{2}))"
    r"|\.\d{1,2}\.\d{4}(?![\d.]))"
)
_CENTURY, _FULL_YEAR = "20", re.compile(r"\d{4}$")


def repaired(text: str, orders: Sequence[Order] = dates.ORDERS) -> tuple[Day, ...]:
    """Return the repaired dates in `text`; use it only if the document has no valid date."""
    return tuple(_repaired(text, orders))


def _repaired(text: str, orders: Sequence[Order]) -> Iterator[Day]:
    for match in _SHAPE.finditer(text):
        if dates.days(match.group(), orders):
            continue
        possible = {day.date: day for day in _possible(match.group(), orders)}
        if len(possible) == 1:
            date, day = possible.popitem()
            yield Day(date, match.start(), match.end(), day.order)


def _possible(printed: str, orders: Sequence[Order]) -> Iterator[Day]:
    for place, figure in enumerate(printed):
        for other in LOOKALIKES.get(figure, ""):
            changed = printed[:place] + other + printed[place + 1 :]
            # The year comes last.
            yield from (day for day in dates.days(changed, orders) if day.order != "ymd")
    yield from _of_this_century(printed, orders)


def _of_this_century(printed: str, orders: Sequence[Order]) -> Iterator[Day]:
    """Yield the date with its century repaired if one digit of it is wrong: "2925"."""
    year = _FULL_YEAR.search(printed)
    if year and sum(a != b for a, b in zip(year.group()[:2], _CENTURY, strict=True)) == 1:
        changed = printed[: year.start()] + _CENTURY + printed[year.start() + 2 :]
        yield from (day for day in dates.days(changed, orders) if day.order != "ymd")
