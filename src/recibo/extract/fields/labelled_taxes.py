"""Finds the taxes next to a label: `CGST 9% 720.00`, `PTU A 23% 4,66`, `GST included 7.07`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice, permutations

from recibo.extract.candidates import TaxCandidate
from recibo.extract.fields.labelled_amounts import Entry, Role
from recibo.extract.fields.tax_candidates import (
    HIGHEST_RATE,
    NEAR,
    TaxContext,
    agree,
    is_net,
    name_of,
    rates_in,
    tax_labels,
)
from recibo.extract.layout.rows import Row
from recibo.extract.model import TaxLine
from recibo.extract.text import lexicon
from recibo.extract.text.numbers import Number
from recibo.extract.text.phrases import Phrase

_HALF = Decimal("0.5")
_CENT = Decimal("0.01")
# A rate without a percent sign is right next to the name of its tax.
_NEXT_TO = 3
# OCR reads the percent sign as one of these.
_MISREAD_PERCENT = re.compile(
    r"\s?[@(:]?\s?([0-9]{1,2}(?:[.,][0-9]{1,2})?)\s?[8Z\u53f7](?![0-9.,])"
)
_MOST_LINES = 16
# A row of a table without a label has at most so many letters and amounts.
_MOST_LETTERS, _MOST_MONEY = 24, 3
_OTHER_KINDS = frozenset({"charge", "discount", "cash", "card", "change", "rounding"})


@dataclass(frozen=True, slots=True)
class _Proof:
    """A tax and the amounts of its row that agree with it."""

    entry: Entry
    base: Decimal | None
    gross: Decimal | None


def labelled_taxes(context: TaxContext) -> tuple[TaxCandidate, ...]:
    """Return the amounts that may be a tax, in reading order."""
    return tuple(islice(_every(context), _MOST_LINES))


def _every(context: TaxContext) -> Iterator[TaxCandidate]:
    by_row: dict[int, list[Entry]] = {}
    for entry in context.entries:
        if _is_tax(entry) and context.is_money(entry.row, entry.amount):
            by_row.setdefault(entry.row.index, []).append(entry)
    for row in context.rows:
        if row.index in by_row:
            yield from _of_row(row, by_row[row.index], context)
        elif row.amounts and lexicon.wordbook("zero_rated").find(row.text):
            yield from _zero_rated(row, context)
        elif any(row.index + step in by_row for step in range(-NEAR, NEAR + 1)):
            yield from _near(row, context)


def _is_tax(entry: Entry) -> bool:
    """Return whether an amount is a tax; `GST included in total 0.00` is not a total."""
    if entry.role is Role.TAX:
        return True
    return entry.role is Role.TOTAL and not entry.amount.value and bool(tax_labels(entry.row))


def _of_row(row: Row, entries: Sequence[Entry], context: TaxContext) -> Iterator[TaxCandidate]:
    labels = tax_labels(row)
    if not labels:
        name = context.name_above(row)
        for entry in entries:
            yield context.labelled(entry, TaxLine(name, amount=entry.amount.value), below=1)
        return
    by_label: dict[Phrase, list[Entry]] = {}
    for entry in entries:
        before = [label for label in labels if label.start <= entry.amount.start]
        by_label.setdefault((before or labels[:1])[-1], []).append(entry)
    for label, own in by_label.items():
        yield from _of_label(row, label, own, context)


def _of_label(
    row: Row, label: Phrase, entries: Sequence[Entry], context: TaxContext
) -> Iterator[TaxCandidate]:
    name = name_of(row, label)
    if pairs := _rates_and_taxes(row, label, context):
        for rate_before, tax in pairs:
            entry = replace(entries[0], amount=tax)
            line = TaxLine(name, rate_before.value, amount=tax.value)
            yield context.labelled(entry, line)
        return
    rate, is_bare = _rate_of(row, label, context)
    for proof in _proofs(row, entries, rate, context):
        line = TaxLine(name, rate, proof.base, proof.entry.amount.value)
        yield context.labelled(proof.entry, line, proof.gross, proven=1)
        return
    if len(entries) > 1 and not any(entry.amount.value for entry in entries):
        zero = Decimal(0)
        yield context.labelled(entries[-1], TaxLine(name, rate, zero, zero), zero)
        return
    ends = {entries[0].amount.start: entries[0], entries[-1].amount.start: entries[-1]}
    above = context.rows[row.index - 1] if row.index and rate is None else None
    if above and len(ends) == 1 and (taxed := _taxed_above(above, entries[0], context)):
        line = TaxLine(name, taxed[0], taxed[1], entries[0].amount.value)
        yield context.labelled(entries[0], line, proven=1)
        return
    for entry in ends.values():
        line = TaxLine(name, rate, amount=entry.amount.value)
        yield context.labelled(entry, line, bare=is_bare, ambiguous=len(ends) > 1)


def _rates_and_taxes(
    row: Row, label: Phrase, context: TaxContext
) -> Sequence[tuple[Number, Number]]:
    """Return the taxes of several rates after a label, each after its rate: `4% 0,48 21% 4,29`."""
    ends = [other.start for other in tax_labels(row) if other.start > label.start]
    end = min(ends, default=len(row.text))
    after = [amount for amount in row.amounts if label.end <= amount.start < end]
    pairs = list(zip(after[::2], after[1::2], strict=False))
    is_list = len(pairs) > 1 and len(after) == len(pairs) * 2
    if is_list and all(rate.is_percent and context.is_money(row, tax) for rate, tax in pairs):
        return pairs
    return ()


def _taxed_above(above: Row, entry: Entry, context: TaxContext) -> tuple[Decimal, Decimal] | None:
    """Return the rate and the taxable amount in the row above a tax that agree with it."""
    rates, money = rates_in(above), context.money(above)
    if len(rates) != 1 or len(money) != 1 or not entry.amount.value:
        return None
    rate, base = rates[0].value, money[0].value
    return (rate, base) if rate and is_net(base, rate, entry.amount.value) else None


def _rate_of(row: Row, label: Phrase, context: TaxContext) -> tuple[Decimal | None, bool]:
    """Return the rate of a label in its row, and whether it has no percent sign."""
    after = [other.start for other in tax_labels(row) if other.start > label.start]
    before = [
        amount.end for amount in row.amounts if row.is_money(amount) and amount.end <= label.start
    ]
    start, end = max(before, default=0), min(after, default=len(row.text))
    near = [amount for amount in row.amounts if start <= amount.start < end]
    marked = [amount for amount in near if amount.is_percent and amount.value <= HIGHEST_RATE]
    if marked:
        right = [amount for amount in marked if amount.start >= label.end]
        return (right or marked[::-1])[0].value, False
    if misread := _MISREAD_PERCENT.match(row.text, label.end):
        rate = Decimal(misread[1].replace(",", "."))
        if rate in context.known:
            return rate, True
    for amount in near:
        gap = min(abs(amount.start - label.end), abs(label.start - amount.end))
        is_rate = amount.value in context.known and not amount.has_symbol
        if is_rate and gap <= _NEXT_TO and len(near) > 1:
            return amount.value, True
    return None, False


def _proofs(
    row: Row, entries: Sequence[Entry], rate: Decimal | None, context: TaxContext
) -> Iterator[_Proof]:
    """Yield the taxes of a row with which its rate or the sum of its amounts agree."""
    money = context.money(row)
    by_start = {entry.amount.start: entry for entry in entries}
    for base, tax in permutations(money, 2):
        if not 0 < tax.value <= base.value * _HALF:
            continue
        entry = by_start.get(tax.start) or replace(entries[0], amount=tax)
        others = [other.value for other in money if other not in (base, tax)]
        whole = base.value + tax.value
        gross = next((value for value in others if abs(value - whole) <= _CENT), None)
        if gross is not None or (rate is not None and is_net(base.value, rate, tax.value)):
            yield _Proof(entry, base.value, gross)
        elif rate is not None and agree(base.value - tax.value, rate, tax.value):
            yield _Proof(entry, None, base.value)


def _near(row: Row, context: TaxContext) -> Iterator[TaxCandidate]:
    """Yield the tax of a row with a rate, near rows that name a tax."""
    rates, money = rates_in(row), context.money(row)
    letters = sum(map(str.isalpha, row.text))
    if len(rates) != 1 or not 0 < len(money) <= _MOST_MONEY or letters > _MOST_LETTERS:
        return
    rate = rates[0].value
    if context.known and rate and rate not in context.known:
        return
    # `Service Charge 10%` is above the tax on it.
    if any(label.kind in _OTHER_KINDS for label in row.labels):
        return
    name = context.name_above(row)
    entries = [Entry(amount, Role.TAX, row) for amount in money]
    for proof in _proofs(row, entries, rate, context):
        line = TaxLine(name, rate, proof.base, proof.entry.amount.value)
        yield context.labelled(proof.entry, line, proof.gross, near=1, proven=1)
        return
    if len(money) == 1:
        line = TaxLine(name, rate, amount=money[0].value)
        yield context.labelled(entries[0], line, near=1)


def _zero_rated(row: Row, context: TaxContext) -> Iterator[TaxCandidate]:
    """Yield a zero-rated row with its taxable amount and the tax of zero."""
    money = context.money(row)
    if len(money) > 1 and not money[-1].value:
        entry = Entry(money[-1], Role.TAX, row)
        line = TaxLine(context.name_above(row), Decimal(0), money[0].value, Decimal(0))
        yield context.labelled(entry, line, zero_label=1)
