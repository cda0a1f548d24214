"""Computes the whole tax of a document from the taxes of each rate."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.fields import tax_table, total
from recibo.extract.fields.labelled_amounts import Entry, Role
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.text import dates, lexicon
from recibo.extract.text.folding import fold

_SUMMED = 0.8
_HIGHEST_RATE = Decimal(35)
_HALVES = 2


def tax_sums(rows: Sequence[Row], entries: Sequence[Entry]) -> tuple[Extracted[Decimal], ...]:
    """Return the candidates for the whole tax, best first."""
    tabled = tax_table.longest_table_tax(rows)
    # Below the heading of a column may be any amount.
    labelled = total.labelled(sorted(entries, key=lambda one: not _name(one)), Role.TAX)
    of_several = [run for run in tabled if "\n" in run.text]
    # The zero rate is often the first of several.
    nothing = [tax for tax in labelled if not tax.value]
    something = [tax for tax in labelled if tax.value]
    return (
        *_by_day(entries),
        *_by_rate(entries),
        *_of_halves(entries),
        *of_several,
        *something,
        *tabled,
        *nothing,
    )


def _by_rate(entries: Sequence[Entry]) -> Iterator[Extracted[Decimal]]:
    """Yield the sum of taxes on separate rows, each with its rate."""
    parts: list[Entry] = []
    rates: dict[tuple[str, Decimal], Decimal] = {}
    for entry in entries:
        rate = _rate(entry)
        if rate is None or _is_repeated(entry, rate, parts):
            continue
        # Two amounts of one tax with one rate are not a list of rates.
        if rates.setdefault((_name(entry), rate), entry.amount.value) != entry.amount.value:
            return
        parts.append(entry)
    if len(parts) > 1:
        text = "\n".join(part.row.text for part in parts)
        value = sum((part.amount.value for part in parts), Decimal(0))
        yield replace(parts[0].found(_SUMMED), value=value, text=text)


def _of_halves(entries: Sequence[Entry]) -> Iterator[Extracted[Decimal]]:
    """Yield the sum of the two equal halves of a tax without a rate: CGST and SGST."""
    book = lexicon.wordbook("half_tax")
    halves = [
        entry
        for entry in entries
        if entry.role is Role.TAX and entry.amount.value > 0 and book.find(entry.row.text)
    ]
    if len(halves) != _HALVES or any(map(_rate, halves)):
        return
    federal, state = halves
    if federal.amount.value == state.amount.value and _name(federal) != _name(state):
        text = "\n".join(half.row.text for half in halves)
        yield replace(federal.found(_SUMMED), value=2 * federal.amount.value, text=text)


def _by_day(entries: Sequence[Entry]) -> Iterator[Extracted[Decimal]]:
    """Yield the sum of taxes listed by day, if there is no other tax."""
    taxes = [entry for entry in entries if entry.role is Role.TAX and entry.amount.value]
    if len(taxes) > 1 and all(_is_dated(entry) for entry in taxes):
        text = "\n".join(tax.row.text for tax in taxes)
        value = sum((tax.amount.value for tax in taxes), Decimal(0))
        yield replace(taxes[0].found(_SUMMED), value=value, text=text)


def _is_dated(entry: Entry) -> bool:
    """Return whether the row of an entry starts with a date."""
    text = entry.row.text
    return any(not re.search(r"\w", text[: day.start]) for day in dates.days(text))


def _is_repeated(entry: Entry, rate: Decimal, parts: Sequence[Entry]) -> bool:
    """Return whether the tax repeats one of `parts`; only the two halves of a tax are equal."""
    return any(
        part.amount.value == entry.amount.value
        and (_rate(part) != rate or _is_same_name(_name(part), _name(entry)))
        for part in parts
    )


def _is_same_name(one: str, other: str) -> bool:
    """Return whether two labels may be of one tax: `MVA` and `herav MVA`."""
    return one in other or other in one


def _name(entry: Entry) -> str:
    names = (label for label in entry.row.labels if label.kind == Role.TAX)
    return " ".join(fold(entry.row.text[label.start : label.end]) for label in names)


def _rate(entry: Entry) -> Decimal | None:
    """Return the only rate in the row of a tax, or None."""
    if (
        entry.role is not Role.TAX
        or not entry.row.is_money(entry.amount)
        or entry.amount.value <= 0
    ):
        return None
    rates = [amount.value for amount in entry.row.amounts if amount.is_percent]
    return rates[0] if len(rates) == 1 and 0 < rates[0] <= _HIGHEST_RATE else None
