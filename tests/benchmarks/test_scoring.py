"""Results of the benchmark, from readings of invented documents."""

from pathlib import Path

import pytest

from benchmarks import accuracy, scoring
from benchmarks.scoring import Reading, Report
from tests.training import scored
from training import documents
from training.documents import Document

SETS = ("documents", "real documents")
LISTED = "documents: text PDFs"


@pytest.fixture
def known(tmp_path: Path) -> list[Document]:
    return documents.load(scored.folder(tmp_path))


def perfect(document: Document) -> Reading:
    """Return the true values with a high confidence."""
    sure = dict.fromkeys(document.asked, 0.95)
    return {**document.truth, "confidence": 0.95, "confidences": sure}


def report(known: list[Document], **changes: object) -> Report:
    """Return the score of readings with some other values."""
    return scoring.report(known, [{**perfect(one), **changes} for one in known])


def test_perfect_readings_are_all_right(known: list[Document]) -> None:
    found = report(known)

    rows = {f"{name}: {kind}" for name in SETS for kind in ("text PDFs", "foreign, images")}
    assert {"scanned receipts", *rows} == found.rows.keys()
    assert {100.0} == {figure for row in found.rows.values() for figure in row.values()}
    assert (found.invented, found.sure, found.right_when_sure) == (0, 100, 100)


def test_a_wrong_value_counts_against_its_field_and_the_header(known: list[Document]) -> None:
    row = report(known, total="1.23").rows[LISTED]

    assert row["total"] == 0
    assert row["merchant_name"] == 100
    assert 0 < row[scoring.HEADER] < 100


def test_a_missing_value_costs_a_scanned_receipt_half_of_its_f1(known: list[Document]) -> None:
    """One of two asked is given and right: 2 x 1 of 1 given and 2 asked."""
    row = report(known, total=None).rows["scanned receipts"]

    assert row[scoring.HEADER] == pytest.approx(200 / 3)
    assert row[scoring.ALL_THREE] == 0


def test_a_value_for_a_field_that_is_not_printed_is_invented(known: list[Document]) -> None:
    found = report(known, document_key="123")

    assert found.invented == 4
    assert found.absent == 4


def test_items_count_one_by_one(known: list[Document]) -> None:
    items = next(one.truth["line_items"] for one in known if "line_items" in one.truth)

    assert report(known, line_items=items[:1]).rows[LISTED]["line_items"] == 100 / len(items)


def test_confident_readings_with_wrong_totals_are_counted(known: list[Document]) -> None:
    found = report(known, total="1.23", document_number="1")

    assert found.right_when_sure == 0
    assert all(not verdict.is_right for verdict in found.by_field["total"])
    assert len(found.by_field["total"]) == len(known)


def test_refused_documents_count_as_missed(known: list[Document]) -> None:
    found = scoring.report(known, [{} for _ in known])

    assert found.rows[LISTED]["total"] == 0
    assert not found.verdicts


def test_documents_are_read_with_the_weights_held_out_for_them(known: list[Document]) -> None:
    """A confidence without features is that of its constant."""
    (document,) = (one for one in known if one.key == "documents/receipt:pdf")
    fields = ("merchant_name", "issued_at", "total", "subtotal", "tax", "document_number")
    flat = {"confidence": {field: {"always": 0.0} for field in fields}}

    found = accuracy.measure([document], held_out={document.key: flat})

    assert found.rows[LISTED]["total"] == 100
    assert [0.5] == [verdict.confidence for verdict in found.by_field["total"]]


def test_a_sample_is_spread_over_the_list(known: list[Document]) -> None:
    assert [known[0], known[2]] == accuracy.spread(known, 2)
    assert known == accuracy.spread(known, 9)
