"""Chooses discount, tip, service charge and rounding: those with which the amounts add up."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract.candidates import AmountCandidate, Candidates
from recibo.extract.model import Extracted, LineItem, Receipt
from recibo.extract.resolve import arithmetic, choices
from recibo.extract.resolve.arithmetic import Sums
from recibo.extract.resolve.choices import Option
from recibo.extract.text import lexicon
from recibo.extract.text.folding import fold

FIELDS = ("discount", "tip", "service_charge", "rounding")
_RATE = re.compile(r"[\d.,]+ ?%?")
# Items may be called like these: a service bell.
_ADDED = ("tip", "service_charge")

_CENT = Decimal("0.01")
_ITEMS_TOLERANCE = Decimal("0.02")

Amounts = Mapping[str, Extracted[Decimal] | None]


@dataclass(frozen=True, slots=True)
class _Known:
    """The amounts with which others must agree."""

    total: Decimal | None
    subtotal: Decimal | None
    tax: Decimal
    items: Decimal | None
    #: The sum of the negative items, as a positive amount.
    returned: Decimal
    #: The amounts between subtotal and total, other than the candidate's.
    extras: Sequence[Decimal]
    #: Whether each negative item only reduces the price of one above it.
    are_reductions: bool


def chosen(candidates: Candidates, header: Receipt) -> Amounts:
    """Return the amounts of a document with the probability that each is right."""
    return {field: _chosen(field, candidates, header) for field in FIELDS}


def _chosen(field: str, candidates: Candidates, header: Receipt) -> Extracted[Decimal] | None:
    found = options(field, candidates, header)
    if not found:
        return None
    if found[0].features.get("boxed"):
        return found[0].value
    known = choices.probabilities(field, found)
    if sum(known) < choices.LEAST:
        return None
    best = known.index(max(known))
    value = found[best].value.value
    same = [
        share for option, share in zip(found, known, strict=True) if option.value.value == value
    ]
    return replace(found[best].value, confidence=sum(same))


def options(
    field: str, candidates: Candidates, header: Receipt
) -> list[Option[Extracted[Decimal]]]:
    """Return the candidates for a field with their features, one for each value."""
    amounts = candidates.amounts
    every = {
        "discount": amounts.discounts,
        "tip": amounts.tips,
        "service_charge": amounts.service_charges,
        "rounding": amounts.roundings,
    }
    own = every[field]
    if field in _ADDED:
        items = candidates.line_items
        own = tuple(
            one
            for one in own
            if not (_is_item(one.found, items) or _is_most(one.found.value, header))
        )
    # On a credit note all amounts are negative, not only discounts.
    is_credit = field == "discount" and header.total is not None and header.total.value < 0
    if not own or is_credit:
        return []
    others = [
        -one.found.value if name == "discount" else one.found.value
        for name, found in every.items()
        if name != field
        for one in found
    ]
    others += [charge.value for charge in candidates.charges]
    known = _known(candidates, header, others)
    if field == "discount":
        own = (*own, *_sum_of_reductions(own, known))
    by_value: dict[Decimal, list[AmountCandidate]] = {}
    for one in own:
        by_value.setdefault(one.found.value, []).append(one)
    return [Option(same[0].found, _features(field, same, own, known)) for same in by_value.values()]


def _sum_of_reductions(own: Sequence[AmountCandidate], known: _Known) -> Iterator[AmountCandidate]:
    """Yield the sum of several negative items that are discounts, if no other candidate has it."""
    rows = [one for one in own if one.features.get("negative") and not one.features.get("summed")]
    is_new = all(one.found.value != known.returned for one in own)
    is_sum = sum((one.found.value for one in rows), Decimal(0)) == known.returned
    if len(rows) > 1 and known.are_reductions and is_new and is_sum:
        text = "\n".join(one.found.text for one in rows)
        found = replace(rows[0].found, value=known.returned, text=text)
        is_before = min(one.features.get("before_total", 0) for one in rows)
        features = {"negative": 1.0, "before_total": is_before, "sum_of_rows": 1.0}
        yield AmountCandidate(found, rows[-1].row, features)


def _is_item(found: Extracted[Decimal], items: Sequence[Extracted[LineItem]]) -> bool:
    """Return whether an amount is that of `Tip Top Bread`: of an item, with others below it."""
    if found.box is None:
        return False
    middle, end = found.box.y_center, found.box.y1
    own = [item for item in items if item.page == found.page and item.box]
    names = [item.value.name for item in own if item.box and item.box.y0 <= middle <= item.box.y1]
    has_more = any(item.box and item.box.y0 > end for item in own)
    return has_more and any(not _is_charge(name) for name in names)


def _is_most(value: Decimal, header: Receipt) -> bool:
    """Return whether an amount is most of the total, as `SERVICIO` is on the receipt of a taxi."""
    return header.total is not None and 2 * abs(value) > abs(header.total.value)


def _is_charge(name: str) -> bool:
    """Return whether a name is only a label, perhaps with a rate: `Service charge 10%`."""
    return lexicon.wordbook(*_ADDED, "charge").is_all(_RATE.sub("", name))


def _known(candidates: Candidates, header: Receipt, extras: Sequence[Decimal]) -> _Known:
    totals = [item.value.total or Decimal(0) for item in candidates.line_items]
    return _Known(
        total=header.total.value if header.total else None,
        subtotal=header.subtotal.value if header.subtotal else None,
        tax=header.tax.value if header.tax else Decimal(0),
        items=Sums(candidates).of_items,
        returned=-sum((total for total in totals if total < 0), Decimal(0)),
        extras=arithmetic.distinct(list(dict.fromkeys(extras))),
        are_reductions=_are_reductions([item.value for item in candidates.line_items]),
    )


def _are_reductions(items: Sequence[LineItem]) -> bool:
    """Return whether each negative item reduces the price of one above it.

    Returned articles have a number, begin as another item does, or are over half of the item
    above; returned deposits have a word for one.
    """
    firsts = Counter(_first_word(item.name) for item in items)
    above: Decimal | None = None
    for item in items:
        total = item.total or Decimal(0)
        if total > 0:
            above = total
        elif total < 0:
            has_number = item.qty is not None or any(map(str.isdigit, item.name))
            is_article = has_number or firsts[_first_word(item.name)] > 1
            if above is None or is_article or -2 * total > above or lexicon.is_returned(item.name):
                return False
    return True


def _first_word(name: str) -> str:
    return fold(name).partition(" ")[0]


def _features(
    field: str, same: Sequence[AmountCandidate], own: Sequence[AmountCandidate], known: _Known
) -> dict[str, float]:
    value = same[0].found.value
    effect = -value if field == "discount" else value
    names = {name for one in same for name in one.features}
    features = {name: max(float(one.features.get(name, 0)) for one in same) for name in names}
    others = [one.found.value for one in own if one.found.value != value]
    closes, from_items = _closes(effect, known), _from_items(effect, known)
    is_among_items = _is_among_items(value, known)
    if is_among_items and known.are_reductions:
        # What it reduces, and the arithmetic, say what a word for a discount would.
        features["word"] = 1.0
    is_marked = any(features.get(name) for name in ("negative", "summed", "boxed"))
    return features | {
        "always": 1,
        "unproven": not (closes or from_items or is_marked),
        "repeated": min(len(same) - 1, 2),
        "closes": closes,
        "from_items": from_items,
        "is_returned": bool(known.returned) and value == known.returned,
        "among_items": is_among_items,
        "sum_of_others": len(others) > 1 and sum(others, Decimal(0)) == value,
        "others": min(len(set(others)), 3),
        "in_sum_of_others": any(
            sum((each for each in {*others, value} if each != other), Decimal(0)) == other
            for other in others
        )
        and len(set(others)) > 1,
        "larger_than_total": known.total is not None and abs(value) > abs(known.total),
        "last": same[-1].row == max(one.row for one in own),
    }


def _closes(effect: Decimal, known: _Known) -> bool:
    """Return whether the amount is needed between subtotal and total."""
    if known.total is None or known.subtotal is None:
        return False
    gap = known.total - known.subtotal
    for tax in {Decimal(0), known.tax}:
        for extra in (Decimal(0), *arithmetic.sums(known.extras)):
            if abs(gap - tax - extra - effect) <= _CENT:
                return True
    return False


def _is_among_items(value: Decimal, known: _Known) -> bool:
    """Return whether the amount is the negative items, and all items make the total."""
    if not known.returned or value != known.returned or known.items is None:
        return False
    wholes = (known.total, known.subtotal)
    taxes = {Decimal(0), known.tax}
    return any(
        whole is not None and abs(known.items + tax - whole) <= _ITEMS_TOLERANCE
        for whole in wholes
        for tax in taxes
    )


def _from_items(effect: Decimal, known: _Known) -> bool:
    """Return whether the items and the amount make the subtotal or the total."""
    if known.items is None:
        return False
    wholes = [whole for whole in (known.total, known.subtotal) if whole is not None]
    taxes = {Decimal(0), known.tax}
    return any(
        abs(known.items + tax + extra + effect - whole) <= _ITEMS_TOLERANCE
        for whole in wholes
        for tax in taxes
        for extra in (Decimal(0), *known.extras)
    )
