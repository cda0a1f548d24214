"""The seller's name: which of the candidates on the first page it is, or none of them."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from recibo.extract.brazil import fiscal
from recibo.extract.fields import merchant
from recibo.extract.layout.rows import rows
from training.documents import Document
from training.fields.fitter import Fitter
from training.logistic import Choice, fit_choices

# Strength of the L2 penalty; with less, fewer names of left-out companies are found.
_PENALTY = 10.0
# Lower bound of the standard deviation that scales rare features, so that they are penalized too.
_LEAST_SPREAD = 0.05
# The right candidates most similar to the truth are to be chosen; without one, a similar one.
_SIMILAR, _EQUALLY_SIMILAR = 0.75, 0.03
_NONE = {"none": 1.0}
# Documents whose layout names the issuer are read by layout: they count less.
_SHARE_OF_FISCAL = 0.2


def samples(document: Document) -> list[Choice]:
    """Return the choice among the candidates of a document."""
    if "merchant_name" not in document.asked:
        return []
    pages = document.pages()
    fiscal_document = fiscal.identify(pages)
    has_issuer = fiscal_document is not None and fiscal_document.read().merchant_name is not None
    found = merchant.described(rows(pages))
    names = [candidate.name for candidate, _ in found]
    right = [document.is_right("merchant_name", name) for name in names]
    features = [{name: float(value) for name, value in values.items()} for _, values in found]
    chosen = _chosen(names, right, _truths(document))
    share = _SHARE_OF_FISCAL if has_issuer else 1.0
    return [Choice([*features, _NONE], [*chosen, not any(chosen)], share)]


def fit(known: Sequence[Choice]) -> Mapping[str, float]:
    """Return the weights of the features, and of "none"."""
    names = sorted({name for choice in known for one in choice.candidates for name in one})
    return fit_choices(known, names, penalty=_PENALTY, least_spread=_LEAST_SPREAD)


FITTER = Fitter("merchant_name", samples, fit)


def _truths(document: Document) -> list[str]:
    others = document.alternatives.get("merchant_name") or []
    return [name for name in (document.truth["merchant_name"], *others) if name]


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
