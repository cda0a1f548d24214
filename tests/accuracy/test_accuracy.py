"""The gate: what was reached on real documents stays reached."""

import os
from pathlib import Path

import pytest

from benchmarks import bookkeeping, reliability, scoring
from tests.accuracy import kept_pages, sample
from tests.accuracy.sample import Reports

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

# The least right values, percent, a little below what the sample had: with weights fitted on all
# documents, and without the source being judged.
LEAST = {
    ("scanned receipts", "total"): (92, 92),
    ("scanned receipts", "issued_at"): (92, 92),
    ("scanned receipts", "merchant_name"): (85, 85),
    ("documents: text PDFs", scoring.HEADER): (98.5, 98),
    ("documents: text PDFs", scoring.ITEMS): (98, 98),
    ("documents: Brazil, images", scoring.HEADER): (99, 99),
    ("documents: Brazil, images", scoring.ITEMS): (97, 97),
    ("documents: foreign, images", scoring.HEADER): (94, 94),
    ("real documents: text PDFs", scoring.HEADER): (95, 94),
    ("real documents: text PDFs", scoring.ITEMS): (91, 91),
    ("real documents: foreign, images", scoring.HEADER): (97, 96),
    ("real documents: foreign, images", scoring.ITEMS): (83, 83),
}

# The same of the fields of bookkeeping, without the source being judged.
LEAST_OF_BOOKKEEPING = {
    "merchant_address": 72,
    "customer_name": 72,
    "customer_tax_id": 88,
    "due_date": 92,
    "items.code": 96,
    "items.unit": 92,
    "items.tax_rate": 87,
    "items.discount": 82,
}


@pytest.fixture(scope="module")
def reports() -> Reports:
    """What the scorers say of the sample."""
    return sample.measured(sample.load(DATA), kept_pages.folder())


@pytest.mark.parametrize(("name", "field"), LEAST)
def test_documents_stay_as_well_read(reports: Reports, name: str, field: str) -> None:
    least, least_left_out = LEAST[name, field]

    assert reports.fitted.rows[name][field] >= least
    assert reports.left_out.rows[name][field] >= least_left_out


@pytest.mark.parametrize(("field", "least"), LEAST_OF_BOOKKEEPING.items())
def test_fields_of_bookkeeping_stay_as_well_read(
    reports: Reports, field: str, least: float
) -> None:
    figures = bookkeeping.counts(reports.bookkeeping)[field]

    assert bookkeeping.share_right(figures) >= least
    # One value more than the sample had.
    assert figures[bookkeeping.INVENTED] <= 2


def test_nothing_is_invented(reports: Reports) -> None:
    assert reports.fitted.invented <= 3
    assert reports.left_out.invented <= 3


def test_readings_that_claim_to_be_sure_have_the_right_total(reports: Reports) -> None:
    assert reports.left_out.sure >= 86
    assert reports.left_out.right_when_sure >= 97


def test_confidence_keeps_its_word(reports: Reports) -> None:
    assert reliability.calibration_error(reports.left_out.verdicts) <= 6
