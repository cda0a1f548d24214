from decimal import Decimal

import pytest

from recibo.extract.candidates import TaxBreakdown
from recibo.extract.fields.tax_table import longest_table_tax, tax_breakdowns
from tests.extract.fields.foreign_receipts import rows_of

TOTAL = [Decimal("11.50")]

GERMAN = """
MWST      NETTO   MWST-BETRAG   BRUTTO
A 19%      3,61      0,69         4,30
B  7%      6,73      0,47         7,20
"""
GERMAN_SUMMED = GERMAN + "Summe     10,34      1,16        11,50\n"
ITALIAN = "IVA IMPONIBILE IMPOSTA\n10,00% 3,64 0,36\n22,00% 6,15 1,35\n"
SPANISH = "IVA    BASE IMPONIBLE   CUOTA\n4 %    1,92   0,08\n21 %   7,85   1,65\n"
SWISS = "MWST-%   Total   MWST\n2.5   7.20   0.18\n7.7   4.30   0.31\n"
SWEDISH = "Moms%  Moms  Netto  Brutto\n12,00  0,77  6,43  7,20\n25,00  0,86  3,44  4,30\n"
ZERO_RATED = "Code Rate Goods VAT\nS 20% 4.00 0.80\nZ 0% 6.70 0.00\n"
INDIAN = (
    "GST%  TAXABLE  CGST  SGST  TOTAL\n5%  10.00  0.25  0.25  10.50\n0%  1.00  0.00  0.00  1.00\n"
)


def said(split: TaxBreakdown) -> tuple[str | None, str]:
    return str(split.net.value) if split.net else None, str(split.tax.value)


def test_a_row_that_adds_up_to_the_total_splits_it_in_any_order() -> None:
    best = tax_breakdowns(rows_of("MWST BRUTTO NETTO\nB 7,0% 0,75 11,50 10,75"), TOTAL)[0]

    assert said(best) == ("10.75", "0.75")


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (GERMAN, ("10.34", "1.16")),
        (GERMAN_SUMMED, ("10.34", "1.16")),
        (ITALIAN, ("9.79", "1.71")),
        (SPANISH, ("9.77", "1.73")),
        (SWISS, (None, "0.49")),
        (SWEDISH, ("9.87", "1.63")),
        (ZERO_RATED, ("10.70", "0.80")),
        (INDIAN, ("11.00", "0.50")),
    ],
)
def test_the_rates_of_a_table_are_added_up(printed: str, expected: tuple[str | None, str]) -> None:
    assert said(tax_breakdowns(rows_of(printed), TOTAL)[0]) == expected


def test_the_evidence_of_several_rates_is_all_their_rows() -> None:
    tax = tax_breakdowns(rows_of(GERMAN), TOTAL)[0].tax

    assert tax.text.split("\n") == ["A 19% 3,61 0,69 4,30", "B 7% 6,73 0,47 7,20"]
    assert tax.box is not None
    assert tax.box.height > 24


def test_a_table_of_some_items_still_shows_their_tax() -> None:
    (tax,) = longest_table_tax(rows_of(GERMAN))

    assert str(tax.value) == "1.16"
    assert tax_breakdowns(rows_of(GERMAN), [Decimal("14.00")]) == ()


def test_quantities_are_not_rates() -> None:
    """Ten pieces at 0.72 cost a tenth more than nothing by chance only."""
    assert (
        longest_table_tax(rows_of("TAX ITEM PRICE QTY TOTAL\nROLL 0.72 10 7.20\nBUN 0.72 10 7.20"))
        == ()
    )


def test_items_that_add_up_by_chance_are_not_a_tax_table() -> None:
    assert tax_breakdowns(rows_of("APPLES 10,75 0,75\nTOTAL 11,50"), TOTAL) == ()


def test_items_below_the_title_of_a_tax_invoice_are_not_a_tax_table() -> None:
    printed = "TAX INVOICE\nRICE 2 3.00 6.00\nTEA 5 1.10 5.50\nTOTAL 11.50"

    assert tax_breakdowns(rows_of(printed), TOTAL) == ()
