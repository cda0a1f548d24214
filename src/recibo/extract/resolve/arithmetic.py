"""Checks which printed sums an amount takes part in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import combinations

from recibo.extract.model import Candidates, Extracted

# Each part is rounded separately.
TOLERANCE = Decimal("0.01")
# Totals are rounded to the next coin.
_MOST_ROUNDING = Decimal("0.05")
# More parts than this make sums that come out by chance.
MOST_PARTS = 5
# A tax summary repeats amounts; only the two halves of a tax are really equal.
_MOST_EQUAL = 2
# So many totals, of those that are likelier than none at all, are added up.
_MOST_LIKELY, _LIKELY = 8, 0.5
# So many parts make a list.
SEVERAL = 2


@dataclass(frozen=True)
class Sums:
    """The sums that the amounts of a document make."""

    findings: Candidates

    def checks(self, total: Extracted[Decimal]) -> Mapping[str, float]:
        """Return which sums come out if this is the total, by name."""
        value = total.value
        return {
            "cash_less_change": value in self.cash_less_change,
            "paid_less_change": self.is_less_change(value),
            "tendered": self._is_tendered(value),
            "parts": value in self.of_parts,
            "parts_nearly": any(abs(made - value) <= TOLERANCE for made in self.of_parts),
            "table": any(split.gross == value and split.net for split in self.findings.splits),
            "of_totals": self.is_of_totals(total),
            "part_of_total": self._is_part_of_total(total),
            "items": self.of_items is not None and abs(self.of_items - value) <= TOLERANCE,
            "below_items": self._is_below_items(value),
            "items_and_parts": self.of_items is not None and value in self._items_and_parts,
            "rounded": any(self._becomes(other, total) for other in self.likely),
            "unrounded": any(self._becomes(total, other) for other in self.findings.totals),
            "later": self._is_later_of_two(total),
            "card": any(card.value == value for card in self.findings.cards),
            "below_subtotal": self._is_below_subtotal(value),
        }

    @cached_property
    def cash_less_change(self) -> frozenset[Decimal]:
        """What remains of the cash that was given."""
        return frozenset(
            cash.value - abs(back.value)
            for cash in self.findings.cash
            for back in self.findings.change
        )

    def is_less_change(self, value: Decimal) -> bool:
        """Return whether this is what was paid less the change."""
        return value in self.cash_less_change or any(
            back.value and total.value - abs(back.value) == value
            for total in self.findings.totals
            for back in self.findings.change
        )

    @cached_property
    def of_parts(self) -> frozenset[Decimal]:
        """What subtotals become by taxes, charges, discounts and roundings, totals by returns."""
        taxes = [part.value for part in self.findings.taxes]
        totals = [total.value for total in self.findings.totals]
        returns = [value for value in totals if value < 0]
        return frozenset(total + value for value in returns for total in totals) | frozenset(
            subtotal + extra
            for subtotal in {subtotal.value for subtotal in self.findings.subtotals}
            if subtotal > 0
            for extra in sums(distinct([*self.extras, *(tax for tax in taxes if tax < subtotal)]))
            if extra
        )

    @cached_property
    def of_items(self) -> Decimal | None:
        """What the line items add up to, None if there is none."""
        totals = [item.value.total for item in self.findings.line_items]
        priced = [total for total in totals if total is not None]
        return sum(priced, Decimal(0)) if priced else None

    @cached_property
    def _items_and_parts(self) -> frozenset[Decimal]:
        items = self.of_items or Decimal(0)
        taxes = [part.value for part in self.findings.taxes if part.value < items]
        return frozenset(items + extra for extra in sums(distinct([*self.extras, *taxes])) if extra)

    @cached_property
    def extras(self) -> list[Decimal]:
        """Charges, roundings and (negative) discounts between subtotal and total, without taxes."""
        found = self.findings
        discounts = [-abs(part.value) for part in found.discounts]
        return [*(part.value for part in (*found.charges, *found.roundings)), *discounts]

    @cached_property
    def likely(self) -> list[Extracted[Decimal]]:
        """The totals that are likely by their places on the page."""
        likely = [total for total in self.findings.totals if total.confidence > _LIKELY]
        return likely[:_MOST_LIKELY]

    def is_of_totals(self, total: Extracted[Decimal]) -> bool:
        """Return whether two totals above add up to this one, as those of two tax rates."""
        above = [other.value for other in self.likely if _place(other) < _place(total)]
        return any(a + b == total.value for a, b in combinations(above, 2))

    def _is_part_of_total(self, total: Extracted[Decimal]) -> bool:
        """Return whether this total and another add up to one below."""
        return any(
            total.value + other.value == whole.value
            for whole in self.likely
            if _place(total) < _place(whole)
            for other in self.likely
            if other.value not in (total.value, whole.value)
        )

    def _is_tendered(self, value: Decimal) -> bool:
        due = [value - abs(change.value) for change in self.findings.change if change.value]
        return any(total.value in due for total in self.findings.totals if total.value > 0)

    def _is_later_of_two(self, total: Extracted[Decimal]) -> bool:
        """Return whether a likely total a few cents off is above this one."""
        return any(
            0 < abs(other.value - total.value) <= _MOST_ROUNDING and _place(other) < _place(total)
            for other in self.likely
        )

    def _is_below_items(self, value: Decimal) -> bool:
        items = self.of_items
        return items is not None and value < items - _MOST_ROUNDING and not self._is_reduced

    def _is_below_subtotal(self, value: Decimal) -> bool:
        largest = max((subtotal.value for subtotal in self.findings.subtotals), default=value)
        return largest > value + _MOST_ROUNDING and not self._is_reduced

    @cached_property
    def _is_reduced(self) -> bool:
        """Whether discounts or returns make the total smaller than what was bought."""
        return bool(self.findings.discounts) or any(
            total.value < 0 for total in self.findings.totals
        )

    def _becomes(self, total: Extracted[Decimal], other: Extracted[Decimal]) -> bool:
        """Return whether the printed rounding leads from one total to another below it."""
        # Where a figure was misread, an item or the cash may be off by the rounding too.
        return _place(total) <= _place(other) and any(
            rounding.value and total.value + rounding.value == other.value
            for rounding in self.findings.roundings
        )

    def ways(self) -> list[set[Decimal]]:
        """Return what cash and change, the parts, and the items each make the total."""
        change = [abs(change.value) for change in self.findings.change if change.value]
        given = {cash.value - back for cash in self.findings.cash for back in change}
        parts = distinct([*(tax.value for tax in self.findings.taxes), *self.extras])
        inferred = {
            subtotal.value + extra for subtotal in self.findings.subtotals for extra in sums(parts)
        }
        are_several = len(self.findings.line_items) >= SEVERAL
        items = {self.of_items} if self.of_items is not None and are_several else set()
        return [given, inferred, items]


def with_signs(totals: Sequence[Extracted[Decimal]], sums: Sums) -> list[Extracted[Decimal]]:
    """Make totals positive whose minus was misread: those that add up as positive amounts."""
    return [_unstained(total, sums) for total in totals]


def _unstained(total: Extracted[Decimal], sums: Sums) -> Extracted[Decimal]:
    if total.value >= 0:
        return total
    above_zero = replace(total, value=-total.value)
    adds_up = sums.is_of_totals(above_zero) or above_zero.value in sums.of_parts
    return above_zero if adds_up else total


def distinct(parts: Sequence[Decimal]) -> list[Decimal]:
    """Return the parts that are not nothing, each value twice at most: a tax may have halves."""
    return [
        part for index, part in enumerate(parts) if part and parts[:index].count(part) < _MOST_EQUAL
    ]


def sums(parts: Sequence[Decimal]) -> Iterator[Decimal]:
    """Return the sums of one to all of the first few parts."""
    few = parts[:MOST_PARTS]
    for count in range(1, len(few) + 1):
        for chosen in combinations(few, count):
            yield sum(chosen, Decimal(0))


def _place(found: Extracted[Decimal]) -> tuple[int, float]:
    return found.page, found.box.y0 if found.box else 0.0
