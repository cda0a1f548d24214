"""The weights of names are fitted on the candidates that the scorer counts as right."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.recognition import Recognition
from tests.extract.typesetting import text_page
from training.documents import Document
from training.fields.merchant_name import fit, samples

RECEIPT = "FENWICK GARDEN CENTRE\n12 Elm Street, Springfield\n12/07/2023 05:17 PM\nTOTAL $3.20"
SCORER = "def eq(field, truth, value, precision):\n    return truth == value\n"


@pytest.fixture
def document(tmp_path: Path) -> Document:
    """Return a receipt with its page in the cache."""
    path = tmp_path / "receipt.png"
    path.write_bytes(b"receipt")
    recognition = Recognition(cache=tmp_path)
    recognition.cached(
        b"receipt", recognition.accuracy, lambda: [[text_page(RECEIPT, exact=False)]]
    )
    scorer = tmp_path / "scorer.py"
    scorer.write_text(SCORER)
    return Document(
        key="documents/receipt:photo",
        data_set="documents",
        kind="photo",
        path=path,
        scorer=scorer,
        truth={"merchant_name": "FENWICK GARDEN CENTRE"},
        alternatives={},
        asked=frozenset({"merchant_name"}),
        precision="date",
        source="",
        recognition=recognition,
    )


def test_the_right_candidate_is_the_one_to_choose(document: Document) -> None:
    (choice,) = samples(document)

    assert sum(choice.right) == 1
    assert choice.candidates[choice.right.index(True)]["top"] == 1


def test_none_is_the_choice_if_no_candidate_is_like_the_truth(document: Document) -> None:
    (choice,) = samples(replace(document, truth={"merchant_name": "OAKWOOD"}))

    assert [False] * (len(choice.right) - 1) + [True] == list(choice.right)


def test_a_document_without_an_assessed_seller_is_ignored(document: Document) -> None:
    assert samples(replace(document, asked=frozenset())) == []


def test_the_feature_of_the_right_candidates_gets_weight(document: Document) -> None:
    assert fit(samples(document) * 20)["top"] > 0
