"""The number of the document: the right candidate, or none of them."""

from collections.abc import Mapping, Sequence

from recibo.extract.fields import number
from recibo.extract.layout.rows import rows
from training.documents import Document
from training.fields.fitter import Fitter
from training.logistic import Choice, fit_choices

FIELD = "document_number"
# The numbers of Brazilian fiscal documents are read by their own layouts.
_TYPES = ("receipt", "invoice")
# Prior weights of labels.
_PRIOR = {
    "number": 4.0,
    "order_number": 2.0,
    "weak_number": 1.0,
    "within": -1.0,
    "other_before": -2.0,
    "reference_of_slip": -3.0,
    "short": -1.5,
    "seats": 1.0,
    "sign": 0.5,
    "stamp": -1.0,
    "stamp_letters": -3.0,
}


def samples(document: Document) -> list[Choice]:
    """Return the choice on a document; its last candidate is that no number is printed."""
    if FIELD not in document.asked or document.truth["type"] not in _TYPES:
        return []
    found = number.candidates(rows(document.pages()))
    right = [document.is_right(FIELD, one.value) for one in found]
    return [Choice([*(one.features for one in found), {}], [*right, not any(right)])]


def fit(known: Sequence[Choice]) -> Mapping[str, float]:
    """Return the fitted weights of all features that occur."""
    names = sorted({name for choice in known for one in choice.candidates for name in one})
    return fit_choices(known, names, penalty=1.0, least_spread=None, prior=_PRIOR)


FITTER = Fitter(FIELD, samples, fit)
