"""Ranks what a fiscal document's reader says among what the finders for all documents say."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from recibo.extract.fields.total import probability
from recibo.extract.model import Candidates, Extracted, Header

T = TypeVar("T")

# What a general finder's log-odds lose against those of a reader that knows the labels of this
# kind of document: where they disagreed on 184 Brazilian files, the reader was right in 203 cases
# of 205. Its own doubts (no check digits, no label) still let the general finder win.
_UNAWARE = 2.5
# A reader that misses a field casts some doubt on what others find.
_UNSEEN = 0.5
# Certainty is kept off 0 and 1.
_LEAST, _MOST = 1e-3, 0.999


def merged(general: Candidates, fiscal: Header) -> Candidates:
    """Return one ranking per field, best first; taxes within prices enter no sum of net and tax."""
    tax = (fiscal.tax,) if fiscal.tax else ()
    return replace(
        general,
        # The reader was chosen by type.
        types=(fiscal.type, *general.types),
        merchant_names=_ranked(fiscal.merchant_name, general.merchant_names),
        merchant_tax_ids=_ranked(fiscal.merchant_tax_id, general.merchant_tax_ids),
        moments=_ranked(fiscal.issued_at, general.moments),
        totals=_ranked(fiscal.total, general.totals),
        subtotals=_ranked(fiscal.subtotal, general.subtotals),
        taxes=tax or _ranked(None, general.taxes),
        splits=(),
        levies=tax or _ranked(None, general.levies),
        currencies=_ranked(fiscal.currency, general.currencies),
        document_numbers=_ranked(fiscal.document_number, general.document_numbers),
        document_keys=_ranked(fiscal.document_key, general.document_keys),
    )


def _ranked(
    fiscal: Extracted[T] | None, general: Sequence[Extracted[T]]
) -> tuple[Extracted[T], ...]:
    """Return all candidates for a field, each value once, the likeliest first."""
    if fiscal is None:
        return tuple(_doubted(found, _UNSEEN) for found in general)
    others = (_doubted(found, _UNAWARE) for found in general if found.value != fiscal.value)
    return tuple(sorted((fiscal, *others), key=lambda found: -found.confidence))


def _doubted(found: Extracted[T], doubt: float) -> Extracted[T]:
    bounded = min(max(found.confidence, _LEAST), _MOST)
    log_odds = math.log(bounded / (1 - bounded))
    return replace(found, confidence=probability(log_odds - doubt))
