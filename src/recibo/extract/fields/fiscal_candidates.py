"""Merges the fields of a fiscal document's reader with the candidates of the general finders."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from recibo.extract.candidates import Candidates, PartyCandidates
from recibo.extract.fields.total import probability
from recibo.extract.model import Details, Extracted, Header

T = TypeVar("T")

# The penalty on the log-odds of a general finder against a reader that knows the labels of the
# document: where they disagreed on 184 Brazilian files, the reader was right in 203 cases
# of 205. If the reader is uncertain (no check digits, no label), the general finder may still win.
_UNAWARE = 2.5
# From this confidence on, a value of the reader is doubtful only where OCR was: it comes first.
_KNOWN, _BELOW = 0.8, 0.97
# The penalty on candidates for a field that the reader does not find.
_UNSEEN = 0.5
# Probabilities are clamped to avoid 0 and 1.
_LEAST, _MOST = 1e-3, 0.999


def merged(general: Candidates, fiscal: Header, details: Details) -> Candidates:
    """Return one ranking per field, best first; included taxes are not part of net and tax."""
    tax = (fiscal.tax,) if fiscal.tax else ()
    return replace(
        general,
        # The reader decides the type.
        types=(fiscal.type, *general.types),
        merchant_names=_ranked(fiscal.merchant_name, general.merchant_names),
        merchant_tax_ids=_ranked(fiscal.merchant_tax_id, general.merchant_tax_ids),
        moments=_ranked(fiscal.issued_at, general.moments),
        totals=_ranked(fiscal.total, general.totals),
        subtotals=_ranked(fiscal.subtotal, general.subtotals),
        taxes=tax or _ranked(None, general.taxes),
        tax_breakdowns=(),
        tax_sums=tax or _ranked(None, general.tax_sums),
        currencies=_ranked(fiscal.currency, general.currencies),
        document_numbers=_ranked(fiscal.document_number, general.document_numbers),
        document_keys=_ranked(fiscal.document_key, general.document_keys),
        parties=_parties(general.parties, details),
    )


def _parties(general: PartyCandidates, details: Details) -> PartyCandidates:
    return replace(
        general,
        merchant_addresses=_preferred(details.merchant_address, general.merchant_addresses),
        customer_names=_ranked(details.customer_name, general.customer_names),
        # Any other number on the page is hardly ever the customer's.
        customer_tax_ids=(details.customer_tax_id,) if details.customer_tax_id else (),
        due_dates=_preferred(details.due_date, general.due_dates),
    )


def _preferred(
    fiscal: Extracted[T] | None, general: Sequence[Extracted[T]]
) -> tuple[Extracted[T], ...]:
    """Return the candidates of the layout first; without one, the general ones as they are."""
    return tuple(general) if fiscal is None else _ranked(fiscal, general)


def _ranked(
    fiscal: Extracted[T] | None, general: Sequence[Extracted[T]]
) -> tuple[Extracted[T], ...]:
    """Return all candidates for a field, each value once, the likeliest first."""
    if fiscal is None:
        return tuple(_penalized(found, _UNSEEN) for found in general)
    most = fiscal.confidence * _BELOW if fiscal.confidence >= _KNOWN else 1.0
    others = (
        _at_most(_penalized(found, _UNAWARE), most)
        for found in general
        if found.value != fiscal.value
    )
    return tuple(sorted((fiscal, *others), key=lambda found: -found.confidence))


def _at_most(found: Extracted[T], most: float) -> Extracted[T]:
    return replace(found, confidence=min(found.confidence, most))


def _penalized(found: Extracted[T], penalty: float) -> Extracted[T]:
    bounded = min(max(found.confidence, _LEAST), _MOST)
    log_odds = math.log(bounded / (1 - bounded))
    return replace(found, confidence=probability(log_odds - penalty))
