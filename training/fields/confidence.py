"""Confidence: how likely each chosen value is right."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.recognition import Pages
from benchmarks.scoring import spelled
from recibo.extract import errors, pipeline
from recibo.extract.fields import collect
from recibo.extract.model import TextPage
from recibo.extract.resolve import assemble, confidence
from training.documents import Document
from training.fields import damage
from training.fields.fitter import Fitter
from training.logistic import Answer, fit_answers

# The features of each field. More were tried: each kind of sum, the value's recurrence, the
# weakest word, the items. They fit better but generalize worse to other sellers.
_FEATURES = {
    "merchant_name": ("legible_score", "lead", "alone", "doubt", "doubtful", "mixed"),
    "issued_at": ("legible_score", "doubt", "doubtful", "timed"),
    "total": ("legible_score", "lead", "doubt", "doubtful", "exact", "change_off"),
    "subtotal": ("score", "doubt", "doubtful", "parts"),
    "tax": ("score", "doubt", "doubtful", "parts"),
    "document_number": ("score", "doubt", "doubtful"),
}
# The weight of each kind of sample: real damage counts as much as none, words misread on purpose
# less.
_SHARES = {"letters": 0.3, "more letters": 0.15, "lost words": 0.15, "cut off": 0.1}
_PICTURES = (".jpg", ".jpeg", ".png")
# A4 pages of these types take many seconds each, and are hardly ever photographed.
_A4 = ("nfe", "nfse")


@dataclass(frozen=True, slots=True)
class Sample:
    """One value that was read."""

    field: str
    #: `clean`, `damaged`, or how its words were damaged.
    kind: str
    answer: Answer


def samples(document: Document) -> list[Sample]:
    """Return the values read from a document, as it is and damaged."""
    return [
        sample for kind, pages in _variants(document) for sample in _read(document, kind, pages)
    ]


def fit(known: Sequence[Sample]) -> Mapping[str, Mapping[str, float]]:
    """Return the weights of each field."""
    return {
        field: fit_answers([sample.answer for sample in known if sample.field == field], names)
        for field, names in _FEATURES.items()
    }


FITTER = Fitter("confidence", samples, fit)


def is_damaged(document: Document) -> bool:
    """Return whether a document is read damaged, too: pictures that are not of A4 pages."""
    is_picture = document.path.suffix.lower() in _PICTURES
    return is_picture and document.truth.get("type") not in _A4


def damaged_passes(document: Document) -> Pages:
    """Return the recognized pages of the damaged picture; none if it is refused."""
    data = damage.picture(document.path.read_bytes(), document.key)
    return document.recognition.cached(data, "damaged", lambda: _recognized(data))


def _variants(document: Document) -> Iterator[tuple[str, Sequence[TextPage]]]:
    clean = document.pages()
    yield "clean", clean
    if is_damaged(document):
        yield "damaged", [passes[0] for passes in damaged_passes(document)]
    for kind in damage.WORD_DAMAGES:
        # The words of a text layer are never misread.
        if clean and (not clean[0].is_exact or kind in ("lost words", "cut off")):
            yield kind, damage.words(clean, kind, document.key + kind)


def _recognized(data: bytes) -> Pages:
    try:
        return pipeline.recognize(data)
    except errors.ReadingError:
        return []


def _read(document: Document, kind: str, pages: Sequence[TextPage]) -> Iterator[Sample]:
    if not pages:
        return
    candidates = collect.collect(pages)
    receipt = assemble.assemble(candidates)
    values = spelled(receipt)
    for field, features in confidence.features(receipt, candidates, pages).items():
        if field in document.asked:
            is_right = document.is_right(field, values[field])
            yield Sample(field, kind, Answer(features, is_right, _SHARES.get(kind, 1.0)))
