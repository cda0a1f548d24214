"""The documents that accuracy is measured on; they are not part of the repository."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from benchmarks import accuracy, bookkeeping, bookkeeping_truth
from benchmarks.bookkeeping import Mark
from benchmarks.recognition import Recognition
from benchmarks.scoring import Report
from training import documents, fit
from training.cross_fit import fold_of
from training.documents import Document

# So many images of each set, always the same: read in about 70 seconds of one core. Text PDFs take
# no time.
IMAGES = {"sroie": 14, "documents": 10, "real-documents": 16}
_TEXT_PDFS = 20


@dataclass(frozen=True, slots=True)
class Reports:
    """What was measured on the sample."""

    #: With the weights of the package, which were fitted on all documents.
    fitted: Report
    #: Each document with weights that were fitted without its source.
    left_out: Report
    #: The fields of bookkeeping, without the source being judged.
    bookkeeping: Sequence[Mark]


def load(folder: Path) -> list[Document]:
    """Return all documents of the folder; skip the test if there is no such folder.

    A folder that is there but cannot be read fails the test: otherwise a gate that measures nothing
    would look like one that is passed.

    Raises:
        OSError: a document or a scorer cannot be read.
    """
    # A link to nowhere is there.
    if not os.path.lexists(folder):
        pytest.skip("no documents to measure on (RECIBO_ACCURACY_DATA names their folder)")
    return documents.load(folder)


def sample(known: Sequence[Document]) -> list[Document]:
    """Return some images and text PDFs of each set.

    Raises:
        ValueError: there are too few images.
    """
    chosen = []
    for name, count in IMAGES.items():
        files = [document for document in known if document.data_set == name]
        files.sort(key=lambda document: document.key.split(":")[::-1])
        images = [document for document in files if document.kind != "pdf"]
        if len(images) < count:
            message = f"{name} has {len(images)} images, too few to measure on"
            raise ValueError(message)
        pdfs = [document for document in files if document.kind == "pdf"]
        chosen += accuracy.spread(images, count) + accuracy.spread(pdfs, _TEXT_PDFS)
    return chosen


def measured(known: Sequence[Document], pages: Path) -> Reports:
    """Return how the sample is read; its recognized pages are kept in this folder."""
    folds, without = fold_of(known), fit.written()
    held_out = {key: without[fold] for key, fold in folds.items()} if without else {}
    chosen = [replace(one, recognition=Recognition(cache=pages)) for one in sample(known)]
    receipts = accuracy.read(chosen, held_out=held_out)
    return Reports(
        accuracy.measure(chosen),
        accuracy.score(chosen, receipts),
        bookkeeping.score(chosen, receipts, bookkeeping_truth.load()),
    )
