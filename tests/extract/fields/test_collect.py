import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recibo.extract import pipeline
from recibo.extract.fields.collect import collect
from recibo.extract.model import Category, TextPage
from recibo.extract.resolve import assemble
from tests.extract.fields.brazilian_receipts import NFSE_BOXED
from tests.extract.fields.foreign_receipts import MALAYSIAN
from tests.extract.typesetting import text_page

WORDS = st.sampled_from(
    ["TOTAL", "GST", "CASH", "CHANGE", "12.50", "-3,00", "RM", "€", "SDN BHD", "(", "12/03/2018",
     "14:35", "No", "Invoice", "0", "%", "³", "İ", "١٢", "..", "Bill To", "\u0000"]
)  # fmt: skip


@pytest.mark.parametrize("text_pages", [[], [TextPage(1, 100, 100, ())]])
def test_an_empty_document_has_nothing(text_pages: list[TextPage]) -> None:
    candidates = collect(text_pages)

    assert (candidates.totals, candidates.merchant_names, candidates.moments) == ((), (), ())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(WORDS, min_size=1, max_size=6), max_size=12))
def test_any_page_gives_a_receipt(page: list[list[str]]) -> None:
    shown = text_page("\n".join("  ".join(row) for row in page) or "-", exact=False)

    receipt = assemble.assemble(collect([shown]))

    assert 0 <= receipt.confidence <= 1


def test_every_field_of_a_document_is_found() -> None:
    receipt = pipeline.understand([[text_page(MALAYSIAN, exact=False)]])

    found = (receipt.merchant_name, receipt.merchant_tax_id, receipt.total, receipt.subtotal)
    others = (receipt.tax, receipt.currency, receipt.document_number)
    assert [str(field and field.value) for field in (*found, *others)] == [
        "KEDAI AMAN HARDWARE SDN BHD",
        "000123456789",
        "73.50",
        "69.35",
        "4.16",
        "MYR",
        "CS00123",
    ]
    assert receipt.confidence > 0.9


def test_a_document_in_another_script_is_read() -> None:
    printed = "東京コーヒー\n2021年03月05日 10:22\nケーキ    ¥1,000\n消費税    ¥100\n合計    ¥1,100"

    receipt = assemble.assemble(collect([text_page(printed, exact=False)]))

    assert receipt.total is not None
    assert receipt.issued_at is not None
    assert str(receipt.total.value) == "1100"
    assert receipt.issued_at.value.isoformat() == "2021-03-05T10:22:00+09:00"


def test_the_seller_of_a_fiscal_document_decides_its_category() -> None:
    """The city that issues an NFS-e is printed in its head."""
    candidates = collect([text_page(NFSE_BOXED.replace("ESTUDIO DE DESIGN", "CLINICA DENTAL"))])

    assert candidates.categories[0] is Category.HEALTH
