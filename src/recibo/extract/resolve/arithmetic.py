"""Checks in which sums of printed amounts a total occurs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import combinations

from recibo.extract.candidates import Candidates
from recibo.extract.fields.labelled_amounts import Role
from recibo.extract.model import Extracted

# Each part is rounded separately.
TOLERANCE = Decimal("0.01")
# Totals are rounded to the next coin.
_MOST_ROUNDING = Decimal("0.05")
# The most parts of a sum; with more, sums agree by chance.
MOST_PARTS = 5
# A tax table repeats amounts; only the two halves of a tax are really equal.
_MOST_EQUAL = 2
# The most likely totals that are added up.
_MOST_LIKELY, _LIKELY = 8, 0.5
_TOTAL_ROLES = (Role.PAYABLE, Role.TOTAL, Role.SUM)
# The fewest parts of a list.
SEVERAL = 2


@dataclass(frozen=True)
class Sums:
    """The sums of the amounts of a document."""

    candidates: Candidates

    def checks(self, total: Extracted[Decimal]) -> Mapping[str, float]:
        """Return which sums agree with this total, by name."""
        value = total.value
        return {
            "cash_less_change": value in self.cash_less_change,
            "paid_less_change": self.is_less_change(value),
            "tendered": self._is_tendered(value),
            "parts": value in self.of_parts,
            "parts_nearly": any(abs(made - value) <= TOLERANCE for made in self.of_parts),
            "table": any(
                split.gross == value and split.net for split in self.candidates.tax_breakdowns
            ),
            "of_totals": self.is_of_totals(total),
            "part_of_total": self._is_part_of_total(total),
            "items": self.of_items is not None and abs(self.of_items - value) <= TOLERANCE,
            "below_items": self._is_below_items(value),
            "items_and_parts": self.of_items is not None and value in self._items_and_parts,
            "rounded": any(self._is_rounded_to(other, total) for other in self.likely),
            "unrounded": any(self._is_rounded_to(total, other) for other in self.candidates.totals),
            "later": self._is_later_of_two(total),
            "card": any(card.value == value for card in self.candidates.cards),
            "below_subtotal": self._is_below_subtotal(value),
        }

    @cached_property
    def cash_less_change(self) -> frozenset[Decimal]:
        """The cash less the change."""
        return frozenset(
            cash.value - abs(back.value)
            for cash in self.candidates.cash
            for back in self.candidates.change
        )

    def is_less_change(self, value: Decimal) -> bool:
        """Return whether a value is the amount paid less the change."""
        return value in self.cash_less_change or any(
            back.value and total.value - abs(back.value) == value
            for total in self.candidates.totals
            for back in self.candidates.change
        )

    @cached_property
    def of_parts(self) -> frozenset[Decimal]:
        """Subtotals plus taxes, charges, discounts and roundings, and totals plus returns."""
        taxes = [part.value for part in self.candidates.taxes]
        totals = [total.value for total in self.candidates.totals]
        returns = [value for value in totals if value < 0]
        return frozenset(total + value for value in returns for total in totals) | frozenset(
            subtotal + extra
            for subtotal in {subtotal.value for subtotal in self.candidates.subtotals}
            if subtotal > 0
            for extra in sums(distinct([*self.extras, *(tax for tax in taxes if tax < subtotal)]))
            if extra
        )

    @cached_property
    def of_items(self) -> Decimal | None:
        """The sum of the line items, None if there are none."""
        totals = [item.value.total for item in self.candidates.line_items]
        priced = [total for total in totals if total is not None]
        return sum(priced, Decimal(0)) if priced else None

    @cached_property
    def _items_and_parts(self) -> frozenset[Decimal]:
        items = self.of_items or Decimal(0)
        taxes = [part.value for part in self.candidates.taxes if part.value < items]
        return frozenset(items + extra for extra in sums(distinct([*self.extras, *taxes])) if extra)

    @cached_property
    def extras(self) -> list[Decimal]:
        """Charges, roundings and (negative) discounts between subtotal and total, without taxes."""
        found = self.candidates
        discounts = [-abs(part.value) for part in found.discounts]
        return [*(part.value for part in (*found.charges, *found.roundings)), *discounts]

    @cached_property
    def with_tips(self) -> Mapping[Decimal, Decimal]:
        """The amounts before a tip, each with the total below the tip that includes it."""
        totals = self.candidates.totals
        payments = {one.found.value.amount for one in self.candidates.amounts.payments}
        return {
            before.value: after.value
            for tip in self.candidates.amounts.tips
            for before in totals
            for after in totals
            if after.value == before.value + tip.found.value
            and _place(tip.found) < _place(after)
            and self._is_labelled(after)
            # What is printed after a payment without the tip suggests one.
            and (before.value not in payments or after.value in payments)
        }

    def _is_labelled(self, total: Extracted[Decimal]) -> bool:
        """Return whether an amount has the label of a total: it may also be the cash given."""
        features = self.candidates.total_features.get(total.value, {})
        return any(features.get(role) for role in _TOTAL_ROLES)

    @cached_property
    def likely(self) -> list[Extracted[Decimal]]:
        """The totals that are likely by their features."""
        likely = [total for total in self.candidates.totals if total.confidence > _LIKELY]
        return likely[:_MOST_LIKELY]

    def is_of_totals(self, total: Extracted[Decimal]) -> bool:
        """Return whether two totals above add up to this one, such as those of two tax rates."""
        above = [other.value for other in self.likely if _place(other) < _place(total)]
        return any(a + b == total.value for a, b in combinations(above, 2))

    def _is_part_of_total(self, total: Extracted[Decimal]) -> bool:
        """Return whether this total and another one add up to one below."""
        return any(
            total.value + other.value == whole.value
            for whole in self.likely
            if _place(total) < _place(whole)
            for other in self.likely
            if other.value not in (total.value, whole.value)
        )

    def _is_tendered(self, value: Decimal) -> bool:
        due = [value - abs(change.value) for change in self.candidates.change if change.value]
        return any(total.value in due for total in self.candidates.totals if total.value > 0)

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
        largest = max((subtotal.value for subtotal in self.candidates.subtotals), default=value)
        return largest > value + _MOST_ROUNDING and not self._is_reduced

    @cached_property
    def _is_reduced(self) -> bool:
        """Whether discounts or returns make the total smaller than the sum of the items."""
        return bool(self.candidates.discounts) or any(
            total.value < 0 for total in self.candidates.totals
        )

    def _is_rounded_to(self, total: Extracted[Decimal], other: Extracted[Decimal]) -> bool:
        """Return whether a total plus the printed rounding is another total below it."""
        # If a digit was misread, an item or the cash may differ by the rounding too.
        return _place(total) <= _place(other) and any(
            rounding.value and total.value + rounding.value == other.value
            for rounding in self.candidates.roundings
        )

    def ways(self) -> list[set[Decimal]]:
        """Return the totals computed from cash and change, from the parts, and from the items."""
        change = [abs(change.value) for change in self.candidates.change if change.value]
        given = {cash.value - back for cash in self.candidates.cash for back in change}
        parts = distinct([*(tax.value for tax in self.candidates.taxes), *self.extras])
        inferred = {
            subtotal.value + extra
            for subtotal in self.candidates.subtotals
            for extra in sums(parts)
        }
        are_several = len(self.candidates.line_items) >= SEVERAL
        items = {self.of_items} if self.of_items is not None and are_several else set()
        return [given, inferred, items]


def distinct(parts: Sequence[Decimal]) -> list[Decimal]:
    """Return the parts other than zero, each value at most twice: a tax may have two halves."""
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
