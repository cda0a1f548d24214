"""Documents of our own are read whole, in every format that the service takes."""

from dataclasses import fields

import pytest

from recibo.extract import pipeline
from recibo.schemas import receipts
from tests import drawing, make_danfe, make_documents
from training.receipts import kinds, pdf
from training.receipts.faces import Case
from training.receipts.truth import Truth, TruthItem

# What one process has read, it reads no more: see `tests/extract/conftest`.
pytestmark = pytest.mark.xdist_group("recognition")

TILL = make_documents.till_receipt()
NFCE = make_documents.nfce()
DANFE = make_danfe.danfe()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "HEIF"])
def test_a_till_receipt_is_read_exactly_from_every_picture_format(
    kind: drawing.PictureFormat,
) -> None:
    assert _read(TILL.file(kind)) == TILL.truth.wire()


def test_a_till_receipt_is_read_exactly_from_a_text_layer() -> None:
    assert _read(TILL.pdf()) == TILL.truth.wire()


def test_a_brazilian_receipt_is_read_exactly_from_a_text_layer() -> None:
    assert _read(NFCE.pdf()) == NFCE.truth.wire()


def test_a_brazilian_receipt_is_read_from_a_picture_with_its_code() -> None:
    truth = NFCE.truth.wire()
    read = _read(NFCE.file("PNG"))

    # An engine may take the font's slashed zero for a letter: names are not judged here.
    assert [item.total for item in NFCE.truth.line_items] == _totals(read.pop("line_items"))
    assert read == {name: value for name, value in truth.items() if name != "line_items"}


def test_a_brazilian_invoice_is_read_exactly() -> None:
    assert _read(DANFE.pdf) == DANFE.truth.wire()


def test_gap_between_columns_does_not_group_digits() -> None:
    """`2 603,98`: a quantity, and an amount in the next column."""
    made = kinds.make("78:1", "tax invoice", "es-ES", Case())

    receipt = pipeline.extract(pdf.write(made.print))

    [tax] = receipt.details.taxes
    assert made.bookkeeping
    [printed] = made.bookkeeping.taxes
    assert (printed.rate, printed.base, printed.amount) == (
        str(tax.value.rate), str(tax.value.base), str(tax.value.amount),
    )  # fmt: skip


def _read(data: bytes) -> dict[str, object]:
    """Return the fields of a truth."""
    read = receipts.reading(pipeline.extract(data)).model_dump(mode="json")
    items = [{one.name: item[one.name] for one in fields(TruthItem)} for item in read["line_items"]]
    return {one.name: read[one.name] for one in fields(Truth)} | {"line_items": items}


def _totals(items: object) -> list[object]:
    assert isinstance(items, list)
    return [item["total"] for item in items]
