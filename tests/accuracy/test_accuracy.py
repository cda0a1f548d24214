"""The gate: what was reached on real documents stays reached."""

import os
from pathlib import Path

import pytest

from benchmarks import accuracy, reliability
from benchmarks.scoring import Report
from tests.accuracy import documents

DATA = Path(
    os.environ.get("RECIBO_ACCURACY_DATA")  # noqa: TID251  # a test's own, no setting
    or Path(__file__).resolve().parents[3] / "shared" / "data"
)

pytestmark = [
    # All in one process, so that the sample is read once.
    pytest.mark.xdist_group("accuracy"),
    # Reading the sample takes many times longer on a machine that others load, too.
    pytest.mark.timeout(1200),
]


@pytest.fixture(scope="module")
def report() -> Report:
    """What the scorers say of the sample."""
    return accuracy.measure(documents.sample(DATA), DATA)


def test_scanned_receipts_stay_as_well_read(report: Report) -> None:
    least = {"total": 95, "date": 95, "merchant": 91, "all_three": 87}

    assert {
        field: score for field, score in report.sroie.items() if score < least.get(field, 0)
    } == {}


@pytest.mark.parametrize(
    ("name", "least"), [("text PDFs", 97), ("Brazil, images", 96), ("foreign, images", 90)]
)
def test_header_fields_of_documents_stay_as_well_read(
    report: Report, name: str, least: float
) -> None:
    assert report.documents[name]["header fields"] >= least


def test_nothing_is_invented(report: Report) -> None:
    assert report.invented <= 1


def test_readings_that_claim_to_be_sure_have_the_right_total(report: Report) -> None:
    assert report.sure >= 85
    assert report.right_when_sure >= 97


def test_confidence_keeps_its_word(report: Report) -> None:
    assert reliability.off_by(report.verdicts) <= 8
