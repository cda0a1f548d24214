"""Receipt or invoice."""

from collections.abc import Mapping, Sequence

from recibo.extract.fields import document_type
from recibo.extract.layout.rows import rows
from recibo.extract.model import DocumentType
from training.documents import Document
from training.fields.fitter import Fitter
from training.logistic import Choice, fit_choices

# What the weights are held to: no document here shows what an upload's hint is worth, and the
# few invoices are of few sellers.
_PRIOR = {
    "always": -1.5,
    "title": 1.5,
    "receipt_title": -1.5,
    "billing": 1.2,
    "receipt_words": -1.0,
    "till": -1.2,
    "page": 1.5,
    "slip": -1.0,
    "hint": 0.8,
}
_PENALTY = 5.0
_KINDS = (DocumentType.INVOICE, DocumentType.RECEIPT)


def samples(document: Document) -> list[Choice]:
    """Return the choice between invoice and receipt; fiscal documents have other types."""
    if "type" not in document.asked:
        return []
    right = [document.is_right("type", kind.value) for kind in _KINDS]
    pages = document.pages()
    if not any(right) or not pages:
        return []
    return [Choice([document_type.features(pages, rows(pages)), {}], right)]


def fit(known: Sequence[Choice]) -> Mapping[str, Mapping[str, float]]:
    """Return the weights of the features of an invoice."""
    names = list(_PRIOR)
    return {"invoice": fit_choices(known, names, penalty=_PENALTY, prior=_PRIOR, least_spread=None)}


FITTER = Fitter(document_type.FIELD, samples, fit)
