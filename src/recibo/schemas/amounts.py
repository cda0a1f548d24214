"""The amounts of a reading: where they are, and in how many digits."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TypeVar

from pydantic import BaseModel

from recibo.lib import money
from recibo.schemas.receipts import AMOUNTS, Reading

_EntryT = TypeVar("_EntryT", bound=BaseModel)

# The amounts of the entries of lists. Quantities and prices of a unit keep the printed digits.
_LIST_AMOUNTS: Mapping[str, tuple[str, ...]] = {
    "line_items": ("total", "discount"),
    "taxes": ("base", "amount"),
    "payments": ("amount", "tendered"),
}


def respelled(reading: Reading) -> Reading:
    """Return a reading with its amounts in the minor digits of its currency."""

    def amount(text: str | None) -> str | None:
        return None if text is None else money.in_minor_digits(Decimal(text), reading.currency)

    def spelled(shape: _EntryT, names: Iterable[str]) -> _EntryT:
        return shape.model_copy(update={name: amount(getattr(shape, name)) for name in names})

    lists = {
        field: tuple(spelled(one, names) for one in getattr(reading, field))
        for field, names in _LIST_AMOUNTS.items()
    }
    return spelled(reading, AMOUNTS).model_copy(update=lists)


def by_place(reading: Reading) -> Iterator[tuple[str, str]]:
    """Yield the place of each amount in a reading, such as `line_items.0.total`, and its text."""
    yield from ((name, getattr(reading, name)) for name in AMOUNTS if getattr(reading, name))
    for field, names in _LIST_AMOUNTS.items():
        for number, entry in enumerate(getattr(reading, field)):
            for name in names:
                if getattr(entry, name):
                    yield f"{field}.{number}.{name}", getattr(entry, name)
