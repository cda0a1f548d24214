"""What is known about the taxes of a document, and the features of a row that may be one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Self

from recibo.extract.candidates import TaxCandidate
from recibo.extract.fields.labelled_amounts import Entry, Role
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, TaxLine
from recibo.extract.text import lexicon, tables
from recibo.extract.text.numbers import CENTS, Number
from recibo.extract.text.phrases import Phrase

#: No tax on sales is higher, in percent.
HIGHEST_RATE = Decimal(35)
#: A row of a table is at most this many rows from the others, or from one that names the tax.
NEAR = 3
# The heading of a table is at most this many rows above a row of it.
_HEADING_ROWS = 6
_WHOLE = Decimal(100)
_SINGLE = re.compile(r"(?<![\w.])[A-G](?![\w.])")
# A till taxes and rounds each item separately, so the rate of their sum is slightly off.
_OFF_BY_CENTS, _OFF_BY_SHARE = Decimal("0.02"), Decimal("0.005")
# Replaced by the probability when the lines are chosen.
_UNKNOWN = 0.5


@dataclass(frozen=True)
class TaxContext:
    """The rows of a document and what is known about its taxes."""

    rows: Sequence[Row]
    entries: Sequence[Entry]
    #: The rates of its country; empty if that is unknown.
    known: frozenset[Decimal]
    #: Percentages anywhere on the document.
    printed: frozenset[Decimal]
    #: Amounts labelled as taxable, each with the letter of its rate if there is one.
    taxable: Sequence[tuple[Decimal, str | None]]
    #: Those of subtotals.
    subtotals: Sequence[Decimal]
    #: Whether amounts are whole numbers, whatever the currency.
    is_whole: bool

    @classmethod
    def of(cls, rows: Sequence[Row], entries: Sequence[Entry], country: str | None) -> Self:
        """Collect it from the rows of a document and the roles of its amounts."""
        named = lexicon.phrasebook("taxable")
        return cls(
            rows=rows,
            entries=entries,
            known=tables.tax_rates().get(country or "", frozenset()),
            printed=frozenset(
                amount.value
                for row in rows
                for amount in row.amounts
                if amount.is_percent and 0 <= amount.value <= HIGHEST_RATE
            ),
            taxable=[
                (amount.value, letter_of(row))
                for row in rows
                if row.amounts and named.find(row.text)
                for amount in row.amounts
                if (row.is_money(amount) or amount.decimals == 1) and amount.value
            ],
            subtotals=[entry.amount.value for entry in entries if entry.role is Role.SUBTOTAL],
            is_whole=not any(
                entry.row.is_money(entry.amount) and entry.amount.decimals for entry in entries
            ),
        )

    def is_money(self, row: Row, amount: Number) -> bool:
        """Return whether an amount is written as money on this document."""
        if row.is_money(amount):
            # A weight has three decimals.
            return amount.decimals <= max(row.minor, CENTS)
        is_grouped = any(sign in ".," for sign in row.text[amount.start : amount.end])
        return (self.is_whole or is_grouped) and not (amount.decimals or amount.is_percent)

    def money(self, row: Row) -> list[Number]:
        """Return the amounts of money in a row."""
        return [amount for amount in row.amounts if self.is_money(row, amount)]

    def names_above(self, row: Row) -> list[str]:
        """Return the names of the taxes in the row, or in the nearest heading above it."""
        for above in self.rows[row.index :: -1][: _HEADING_ROWS + 1]:
            if names := [name_of(above, label) for label in tax_labels(above)]:
                return names
        return []

    def name_above(self, row: Row) -> str | None:
        """Return the first of these names."""
        return next(iter(self.names_above(row)), None)

    def labelled(
        self, entry: Entry, line: TaxLine, gross: Decimal | None = None, **features: float
    ) -> TaxCandidate:
        """Return an amount next to a label as a candidate."""
        known = {"labelled": 1.0} | {name: float(value) for name, value in features.items()}
        elsewhere, is_weak = (None, False) if gross else self._base_elsewhere(entry.row, line)
        return TaxCandidate(
            Extracted(line, _UNKNOWN, entry.row.text, entry.row.line.page, entry.box()),
            gross,
            elsewhere,
            self.features(line, gross) | known | {"base_in_subtotal": is_weak},
        )

    def _base_elsewhere(self, row: Row, line: TaxLine) -> tuple[Decimal | None, bool]:
        """Return the taxable amount in another row, and whether it is only a subtotal."""
        if line.base is not None or line.rate is None or line.amount is None:
            return None, False
        if not line.rate:
            # Any amount agrees with a rate of zero.
            letter = letter_of(row)
            only = {base for base, other in self.taxable if letter in (None, other)}
            return (only.pop(), False) if len(only) == 1 else (None, False)
        named = [base for base, _ in self.taxable]
        for known, is_weak in ((named, False), (self.subtotals, True)):
            for base in known:
                if line.amount and is_net(base, line.rate, line.amount):
                    return base, is_weak
        return None, False

    def features(self, line: TaxLine, gross: Decimal | None) -> dict[str, float]:
        """Return how the amounts of a line agree with its rate and with the country's rates."""
        base, tax = line.base, line.amount
        is_rated = line.rate is not None
        rates = [line.rate] if line.rate else [*self.known]
        on_net = bool(base and tax) and self._fits(base, tax, rates)
        within = bool(base and tax) and self._fits((base or 0) - (tax or 0), tax, rates)
        on_gross = base is None and bool(gross and tax)
        return {
            "on_net": on_net,
            "within_gross": within and not on_net,
            "disproved": is_rated and bool(base and tax) and not on_net,
            "on_gross": on_gross and self._fits((gross or 0) - (tax or 0), tax, rates),
            "rate": is_rated,
            "known_rate": bool(line.rate and line.rate in self.known),
            "unknown_rate": bool(line.rate and self.known and line.rate not in self.known),
            "zero": not tax,
            "zero_without_rate": not tax and not is_rated,
        }

    def _fits(
        self, net: Decimal | int | None, tax: Decimal | None, rates: Sequence[Decimal]
    ) -> bool:
        return any(agree(Decimal(net or 0), rate, tax or Decimal(0)) for rate in rates)


def agree(net: Decimal, rate: Decimal, tax: Decimal) -> bool:
    """Return whether a rate in percent makes a tax of a net amount."""
    return abs(net * rate / _WHOLE - tax) <= max(_OFF_BY_CENTS, abs(tax) * _OFF_BY_SHARE)


def is_net(base: Decimal, rate: Decimal, tax: Decimal) -> bool:
    """Return whether a tax agrees with an amount as the net one, and less as the gross one."""
    off_net, off_gross = (abs(net * rate / _WHOLE - tax) for net in (base, base - tax))
    return agree(base, rate, tax) and off_net <= off_gross


def tax_labels(row: Row) -> list[Phrase]:
    """Return the labels of taxes in a row."""
    return [label for label in row.labels if label.kind == Role.TAX]


def name_of(row: Row, label: Phrase) -> str:
    """Return the name of a tax as printed."""
    return row.text[label.start : label.end].strip(" .:")


def letter_of(row: Row) -> str | None:
    """Return the only single capital in a row, with which tills mark a rate: `PTU A 23%`."""
    letters = set(_SINGLE.findall(row.text))
    return letters.pop() if len(letters) == 1 else None


def rates_in(row: Row) -> list[Number]:
    """Return the percentages in a row that may be rates."""
    return [
        amount for amount in row.amounts if amount.is_percent and 0 <= amount.value <= HIGHEST_RATE
    ]
