"""Makes one receipt of what was found: cross-checks and choice."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations, permutations
from typing import TypeVar

from recibo.extract.model import Candidates, DocumentType, Extracted, LineItem, Receipt
from recibo.extract.resolve import repair
from recibo.extract.text import tables

T = TypeVar("T")

# What a sum that comes out adds to a total's log-odds: two independent ones settle it.
_CASH_LESS_CHANGE, _PAID_LESS_CHANGE, _ITEMS_ADD_UP, _PAID_BY_CARD = 1.5, 1.5, 1.5, 1.2
# What was handed over is not what was owed: change was given on it, and the rest is printed too.
_HANDED_OVER = -2.5
_PARTS_ADD_UP, _PARTS_NEARLY_ADD_UP, _TOTALS_ADD_UP, _PART_OF_TOTAL = 2.5, 0.5, 2.0, -2.5
# What is paid is the rounded total, not the one that was rounded; it stands below it.
_ROUNDED, _UNROUNDED, _LATER = 4.0, -2.5, 1.0
_MOST_ROUNDING = Decimal("0.05")
# A printer rounds each part by itself.
_TOLERANCE = Decimal("0.01")
# So many parts make a list.
_SEVERAL = 2
# More parts than this make sums that come out by chance.
_MOST_PARTS = 5
# A summary of the taxes repeats them; only the two halves of a tax are alike in truth.
_MOST_ALIKE = 2
_MOST_LIKELY = 8
_MOST_TAX = Decimal("0.45")

# A candidate below this is left out: null is better than a guess.
_LEAST_TOTAL, _LEAST_NAME, _LEAST_MOMENT, _LEAST_CURRENCY = 0.3, 0.25, 0.3, 0.3
_LEAST_NAME_ALONE = 0.9
# Two days as likely as this are hardly of one sale.
_LIKELY_DAY = 0.8
_LEAST_TAX_ID, _LEAST_NUMBER, _LEAST_PART = 0.45, 0.3, 0.5


def assemble(findings: Candidates, *, hint: DocumentType | None = None) -> Receipt:
    """Return the receipt that the findings make together; `hint` counts when nothing else tells."""
    currency = _likeliest(findings.currencies, _LEAST_CURRENCY)
    total = _likeliest(ranked_totals(findings), _LEAST_TOTAL)
    subtotal, tax = _parts(findings, total)
    issued_at = _likeliest(findings.moments, _LEAST_MOMENT)
    # Any page of text has a first line: without an amount or a date it is hardly a seller's name.
    least_name = _LEAST_NAME if total or issued_at else _LEAST_NAME_ALONE
    merchant_name = _likeliest(findings.merchant_names, least_name)
    digits = tables.currencies()[currency.value].digits if currency else None
    return Receipt(
        type=_type(findings, hint),
        merchant_name=merchant_name,
        merchant_tax_id=_likeliest(findings.merchant_tax_ids, _LEAST_TAX_ID),
        issued_at=issued_at,
        total=_rounded(total, digits),
        subtotal=_rounded(subtotal, digits),
        tax=_rounded(tax, digits),
        currency=currency,
        document_number=_likeliest(findings.document_numbers, _LEAST_NUMBER),
        document_key=_likeliest(findings.document_keys, 0),
        line_items=tuple(_rounded_item(item, digits) for item in findings.line_items),
        category=findings.categories[0] if findings.categories else None,
        texts=findings.texts,
    )


def _type(findings: Candidates, hint: DocumentType | None) -> Extracted[DocumentType]:
    if findings.types:
        return findings.types[0]
    return Extracted(hint or DocumentType.RECEIPT, 0.5, "")


def _likeliest(candidates: Sequence[Extracted[T]], least: float) -> Extracted[T] | None:
    return candidates[0] if candidates and candidates[0].confidence >= least else None


def ranked_totals(findings: Candidates) -> tuple[Extracted[Decimal], ...]:
    """Return the totals as their places on the page and the sums around them speak, best first."""
    unstained = [_unstained(each, findings) for each in findings.totals]
    ways = _ways(findings)
    totals = repair.mended(unstained, ways)
    findings = replace(findings, totals=(*totals, *repair.reckoned(totals, ways, findings.change)))
    scored = (
        (log_odds(total.confidence) + _support(total, findings), total) for total in findings.totals
    )
    ranked = sorted(scored, key=lambda pair: -pair[0])
    return tuple(replace(total, confidence=1 / (1 + math.exp(-score))) for score, total in ranked)


def is_summed_up(total: Extracted[Decimal], findings: Candidates) -> bool:
    """Tell whether a subtotal and what is printed below it lead to the total."""
    return _is_sum_of_parts(total.value, findings, Decimal(0))


def are_several(findings: Candidates) -> bool:
    """Tell whether two papers lie on the page: two days, and two totals with sums of their own."""
    days = {moment.value.date for moment in findings.moments if moment.confidence >= _LIKELY_DAY}
    # As they are printed: the gross of a tax rate is a sum too, but not named a total.
    summed = [total for total in _likely(findings) if is_summed_up(total, findings)]
    steps = {abs(step) for step in _sums([extra.value for extra in _extras(findings)])}
    return len(days) >= _SEVERAL and any(
        a.value != b.value and abs(a.value - b.value) not in steps
        for a, b in combinations(summed, 2)
    )


def is_off_by_change(total: Extracted[Decimal], findings: Candidates) -> bool:
    """Tell whether cash and change are printed, and none is the other with the total."""
    paid = (*findings.cash, *findings.totals)
    is_given = bool(findings.cash and findings.change)
    return is_given and not _is_less_change(total.value, paid, findings)


def _ways(findings: Candidates) -> list[set[Decimal]]:
    """Return what cash and change, the parts, and the goods each make the total."""
    change = [abs(change.value) for change in findings.change if change.value]
    given = {cash.value - back for cash in findings.cash for back in change}
    parts = _distinct([part.value for part in (*findings.taxes, *_extras(findings))])
    reckoned = {subtotal.value + extra for subtotal in findings.subtotals for extra in _sums(parts)}
    totals = [item.value.total for item in findings.line_items if item.value.total is not None]
    goods = {sum(totals, Decimal(0))} if len(totals) >= _SEVERAL else set[Decimal]()
    return [given, reckoned, goods]


def _unstained(total: Extracted[Decimal], findings: Candidates) -> Extracted[Decimal]:
    """Return a total without the stain that was read as a minus: what adds up to it is positive."""
    if total.value >= 0:
        return total
    above_zero = replace(total, value=-total.value)
    adds_up = _is_sum_of_totals(above_zero, findings) or _is_sum_of_parts(
        above_zero.value, findings, Decimal(0)
    )
    return above_zero if adds_up else total


def log_odds(probability: float) -> float:
    """Return the log-odds of a probability, kept off 0 and 1."""
    bounded = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(bounded / (1 - bounded))


def _support(total: Extracted[Decimal], findings: Candidates) -> float:
    """Return what the sums around a total add to its log-odds."""
    value = total.value
    items = sum((item.value.total or Decimal(0) for item in findings.line_items), Decimal(0))
    checks = (
        (_CASH_LESS_CHANGE, _is_less_change(value, findings.cash, findings)),
        (_PAID_LESS_CHANGE, _is_less_change(value, (*findings.cash, *findings.totals), findings)),
        (_HANDED_OVER, _is_handed_over(value, findings)),
        (_PARTS_NEARLY_ADD_UP, _is_sum_of_parts(value, findings, _TOLERANCE)),
        (_PARTS_ADD_UP, _is_sum_of_parts(value, findings, Decimal(0))),
        (_TOTALS_ADD_UP, _is_sum_of_totals(total, findings)),
        (_PART_OF_TOTAL, _is_part_of_total(total, findings)),
        (_ITEMS_ADD_UP, bool(items) and abs(items - value) <= _TOLERANCE),
        (_ROUNDED, _is_rounded(total, findings)),
        (_UNROUNDED, _is_unrounded(total, findings)),
        (_LATER, _is_later_of_two(total, findings)),
        (_PAID_BY_CARD, any(card.value == value for card in findings.cards)),
    )
    return sum(weight for weight, holds in checks if holds)


def _is_less_change(
    value: Decimal, paid: Sequence[Extracted[Decimal]], findings: Candidates
) -> bool:
    return any(
        cash.value - abs(change.value) == value and (cash.value != value or cash in findings.cash)
        for cash in paid
        for change in findings.change
    )


def _is_handed_over(value: Decimal, findings: Candidates) -> bool:
    owed = [value - abs(change.value) for change in findings.change if change.value]
    return any(total.value in owed for total in findings.totals if total.value > 0)


def _is_sum_of_parts(value: Decimal, findings: Candidates, tolerance: Decimal) -> bool:
    taxes = [part.value for part in findings.taxes]
    extras = [part.value for part in _extras(findings)]
    if any(split.net and abs(split.gross - value) <= tolerance for split in findings.splits):
        return True
    return any(
        0 < subtotal != value and abs(subtotal + extra - value) <= tolerance
        for subtotal in {subtotal.value for subtotal in findings.subtotals}
        for extra in _sums(_distinct([*extras, *(tax for tax in taxes if tax < subtotal)]))
    )


def _is_sum_of_totals(total: Extracted[Decimal], findings: Candidates) -> bool:
    """Tell whether two totals above, as those of two tax rates, add up to this one."""
    above = [other.value for other in _likely(findings) if _place(other) < _place(total)]
    return any(a + b == total.value for a, b in combinations(above, 2))


def _is_part_of_total(total: Extracted[Decimal], findings: Candidates) -> bool:
    """Tell whether this total and another add up to one below."""
    return any(
        total.value + other.value == whole.value
        for other, whole in permutations(_likely(findings), 2)
        if _place(total) < _place(whole) and other.value != total.value
    )


def _likely(findings: Candidates) -> list[Extracted[Decimal]]:
    likely = [total for total in findings.totals if total.confidence > _LEAST_PART]
    return likely[:_MOST_LIKELY]


def _is_later_of_two(total: Extracted[Decimal], findings: Candidates) -> bool:
    """Tell whether a likely total a few cents off stands above this one."""
    return any(
        0 < abs(other.value - total.value) <= _MOST_ROUNDING and _place(other) < _place(total)
        for other in findings.totals
        if min(other.confidence, total.confidence) > _LEAST_PART
    )


def _place(found: Extracted[Decimal]) -> tuple[int, float]:
    return found.page, found.box.y0 if found.box else 0.0


def _is_rounded(total: Extracted[Decimal], findings: Candidates) -> bool:
    """Tell whether this is another likely total, rounded as the paper says, and below it."""
    return any(_becomes(other, total, findings) for other in _likely(findings))


def _is_unrounded(total: Extracted[Decimal], findings: Candidates) -> bool:
    """Tell whether the amount that this becomes by the printed rounding is printed below it."""
    return any(_becomes(total, other, findings) for other in findings.totals)


def _becomes(total: Extracted[Decimal], other: Extracted[Decimal], findings: Candidates) -> bool:
    # Where a figure was misread, an item or the cash may be off by the rounding too.
    is_below = _place(total) <= _place(other)
    return is_below and any(
        rounding.value and total.value + rounding.value == other.value
        for rounding in findings.roundings
    )


def _extras(findings: Candidates) -> tuple[Extracted[Decimal], ...]:
    """Return what stands between subtotal and total beside the taxes, discounts below zero."""
    discounts = [replace(part, value=-abs(part.value)) for part in findings.discounts]
    return (*findings.charges, *findings.roundings, *discounts)


def _distinct(parts: Sequence[Decimal]) -> list[Decimal]:
    """Return the parts that are not nothing, each value twice at most: a tax may have halves."""
    return [
        part for index, part in enumerate(parts) if part and parts[:index].count(part) < _MOST_ALIKE
    ]


def _sums(parts: Sequence[Decimal]) -> Iterator[Decimal]:
    """Return the sums of one to all of the first few parts."""
    few = parts[:_MOST_PARTS]
    for count in range(1, len(few) + 1):
        for chosen in combinations(few, count):
            yield sum(chosen, Decimal(0))


def _parts(
    findings: Candidates, total: Extracted[Decimal] | None
) -> tuple[Extracted[Decimal] | None, Extracted[Decimal] | None]:
    """Return the subtotal and the tax: those that lead to the total, else the likeliest ones."""
    if total is not None:
        for parts in (*_labelled_parts(findings, total), *_tabled_parts(findings, total)):
            return parts
    subtotal = _likeliest(findings.subtotals, _LEAST_PART)
    # Without a total a tax is at least no larger than what it is levied on.
    whole = total or subtotal
    levies = [tax for tax in findings.levies or findings.taxes if _is_tax_of(tax, whole)]
    return subtotal, _likeliest(levies, _LEAST_PART)


def _labelled_parts(
    findings: Candidates, total: Extracted[Decimal]
) -> Iterator[tuple[Extracted[Decimal], Extracted[Decimal]]]:
    """Yield a subtotal and a tax, each printed beside its name, that lead to the total."""
    taxes = [tax for tax in findings.taxes if _is_tax_of(tax, total)]
    for subtotal in findings.subtotals:
        tax = _tax_between(subtotal, total, taxes, findings)
        if tax is not None:
            yield subtotal, tax


def _tabled_parts(
    findings: Candidates, total: Extracted[Decimal]
) -> Iterator[tuple[Extracted[Decimal] | None, Extracted[Decimal]]]:
    """Yield what tables of taxes, and nets and taxes of several rates, make of the total."""
    steps = [Decimal(0), *(rounding.value for rounding in findings.roundings)]
    for split in findings.splits:
        if any(abs(split.gross + step - total.value) <= _TOLERANCE for step in steps):
            yield split.net or _likeliest(findings.subtotals, _LEAST_PART), split.tax
    nets, taxes = _each_once(findings.subtotals), _each_once(findings.taxes)
    net, tax = _whole(nets), _whole(taxes)
    if net is None or tax is None or len(nets) != len(taxes):
        return
    if abs(net.value + tax.value - total.value) <= _TOLERANCE:
        yield net, tax


def _each_once(parts: Sequence[Extracted[Decimal]]) -> list[Extracted[Decimal]]:
    return list({part.value: part for part in reversed(parts)}.values())[::-1]


def _whole(parts: Sequence[Extracted[Decimal]]) -> Extracted[Decimal] | None:
    """Return the sum of several parts as one."""
    if len(parts) < _SEVERAL:
        return None
    text = "\n".join(part.text for part in parts)
    return replace(parts[0], value=sum((part.value for part in parts), Decimal(0)), text=text)


def _is_tax_of(tax: Extracted[Decimal], total: Extracted[Decimal] | None) -> bool:
    if total is None:
        return tax.value >= 0
    # What is given back is given back with its tax.
    has_its_sign = tax.value >= 0 or total.value < 0
    return has_its_sign and abs(tax.value) <= abs(total.value) * _MOST_TAX


def _tax_between(
    subtotal: Extracted[Decimal],
    total: Extracted[Decimal],
    taxes: Sequence[Extracted[Decimal]],
    findings: Candidates,
) -> Extracted[Decimal] | None:
    """Return the tax, or several added up, that leads from the subtotal to the total."""
    extras = [Decimal(0), *_sums([part.value for part in _extras(findings)])]
    for count in range(1, min(len(taxes), _MOST_PARTS) + 1):
        for chosen in combinations(taxes[:_MOST_PARTS], count):
            tax = sum((part.value for part in chosen), Decimal(0))
            gap = total.value - subtotal.value - tax
            if tax and any(abs(gap - extra) <= _TOLERANCE for extra in extras):
                return replace(chosen[0], value=tax, confidence=0.95)
    return None


def _rounded(amount: Extracted[Decimal] | None, digits: int | None) -> Extracted[Decimal] | None:
    if amount is None or digits is None:
        return amount
    return replace(amount, value=_to_digits(amount.value, digits))


def _rounded_item(item: Extracted[LineItem], digits: int | None) -> Extracted[LineItem]:
    if item.value.total is None or digits is None:
        return item
    return replace(item, value=replace(item.value, total=_to_digits(item.value.total, digits)))


def _to_digits(amount: Decimal, digits: int) -> Decimal:
    return amount.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
