"""Finds why a person should look at a reading."""

from collections.abc import Collection, Iterator
from decimal import Decimal

from recibo.extract.model import Source
from recibo.extract.resolve import confidence
from recibo.schemas import sums
from recibo.schemas.receipts import DOUBTFUL, Evidence, Reading, ReviewReason
from recibo.schemas.states import ReviewCode

#: A receipt that is less likely right than this as a whole is doubtful.
WHOLE_CONFIDENCE = 0.9

_REQUIRED = ("merchant_name", "issued_at", "total")
_LISTS = ("line_items", "taxes", "payments")
_EVIDENCED = tuple(name for name in Evidence.model_fields if name not in (*_LISTS, "quality"))


def find(
    reading: Reading, evidence: Evidence | None, corrected: Collection[str]
) -> list[ReviewReason]:
    """Return why a person should look at a reading; a corrected field is not doubtful.

    Args:
        reading: The receipt, with its corrections.
        evidence: Of the machine's reading; None if it is unknown.
        corrected: The names of the fields that a person changed.
    """
    return [
        *_low(reading, evidence, corrected),
        *(
            ReviewReason(code=ReviewCode.MISSING, field=name)
            for name in _REQUIRED
            if getattr(reading, name) is None
        ),
        *(
            ReviewReason(code=ReviewCode.AMOUNTS_DISAGREE, field=name)
            for name in (*_disagreeing(reading, evidence, corrected), *_differing(reading))
        ),
        *(
            ReviewReason(code=ReviewCode.EMBEDDED_DIFFERS, field=name)
            for name in _contradicted(evidence)
            if name not in corrected
        ),
    ]


def _low(
    reading: Reading, evidence: Evidence | None, corrected: Collection[str]
) -> Iterator[ReviewReason]:
    for name, share in _confidences(evidence).items():
        if share < DOUBTFUL and name not in corrected:
            yield ReviewReason(code=ReviewCode.LOW_CONFIDENCE, field=name)
    if _whole(reading, evidence, corrected) < WHOLE_CONFIDENCE:
        yield ReviewReason(code=ReviewCode.LOW_CONFIDENCE, field=None)


def _whole(reading: Reading, evidence: Evidence | None, corrected: Collection[str]) -> float:
    """Return the confidence of the whole: as read, or with the corrected fields certain."""
    if not {"total", "issued_at", "merchant_name"} & set(corrected):
        return reading.confidence
    known = _confidences(evidence)
    certain = dict.fromkeys(corrected, 1.0)
    total, issued_at, merchant_name = (
        certain.get(name, known.get(name)) for name in ("total", "issued_at", "merchant_name")
    )
    return confidence.overall(total, issued_at, merchant_name)


def _confidences(evidence: Evidence | None) -> dict[str, float]:
    """Return the confidence of each field that was read; of a list the lowest one."""
    if evidence is None:
        return {}
    found = {name: getattr(evidence, name) for name in _EVIDENCED}
    known = {name: one.confidence for name, one in found.items() if one is not None}
    for name in _LISTS:
        if entries := getattr(evidence, name):
            known[name] = min(one.confidence for one in entries)
    return known


def _contradicted(evidence: Evidence | None) -> Iterator[str]:
    """Yield the fields whose embedded value differs from that of the page."""
    for name in (*_EVIDENCED, *_LISTS) if evidence else ():
        found = getattr(evidence, name)
        entries = found if name in _LISTS else (found,)
        if any(one and one.source is Source.EMBEDDED and one.alternatives for one in entries):
            yield name


def _disagreeing(
    reading: Reading, evidence: Evidence | None, corrected: Collection[str]
) -> Iterator[str]:
    """Yield the fields whose amounts do not add up."""
    total, subtotal, tax = (_decimal(one) for one in (reading.total, reading.subtotal, reading.tax))
    tolerance = sums.tolerance(reading.currency)

    def agree(amount: Decimal, *others: Decimal) -> bool:
        return any(abs(amount - one) <= tolerance for one in others)

    between = sums.steps(reading)
    whole = subtotal if subtotal is not None else total
    items = [_decimal(item.total) for item in reading.line_items]
    known = [one for one in items if one is not None]
    if whole is not None and known and len(known) == len(items):
        added = sum(known, Decimal(0))
        # The prices of items may contain the tax or not.
        wholes = (whole, whole - (tax or 0), whole + (tax or 0))
        if not any(agree(added + step, *wholes) for step in between):
            yield "line_items"
    if total is None or subtotal is None:
        return
    if any(agree(total, subtotal + step, subtotal + (tax or 0) + step) for step in between):
        return
    # There may be other fees between the two: trust amounts that were read with confidence.
    is_changed = not {"total", "subtotal", "tax"}.isdisjoint(corrected)
    shares = _confidences(evidence)
    if is_changed or min(shares.get("total", 0), shares.get("subtotal", 0)) < DOUBTFUL:
        yield "total"


def _differing(reading: Reading) -> Iterator[str]:
    """Yield the lists that do not add up to the amount that is their sum."""
    if sums.taxes_differ(reading):
        yield "taxes"
    if sums.payments_differ(reading):
        yield "payments"


def _decimal(amount: str | None) -> Decimal | None:
    return None if amount is None else Decimal(amount)
