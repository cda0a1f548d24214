"""The files of a data folder are loaded with their truth and scored by its scorers."""

from pathlib import Path

import pytest

from recibo.extract import pipeline
from tests.training import scored
from training import documents
from training.documents import Document


@pytest.fixture
def known(tmp_path: Path) -> dict[str, Document]:
    """All documents of an invented data folder, by key."""
    return {one.key: one for one in documents.load(scored.folder(tmp_path))}


def test_files_of_all_sets_are_loaded(known: dict[str, Document]) -> None:
    listed = ("documents", "real-documents")
    expected = {f"{name}/receipt:{kind}" for name in listed for kind in ("pdf", "scan")}

    assert {"sroie/001", *expected} == known.keys()


def test_a_missing_set_is_skipped(tmp_path: Path) -> None:
    (scored.folder(tmp_path) / "real-documents").rename(tmp_path / "elsewhere")

    assert {"sroie", "documents"} == {one.data_set for one in documents.load(tmp_path)}


def test_values_are_judged_by_the_scorer_and_its_alternatives(known: dict[str, Document]) -> None:
    document = known["documents/receipt:pdf"]

    assert document.is_right("merchant_name", "KEDAI KOPI MESRA SDN BHD")
    assert document.is_right("merchant_name", "Corner Shop")
    assert not document.is_right("merchant_name", "Terima kasih")
    assert document.is_right("document_key", None)
    assert not document.is_right("document_key", "123")


def test_scanned_receipts_are_judged_by_their_own_scorer(known: dict[str, Document]) -> None:
    document = known["sroie/001"]

    assert document.is_right("merchant_name", scored.SELLER)
    assert not document.is_right("total", None)


def test_fields_without_a_known_truth_are_not_scored(known: dict[str, Document]) -> None:
    assert {"total", "merchant_name"} == known["sroie/001"].asked
    assert "tax" not in known["documents/receipt:pdf"].asked
    assert "total" in known["documents/receipt:pdf"].asked


def test_one_seller_is_one_source_across_sets(known: dict[str, Document]) -> None:
    listed, real = known["documents/receipt:pdf"], known["real-documents/receipt:pdf"]

    assert listed.source == real.source
    assert known["sroie/001"].source != real.source


def test_pages_are_those_of_the_pipeline(known: dict[str, Document]) -> None:
    document = known["documents/receipt:pdf"]

    assert [look[0] for look in pipeline.recognize(document.path.read_bytes())] == document.pages()


def test_file_that_is_refused_has_no_pages(tmp_path: Path) -> None:
    (scored.folder(tmp_path) / "sroie" / "img" / "001.jpg").write_bytes(b"no document")
    (document,) = (one for one in documents.load(tmp_path) if one.data_set == "sroie")

    assert [] == document.pages()
