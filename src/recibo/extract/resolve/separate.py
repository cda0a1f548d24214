"""Detects files whose pages are documents of their own, such as a month of scanned tickets."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from recibo.extract.model import Extracted, Receipt

# What is read of such a file is that of any of its pages.
_MOST_CONFIDENCE = 0.5
_MIXED = ("merchant_name", "issued_at", "total", "document_number")


def are_separate(pages: Sequence[Receipt]) -> bool:
    """Return whether two pages are documents of other days and totals, and not of one number.

    Args:
        pages: What each page says if it is read alone.
    """
    whole = [page for page in pages if page.total and page.issued_at]
    return any(_are_different(one, other) for one, other in combinations(whole, 2))


def _are_different(one: Receipt, other: Receipt) -> bool:
    if not (_differs(one.total, other.total) and _differs(one.issued_at, other.issued_at)):
        return False
    if _differs(one.document_key, other.document_key):
        return True
    if _differs(one.merchant_tax_id, other.merchant_tax_id):
        return True
    # Further pages of a bill may have a date, a sum and some number, too.
    is_other_number = _differs(one.document_number, other.document_number)
    return is_other_number and _shape(one.document_number) == _shape(other.document_number)


def _shape(number: Extracted[str] | None) -> str | None:
    return re.sub(r"[^\W\d_]", "A", re.sub(r"\d", "0", number.value)) if number else None


def _differs(one: Extracted[Any] | None, other: Extracted[Any] | None) -> bool:
    return one is not None and other is not None and one.value != other.value


def in_doubt(receipt: Receipt) -> Receipt:
    """Return the receipt with low confidence in the fields that may be those of several pages."""
    found = {name: getattr(receipt, name) for name in _MIXED}
    return replace(
        receipt,
        **{
            name: replace(one, confidence=min(one.confidence, _MOST_CONFIDENCE))
            for name, one in found.items()
            if one is not None
        },
    )
