"""The amounts of a reading: where they are, and in how many digits."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TypeVar

from pydantic import BaseModel

from recibo.errors import Detail, ValidationFailed
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


def check_decimals(reading: Reading, before: Reading, given: Collection[str]) -> None:
    """Refuse a new amount with more decimals than its currency; what was read may have them.

    With a new currency an amount must fit that, too, if it fitted the old one.

    Args:
        reading: The corrected reading.
        before: The reading before it.
        given: The names of the corrected fields.

    Raises:
        ValidationFailed: its details name the places.
    """
    if reading.currency is None:
        return
    digits = money.minor_digits(reading.currency)
    known = _kept(before, reading.currency)
    problem = f"must have at most {digits} decimals in {reading.currency}"
    wrong = [
        Detail(place, problem)
        for place, text in by_place(reading)
        if (place.partition(".")[0] in given or "currency" in given)
        and text not in known
        and round(Decimal(text), digits) != Decimal(text)
    ]
    if wrong:
        message = "; ".join(f"{one.field}: {one.message}" for one in wrong)
        raise ValidationFailed(message, details=tuple(wrong))


def _kept(before: Reading, currency: str) -> set[str]:
    """Return the amounts of a reading that may have more decimals than a currency."""
    texts = {text for _, text in by_place(before)}
    if before.currency is None or before.currency == currency:
        return texts
    digits = money.minor_digits(before.currency)
    return {text for text in texts if round(Decimal(text), digits) != Decimal(text)}
