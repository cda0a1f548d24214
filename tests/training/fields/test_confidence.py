"""Confidence is fitted on every kind of sample of a document."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.recognition import Recognition
from recibo.extract.weights import weights
from tests.training import scored
from training import documents
from training.documents import Document
from training.fields import confidence
from training.fields.confidence import Sample
from training.logistic import Answer


@pytest.fixture
def document(tmp_path: Path) -> Document:
    """A text PDF."""
    known = documents.load(scored.folder(tmp_path), Recognition(cache=tmp_path / "cache"))
    return next(one for one in known if one.key == "documents/receipt:pdf")


def clean(document: Document) -> dict[str, bool]:
    """Return whether each value of the undamaged document is right."""
    found = confidence.samples(document)
    return {one.field: one.answer.is_right for one in found if one.kind == "clean"}


def test_values_are_samples_with_their_verdict(document: Document) -> None:
    expected = {"merchant_name", "issued_at", "total", "subtotal", "document_number"}
    right = clean(document)

    assert expected == right.keys()
    assert right["total"]
    assert right["document_number"]


def test_wrong_value_is_a_wrong_sample(document: Document) -> None:
    other = replace(document, truth={**document.truth, "total": "1.23"})

    assert not clean(other)["total"]


def test_words_of_a_text_layer_may_be_lost_but_not_misread(document: Document) -> None:
    found = {one.kind: one.answer.share for one in confidence.samples(document)}

    assert {"clean": 1.0, "lost words": 0.15, "cut off": 0.1} == found


def test_weights_have_a_value_for_every_feature_in_use() -> None:
    scores = [dict.fromkeys(("score", "legible_score"), float(score)) for score in range(6)]
    answers = [Answer(one, is_right=one["score"] > 2) for one in scores]
    fields = weights("confidence")
    known = [Sample(field, "clean", answer) for field in fields for answer in answers]

    fitted = confidence.fit(known)

    assert {name: own.keys() for name, own in fields.items()} == {
        name: own.keys() for name, own in fitted.items()
    }
    assert all(own.get("score", own.get("legible_score", 0)) > 0 for own in fitted.values())
