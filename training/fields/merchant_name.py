"""The seller's name: which of the candidates on the first page it is, or none of them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache

from recibo.extract.brazil import fiscal
from recibo.extract.fields import merchant
from recibo.extract.layout.rows import rows
from recibo.extract.model import TextPage
from training.documents import Document
from training.fields import generated
from training.fields.fitter import Fitter
from training.fields.generated import Header
from training.logistic import Choice, fit_choices

FIELD = "merchant_name"
# Strength of the L2 penalty; with less, fewer names of left-out companies are found.
_PENALTY = 30.0
# Lower bound of the standard deviation that scales rare features, so that they are penalized too.
_LEAST_SPREAD = 0.05
# The right candidates most similar to the truth are to be chosen; without one, a similar one.
_SIMILAR, _EQUALLY_SIMILAR = 0.75, 0.03
_NONE = {"none": 1.0}
# What few documents show, but words say: a label of an amount, the name below the buyer's label,
# the value of another label and a slogan are not the seller.
_PRIOR = {"amount_label": -2.0, "billed": -5.0, "labelled_value": -1.0, "slogan": -5.0}
# Documents whose layout names the issuer are read by layout: they count less.
_SHARE_OF_FISCAL = 0.2
# The weight of a generated document. Names are where weights fitted on few sources of real ones
# carry over worst.
_SHARE_OF_GENERATED = 0.6


def samples(document: Document) -> list[Choice]:
    """Return the choice among the candidates of a document."""
    if FIELD not in document.asked:
        return []
    names = _names(document.truth[FIELD], document.alternatives.get(FIELD))
    pages = document.pages()
    choice = _choice(pages, names, lambda name: document.is_right(FIELD, name))
    fiscal_document = fiscal.identify(pages)
    if fiscal_document is not None and fiscal_document.read().merchant_name is not None:
        return [replace(choice, share=_SHARE_OF_FISCAL)]
    return [choice]


def fit(known: Sequence[Choice]) -> Mapping[str, float]:
    """Return the weights of the features, and of "none"."""
    names = sorted({name for choice in known for one in choice.candidates for name in one})
    return fit_choices(known, names, penalty=_PENALTY, least_spread=_LEAST_SPREAD, prior=_PRIOR)


def fit_also_generated(known: Sequence[Choice]) -> Mapping[str, float]:
    """Return the weights by real and by generated documents."""
    return fit([*known, *_generated()])


FITTER = Fitter(FIELD, samples, fit_also_generated)


# Cached, since weights are fitted once for each fold.
@cache
def _generated() -> Sequence[Choice]:
    return tuple(map(_of_generated, generated.headers()))


def _of_generated(made: Header) -> Choice:
    names = _names(made.truth.merchant_name, made.alternatives.get(FIELD))
    letters = {_letters(name) for name in names}
    choice = _choice(made.pages, names, lambda name: _letters(name) in letters)
    return replace(choice, share=_SHARE_OF_GENERATED)


def _choice(
    pages: Sequence[TextPage], names: Sequence[str], is_right: Callable[[str], bool]
) -> Choice:
    found = merchant.described(rows(pages))
    candidates = [candidate.name for candidate, _ in found]
    features = [{name: float(value) for name, value in values.items()} for _, values in found]
    chosen = _chosen(candidates, list(map(is_right, candidates)), names)
    return Choice([*features, _NONE], [*chosen, not any(chosen)])


def _names(name: str | None, others: Iterable[str | None] | None) -> list[str]:
    return [one for one in (name, *(others or ())) if one]


def _chosen(names: Sequence[str], right: Sequence[bool], truths: Sequence[str]) -> list[bool]:
    scores = [max((_similarity(name, truth) for truth in truths), default=0.0) for name in names]
    if any(right):
        best = max(one for one, is_right in zip(scores, right, strict=True) if is_right)
        return [
            is_right and one >= best - _EQUALLY_SIMILAR
            for one, is_right in zip(scores, right, strict=True)
        ]
    best = max(scores, default=0.0)
    return [one >= _SIMILAR and one == best for one in scores]


def _similarity(name: str, other: str) -> float:
    return SequenceMatcher(None, _letters(name), _letters(other), autojunk=False).ratio()


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.upper())
