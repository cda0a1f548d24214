"""Fits all weights, on all documents and on those of other sources only."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from recibo.extract import weights
from training import sources
from training.documents import Document
from training.fields.fitter import Fitter, Weights

#: Weights by field.
ByField = Mapping[str, Weights]


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights of all fields."""

    #: Fitted on all documents.
    whole: ByField
    #: By fold, fitted without the sources in it.
    without: Sequence[ByField]


def cross_fit(
    documents: Sequence[Document],
    fitters: Iterable[Fitter[Any]],
    *,
    earlier: Sequence[ByField] = (),
    jobs: int = 1,
) -> Fitted:
    """Fit each field in turn.

    A document's samples for a field are read with the weights that other fields got without
    its source. Otherwise confidence would be fitted on choices made with knowledge of the truth.

    Args:
        documents: What to fit on.
        fitters: The fields to fit.
        earlier: By fold, the weights of fields that were fitted without it before, on the same
            documents: others may divide the sources into other folds.
        jobs: Processes to read in.
    """
    folds = fold_of(documents)
    whole: dict[str, Weights] = {}
    without: list[dict[str, Weights]] = [dict(one) for one in earlier]
    without = without or [{} for _ in range(sources.FOLDS)]
    for fitter in fitters:
        known: list[list[Any]] = [[] for _ in range(sources.FOLDS)]
        for document, found in zip(
            documents, _samples(fitter, documents, without, jobs), strict=True
        ):
            known[folds[document.key]] += found
        whole[fitter.field] = fitter.fit(_joined(known))
        for fold, by_field in enumerate(without):
            others = [found for other, found in enumerate(known) if other != fold]
            by_field[fitter.field] = fitter.fit(_joined(others))
    return Fitted(whole, [{field: one[field] for field in whole} for one in without])


def fold_of(documents: Sequence[Document]) -> dict[str, int]:
    """Return the fold of each document by its key."""
    by_source = sources.folds(document.source for document in documents)
    return {document.key: by_source[document.source] for document in documents}


def _samples(
    fitter: Fitter[Any], documents: Sequence[Document], without: Sequence[ByField], jobs: int
) -> Iterable[Sequence[Any]]:
    folds = fold_of(documents)
    replaced = [without[folds[document.key]] for document in documents]
    learn = partial(_learned, fitter)
    if jobs == 1:
        return map(learn, documents, replaced)
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(learn, documents, replaced, chunksize=8))


def _learned(fitter: Fitter[Any], document: Document, replaced: ByField) -> Sequence[Any]:
    with weights.replaced(replaced):
        found: Sequence[Any] = fitter.samples(document)
        return found


def _joined(parts: Iterable[Sequence[Any]]) -> list[Any]:
    return [sample for part in parts for sample in part]
