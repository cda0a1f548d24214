"""The seller's tax number: the right candidate, or none of them."""

from collections.abc import Mapping, Sequence

from recibo.extract.fields import tax_id
from recibo.extract.fields.locale_detection import locate
from recibo.extract.layout.rows import rows
from training.documents import Document
from training.fields.fitter import Fitter
from training.logistic import Choice, fit_choices

FIELD = "merchant_tax_id"
# The tax numbers on Brazilian fiscal documents are read by their own layouts.
_TYPES = ("receipt", "invoice")
# Prior weights of tax numbers.
_PRIOR = {
    "labelled": 2.0,
    "passed": 1.5,
    "failed": -1.5,
    "weak": -1.5,
    "home": 1.0,
    "abroad": -1.0,
    "buyer": -3.0,
    "named_buyer": -1.5,
    "any_shape": -1.0,
}


def samples(document: Document) -> list[Choice]:
    """Return the choice on a document; its last candidate is that no number is printed."""
    if FIELD not in document.asked or document.truth["type"] not in _TYPES:
        return []
    lines = rows(document.pages())
    found = tax_id.candidates(lines, locate(lines, hints=tax_id.countries(lines)).country)
    right = [document.is_right(FIELD, one.found.value) for one in found]
    return [Choice([*(one.features for one in found), {}], [*right, not any(right)])]


def fit(known: Sequence[Choice]) -> Mapping[str, float]:
    """Return the fitted weights of all features that occur."""
    names = sorted({name for choice in known for one in choice.candidates for name in one})
    return fit_choices(known, names, penalty=1.0, least_spread=None, prior=_PRIOR)


FITTER = Fitter(FIELD, samples, fit)
