"""All fitted fields, in the order in which they build on each other."""

from typing import Any

from training.fields import (
    bookkeeping,
    confidence,
    document_number,
    document_type,
    issued_at,
    merchant_name,
    merchant_tax_id,
    parties,
    parts,
    total,
)
from training.fields.fitter import Fitter

#: Confidence is last: it weighs the values that all others choose.
FITTERS: tuple[Fitter[Any], ...] = (
    merchant_tax_id.FITTER,
    document_number.FITTER,
    document_type.FITTER,
    issued_at.FITTER,
    total.FITTER,
    parts.FITTER,
    merchant_name.FITTER,
    *parties.FITTERS,
    *bookkeeping.FITTERS,
    confidence.FITTER,
)
