import pytest

from recibo.extract import assemble
from recibo.extract.fields import collect
from tests.extract.typesetting import roll

HOTEL = """
HOTEL LINDE GMBH                    Rechnung Nr. 1133
03.06.2022 Übernachtung                        237,00
04.06.2022 Abendessen                          341,85
Gesamtbetrag EUR                               578,85
MwSt 19%                                        37,84
MwSt 7%                                         22,35
"""
HALVES = "SPICE HOUSE\nTotal Amount 105.00\nCGST 2.5% 2.50\nSGST 2.5% 2.50\nCASH 105.00\n"
REPEATED = "AMAN SDN BHD\nTotal 106.00\nGST 6% 6.00\nGST SUMMARY\nGST 6% 6.00\n"
MISREAD_RATE = "AMAN SDN BHD\nTotal 106.00\nGST 6% 6.00\nGST SUMMARY\nSST 8% 6.00\n"
SUMMED = "LE COMPTOIR\nTotal TTC 64,50\nTVA 10% 4,50\nTVA 20% 2,50\nTotal TVA 7,00\n"


@pytest.mark.parametrize(
    ("paper", "tax"),
    [
        (HOTEL, "60.19"),
        (HALVES, "5.00"),
        (REPEATED, "6.00"),
        (MISREAD_RATE, "6.00"),
        (SUMMED, "7.00"),
    ],
)
def test_taxes_of_several_rates_are_one_tax(paper: str, tax: str) -> None:
    assert said(paper)[1] == tax


def test_nets_and_taxes_one_below_the_other_are_added_up() -> None:
    paper = """
BACKHAUS LINDE GMBH
Summe EUR              12,37
A 19% MwSt   0,80
Netto        4,20
B 7% MwSt    0,48
Netto        6,89
"""

    assert said(paper) == ("11.09", "1.28")


def test_a_table_of_the_total_before_it_was_rounded_counts() -> None:
    paper = """
AMAN SDN BHD
Total Incl. of GST     31.47
Rounding Adj           -0.02
Total                  31.45
GST Summary  Amount  Tax
S 6%         29.69   1.78
"""

    assert said(paper) == ("29.69", "1.78")


def test_what_a_page_levies_in_half_a_table_beats_no_tax() -> None:
    paper = "AMAN SDN BHD\nTotal 14.00\nMWST NETTO BETRAG\nA 19% 3,61 0,69\nB 7% 6,73 0,47\n"

    assert said(paper)[1] == "1.16"


def said(paper: str) -> tuple[str | None, str | None]:
    receipt = assemble.assemble(collect.collect([roll(paper, exact=False)]))
    return (
        str(receipt.subtotal.value) if receipt.subtotal else None,
        str(receipt.tax.value) if receipt.tax else None,
    )
