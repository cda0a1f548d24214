"""Chooses subtotal and tax together: those likely for themselves that also make the total."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import combinations

from recibo.extract.candidates import Candidates
from recibo.extract.model import DocumentType, Extracted
from recibo.extract.probabilities import log_odds
from recibo.extract.resolve import arithmetic, choices
from recibo.extract.resolve.arithmetic import MOST_PARTS, SEVERAL, TOLERANCE, Sums
from recibo.extract.resolve.choices import Option

FIELD = "parts"

# The largest share of a tax in a total.
_MOST_TAX = Decimal("0.45")
# Log-odds are clamped to this.
_MOST_SCORE = 8.0

Amount = Extracted[Decimal]
Features = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Parts:
    """A subtotal and a tax, each None if it is not printed."""

    subtotal: Amount | None = None
    tax: Amount | None = None


@dataclass(frozen=True, slots=True)
class _Part:
    """A subtotal or a tax with its features, or that none is printed."""

    found: Amount | None = None
    features: Features = field(default_factory=dict)
    #: The tax tables that have it, by their place.
    tables: frozenset[int] = frozenset()

    @property
    def value(self) -> Decimal:
        return self.found.value if self.found else Decimal(0)


def chosen(candidates: Candidates, total: Amount | None) -> Parts:
    """Return the subtotal and the tax of a total, each with the probability that it is right."""
    found = options(candidates, total)
    shares = choices.probabilities(FIELD, found)
    # The rest is for the case that neither is printed.
    every = [*zip((one.value for one in found), shares, strict=True), (Parts(), 1 - sum(shares))]
    best = max(every, key=lambda pair: pair[1])[0]
    with_tax = [pair for pair in every if _value(pair[0].tax) == _value(best.tax)]
    with_subtotal = [pair for pair in every if _value(pair[0].subtotal) == _value(best.subtotal)]
    return Parts(
        _likeliest(with_tax, lambda one: one.subtotal),
        _likeliest(with_subtotal, lambda one: one.tax),
    )


def options(candidates: Candidates, total: Amount | None) -> list[Option[Parts]]:
    """Return each subtotal with each tax that may be printed with a total."""
    every = _Options(candidates, Sums(candidates), total).all()
    return [option for option in every if option.value != Parts()]


def _likeliest(
    shares: Sequence[tuple[Parts, float]], part: Callable[[Parts], Amount | None]
) -> Amount | None:
    """Return the amount, or None, that the likeliest options have, with its probability."""
    by_value: dict[Decimal | None, float] = defaultdict(float)
    for one, share in shares:
        by_value[_value(part(one))] += share
    value = max(by_value, key=lambda each: by_value[each])
    found = next(part(one) for one, _ in shares if _value(part(one)) == value)
    whole = sum(by_value.values())
    return found and replace(found, confidence=by_value[value] / whole)


def _value(found: Amount | None) -> Decimal | None:
    return found.value if found else None


@dataclass(frozen=True)
class _Options:
    """The subtotals and taxes with one total, or without any."""

    candidates: Candidates
    sums: Sums
    total: Amount | None

    def all(self) -> Iterator[Option[Parts]]:
        """Yield each subtotal with each tax."""
        for subtotal in self._subtotals:
            # Without a total, a tax is at least a part of the taxable amount.
            whole = self.total or subtotal.found
            for tax in (*self._taxes, *self._taxes_between(subtotal)):
                if _is_tax_of(tax.found, whole):
                    together = self._together(subtotal, tax)
                    features = {**subtotal.features, **tax.features, **together}
                    yield Option(Parts(subtotal.found, tax.found), features)

    @cached_property
    def _subtotals(self) -> list[_Part]:
        """None, labelled subtotals, the nets of tax tables, and the sum of several."""
        every = _each_once(self.candidates.subtotals)
        labelled = [one for one in every if not self._is_of_payments(one)]
        nets = [(index, net) for index, net, _ in self._tables if net]
        found = {
            one.value: one
            for one in (*_sum_of(labelled), *(net for _, net in nets), *reversed(labelled))
        }
        return [_Part(), *(self._subtotal(one, labelled, nets) for one in found.values())]

    @cached_property
    def _is_of_service(self) -> bool:
        """Whether the document is an NFS-e."""
        return DocumentType.NFSE in [kind.value for kind in self.candidates.types[:1]]

    def _is_of_payments(self, part: Amount) -> bool:
        """Return whether a sum is below the total and larger: that of the payments, before change.

        Receipts by mail have the total above the sum from which discounts lead to it, and the
        gross of a service may be below its net.
        """
        total = self.total
        if total is None or self._is_of_service:
            return False
        if part.box is None or total.box is None or part.page != total.page:
            return False
        is_below = part.value > total.value and part.box.y0 > total.box.y1
        return is_below and not self._is_step(total.value - part.value)

    def _subtotal(
        self, one: Amount, labelled: Sequence[Amount], nets: Sequence[tuple[int, Amount]]
    ) -> _Part:
        known = [each.value for each in labelled]
        fitting = [value for value in known if self.total is None or value <= self.total.value]
        tables = frozenset(index for index, net in nets if net.value == one.value)
        is_labelled = one.value in known
        is_of_several = is_labelled and len(known) > 1
        features = {
            "subtotal": 1,
            "subtotal_score": _score(one),
            "subtotal_labelled": is_labelled,
            "subtotal_tabled": bool(tables),
            "subtotal_summed": not is_labelled and not tables,
            "subtotal_first": is_of_several and known[0] == one.value,
            "subtotal_last": is_of_several and known[-1] == one.value,
            "subtotal_largest": is_of_several and one.value == max(fitting or known[:1]),
            # Perhaps the net of one rate.
            "subtotal_below_net": any(one.value < net.value for _, net in nets),
            "subtotal_of_items": self._are_items(one.value),
            "subtotal_zero": not one.value,
            **(self._against_total(one, self.total) if self.total else {}),
        }
        return _Part(one, features, tables)

    def _against_total(self, one: Amount, total: Amount) -> Features:
        is_larger = one.value > total.value
        reductions = any(extra < 0 for extra in self.sums.extras)
        return {
            "subtotal_is_total": one.value == total.value,
            "subtotal_small": abs(one.value) < abs(total.value) * (1 - _MOST_TAX),
            "subtotal_larger": is_larger and not reductions,
            "subtotal_larger_reduced": is_larger and reductions,
        }

    @cached_property
    def _taxes(self) -> list[_Part]:
        """None, labelled taxes, those of tax tables, and sums of several."""
        labelled = _each_once(self.candidates.taxes)
        summed = _each_once(self.candidates.tax_sums)
        tabled = [tax for _, _, tax in self._tables]
        every = (*_sum_of(labelled), *reversed(summed), *tabled, *reversed(labelled))
        found = {one.value: one for one in every}
        return [_Part(), *map(self._tax, found.values())]

    def _taxes_between(self, subtotal: _Part) -> Iterator[_Part]:
        """Yield the sums of several taxes that lead from the subtotal to the total."""
        if self.total is None or subtotal.found is None:
            return
        known = {part.value for part in self._taxes}
        taxes = [one for one in self.candidates.taxes if _is_tax_of(one, self.total)]
        for count in range(SEVERAL, min(len(taxes), MOST_PARTS) + 1):
            for several in combinations(taxes[:MOST_PARTS], count):
                tax = sum((one.value for one in several), Decimal(0))
                gap = self.total.value - subtotal.value - tax
                if tax not in known and (abs(gap) <= TOLERANCE or self._is_step(gap)):
                    known.add(tax)
                    yield self._tax(_whole(several, tax))

    def _tax(self, one: Amount) -> _Part:
        labelled = [each.value for each in self.candidates.taxes]
        summed = [each.value for each in self.candidates.tax_sums]
        tables = frozenset(index for index, _, tax in self._tables if tax.value == one.value)
        features = {
            "tax": 1,
            "tax_score": _score(one),
            "tax_labelled": one.value in labelled,
            "tax_tabled": bool(tables),
            "tax_repeated": labelled.count(one.value) > 1,
            "tax_summed": one.value in summed,
            "tax_first_sum": bool(summed) and summed[0] == one.value,
            "tax_sum_of_labelled": one.value not in labelled and one.value not in summed,
            "tax_zero": not one.value,
        }
        return _Part(one, features, tables)

    def _together(self, subtotal: _Part, tax: _Part) -> Features:
        """Return how subtotal and tax agree with each other and with the total."""
        if self.total is None:
            return {}
        if subtotal.found is None:
            tables = [table for table in self._tables if table[0] in tax.tables]
            return {"no_net": bool(tables) and not any(net for _, net, _ in tables)}
        gap = self.total.value - subtotal.value - tax.value
        closes, is_step = abs(gap) <= TOLERANCE, self._is_step(gap)
        kind = "tax" if tax.value else "without_tax"
        return {
            f"closes_{kind}": closes,
            f"closes_by_others_{kind}": is_step and not closes,
            f"open_{kind}": not closes and not is_step,
            "left_open": _share(gap, self.total.value) if not closes and not is_step else 0.0,
            # Both amounts of one table.
            "one_table": bool(subtotal.tables & tax.tables),
            "items_and_others": self._are_items(subtotal.value)
            and (is_step or self._is_step(gap + tax.value)),
        }

    def _is_step(self, gap: Decimal) -> bool:
        """Return whether charges, discounts and roundings make up a difference."""
        return any(abs(gap - step) <= TOLERANCE for step in self._steps if step)

    @cached_property
    def _steps(self) -> frozenset[Decimal]:
        discounts = [-one.found.value for one in self.candidates.amounts.discounts]
        extras = list(dict.fromkeys((*self.sums.extras, *discounts, *self._withheld)))
        return frozenset(arithmetic.sums(arithmetic.distinct(extras)))

    @cached_property
    def _withheld(self) -> list[Decimal]:
        return [-abs(one.value) for one in self.candidates.amounts.withheld]

    def _are_items(self, value: Decimal) -> bool:
        return len(self.candidates.line_items) >= SEVERAL and self.sums.of_items == value

    @cached_property
    def _tables(self) -> list[tuple[int, Amount | None, Amount]]:
        """The net and the tax of the tables with this total, perhaps before rounding."""
        if self.total is None:
            return []
        roundings = (rounding.value for rounding in self.candidates.roundings)
        steps = [Decimal(0), *roundings, *self._withheld]
        value = self.total.value
        return [
            (index, table.net, table.tax)
            for index, table in enumerate(self.candidates.tax_breakdowns)
            if any(abs(table.gross + step - value) <= TOLERANCE for step in steps)
        ]


def _each_once(parts: Sequence[Amount]) -> list[Amount]:
    """Return the first amount of each value."""
    return list({part.value: part for part in reversed(parts)}.values())[::-1]


def _sum_of(parts: Sequence[Amount]) -> Iterator[Amount]:
    """Yield the sum of several amounts."""
    if len(parts) >= SEVERAL:
        yield _whole(parts, sum((part.value for part in parts), Decimal(0)))


def _whole(parts: Sequence[Amount], value: Decimal) -> Amount:
    return replace(parts[0], value=value, text="\n".join(part.text for part in parts))


def _share(part: Decimal, whole: Decimal) -> float:
    return float(min(abs(part / whole), Decimal(1))) if whole else 1.0


def _score(found: Amount) -> float:
    return max(-_MOST_SCORE, min(log_odds(found.confidence), _MOST_SCORE))


def _is_tax_of(tax: Amount | None, whole: Amount | None) -> bool:
    """Return whether a tax, if there is one, may be a part of an amount."""
    if tax is None:
        return True
    if whole is None:
        return tax.value >= 0
    # A refund includes its tax.
    has_its_sign = tax.value >= 0 or whole.value < 0
    return has_its_sign and abs(tax.value) <= abs(whole.value) * _MOST_TAX
