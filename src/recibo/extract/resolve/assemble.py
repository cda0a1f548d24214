"""Chooses one value per field from the candidates, with cross-checks between amounts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations
from typing import TypeVar

from recibo.extract.candidates import Candidates
from recibo.extract.model import DocumentType, Extracted, LineItem, Receipt
from recibo.extract.probabilities import log_odds, probability
from recibo.extract.resolve import arithmetic, details, parts, repair
from recibo.extract.resolve.arithmetic import SEVERAL, Sums
from recibo.extract.text import tables
from recibo.extract.weights import weights

T = TypeVar("T")

_MOST_TAX = Decimal("0.45")

# A candidate with a lower confidence is left out: null is better than a guess.
_LEAST_TOTAL, _LEAST_MOMENT, _LEAST_CURRENCY = 0.5, 0.3, 0.3
# All names together, as several candidates hold the same one: likelier than no name at all.
_LEAST_NAMES, _LEAST_NAME_ALONE = 0.5, 0.9
# Two dates with at least this confidence are of two sales.
_LIKELY_DAY = 0.8
_LEAST_TAX_ID, _LEAST_NUMBER = 0.45, 0.3


def assemble(candidates: Candidates, *, hint: DocumentType | None = None) -> Receipt:
    """Return the receipt with the best candidate of each field; `hint` is the default type."""
    currency = _likeliest(candidates.currencies, _LEAST_CURRENCY)
    total = likeliest_total(candidates)
    known = parts.chosen(candidates, total)
    issued_at = _likeliest(candidates.moments, _LEAST_MOMENT)
    merchant_name = _name(candidates.merchant_names, is_alone=not (total or issued_at))
    merchant_tax_id = _likeliest(candidates.merchant_tax_ids, _LEAST_TAX_ID)
    digits = tables.currencies()[currency.value].digits if currency else None
    receipt = Receipt(
        type=_type(candidates, hint),
        merchant_name=merchant_name,
        merchant_tax_id=merchant_tax_id,
        issued_at=issued_at,
        total=_rounded(total, digits),
        subtotal=_rounded(known.subtotal, digits),
        tax=_rounded(known.tax, digits),
        currency=currency,
        document_number=_likeliest(candidates.document_numbers, _LEAST_NUMBER),
        document_key=_likeliest(candidates.document_keys, 0),
        line_items=tuple(_rounded_item(item, digits) for item in candidates.line_items),
        details=details.with_parties(candidates.details, candidates, merchant_tax_id),
        category=candidates.categories[0] if candidates.categories else None,
        texts=candidates.texts,
    )
    return details.with_summed_items(details.with_amounts(receipt, candidates))


def _name(names: Sequence[Extracted[str]], *, is_alone: bool) -> Extracted[str] | None:
    if is_alone:
        # Every page has a first line; without an amount or a date it is unlikely a seller's name.
        return _likeliest(names, _LEAST_NAME_ALONE)
    return names[0] if sum(name.confidence for name in names) >= _LEAST_NAMES else None


def _type(candidates: Candidates, hint: DocumentType | None) -> Extracted[DocumentType]:
    if candidates.types:
        return candidates.types[0]
    return Extracted(hint or DocumentType.RECEIPT, 0.5, "")


def _likeliest(candidates: Sequence[Extracted[T]], least: float) -> Extracted[T] | None:
    return candidates[0] if candidates and candidates[0].confidence >= least else None


def likeliest_total(candidates: Candidates) -> Extracted[Decimal] | None:
    """Return the likeliest total; None if it is likelier that none is printed."""
    return _likeliest(ranked_totals(candidates), _LEAST_TOTAL)


def ranked_totals(candidates: Candidates) -> tuple[Extracted[Decimal], ...]:
    """Return the totals ranked by their features and the sums they agree with, best first.

    A confidence above 0.5 means: likelier than that the total is not printed.
    """
    known = weights("total")["sums"]
    scored = [
        (
            log_odds(total.confidence)
            + sum(known.get(name, 0.0) * holds for name, holds in checks.items()),
            total,
        )
        for total, checks in checked_totals(candidates)
    ]
    scored.sort(key=lambda pair: -pair[0])
    ranked = [replace(total, confidence=probability(score)) for score, total in scored]
    return tuple(_with_tip_first(ranked, Sums(candidates).with_tips))


def _with_tip_first(
    ranked: Sequence[Extracted[Decimal]], with_tips: Mapping[Decimal, Decimal]
) -> Sequence[Extracted[Decimal]]:
    """Prefer the printed total that includes the tip, as paid, to the total before the tip."""
    paid = with_tips.get(ranked[0].value) if ranked else None
    final = next((total for total in ranked if total.value == paid), None)
    if final is None:
        return ranked
    final = replace(final, confidence=max(final.confidence, ranked[0].confidence))
    return [final, *(total for total in ranked if total.value != paid)]


def checked_totals(
    candidates: Candidates,
) -> list[tuple[Extracted[Decimal], Mapping[str, float]]]:
    """Return the totals, misread ones repaired, each with the sums that agree."""
    sums = Sums(candidates)
    ways = sums.ways()
    totals = repair.repaired(candidates.totals, ways)
    totals = (*totals, *repair.inferred(totals, ways, candidates.change))
    sums = Sums(replace(candidates, totals=totals))
    return [(total, sums.checks(total)) for total in totals]


def is_summed_up(total: Extracted[Decimal], candidates: Candidates) -> bool:
    """Return whether a subtotal and the amounts below it add up to the total."""
    return _adds_up(total, Sums(candidates))


def _adds_up(total: Extracted[Decimal], sums: Sums) -> bool:
    tax_breakdowns = sums.candidates.tax_breakdowns
    return total.value in sums.of_parts or any(
        split.net and split.gross == total.value for split in tax_breakdowns
    )


def are_several(candidates: Candidates) -> bool:
    """Return whether the page shows two documents: two dates and two totals with their sums."""
    days = {moment.value.date for moment in candidates.moments if moment.confidence >= _LIKELY_DAY}
    # Only printed totals: the gross of a tax rate is a sum too, but not labelled as a total.
    sums = Sums(candidates)
    summed = [total for total in sums.likely if _adds_up(total, sums)]
    steps = {abs(step) for step in arithmetic.sums(sums.extras)}
    return len(days) >= SEVERAL and any(
        a.value != b.value and abs(a.value - b.value) not in steps
        for a, b in combinations(summed, 2)
    )


def is_off_by_change(total: Extracted[Decimal], candidates: Candidates) -> bool:
    """Return whether cash and change are printed, but do not differ by the total."""
    is_given = bool(candidates.cash and candidates.change)
    return is_given and not Sums(candidates).is_less_change(total.value)


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
