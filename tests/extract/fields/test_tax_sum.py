import pytest

from recibo.extract.fields import collect
from recibo.extract.resolve import assemble
from tests.extract.typesetting import text_page

HOTEL = """
HOTEL LINDE GMBH                    Rechnung Nr. 1133
03.06.2022 Übernachtung                        237,00
04.06.2022 Abendessen                          341,85
Gesamtbetrag EUR                               578,85
MwSt 19%                                        37,84
MwSt 7%                                         22,35
"""
HALVES = "SPICE GARDEN\nTotal Number 105.00\nCGST 2.5% 2.50\nSGST 2.5% 2.50\nCASH 105.00\n"
BARE_HALVES = "SPICE GARDEN\nTotal 105.00\nCGST 2.50\nSGST 2.50\nCASH 105.00\n"
REPEATED = "AMAN SDN BHD\nTotal 106.00\nGST 6% 6.00\nGST SUMMARY\nGST 6% 6.00\n"
MISREAD_RATE = "AMAN SDN BHD\nTotal 106.00\nGST 6% 6.00\nGST SUMMARY\nSST 8% 6.00\n"
NIGHTS = """
HOTEL MERIDIAN          Denver, CO 80202
10-05-25  ROOM                        201.00
10-05-25  STATE TAX                    12.06
10-06-25  ROOM                        201.00
10-06-25  STATE TAX                    12.06
TOTAL                                 426.12
"""
FIRST_NOTHING = "CORNER FOODS\nTOTAL 24.60\nVAT 0% included 0.00\nVAT 20% included 2.88\n"
SUMMED = "LE COMPTOIR\nTotal TTC 64,50\nTVA 10% 4,50\nTVA 20% 2,50\nTotal TVA 7,00\n"


@pytest.mark.parametrize(
    ("printed", "tax"),
    [
        (HOTEL, "60.19"),
        (NIGHTS, "24.12"),
        (HALVES, "5.00"),
        (BARE_HALVES, "5.00"),
        (REPEATED, "6.00"),
        (MISREAD_RATE, "6.00"),
        (SUMMED, "7.00"),
        (FIRST_NOTHING, "2.88"),
    ],
)
def test_taxes_of_several_rates_are_one_tax(printed: str, tax: str) -> None:
    assert subtotal_and_tax(printed)[1] == tax


def test_nets_and_taxes_one_below_the_other_are_added_up() -> None:
    printed = """
BACKHAUS LINDE GMBH
Summe EUR              12,37
A 19% MwSt   0,80
Netto        4,20
B 7% MwSt    0,48
Netto        6,89
"""

    assert subtotal_and_tax(printed) == ("11.09", "1.28")


def test_a_table_of_the_total_before_it_was_rounded_counts() -> None:
    printed = """
AMAN SDN BHD
Total Incl. of GST     31.47
Rounding Adj           -0.02
Total                  31.45
GST Summary  Number  Tax
S 6%         29.69   1.78
"""

    assert subtotal_and_tax(printed) == ("29.69", "1.78")


def test_a_table_of_several_rates_before_the_total_was_rounded_counts() -> None:
    printed = """
BÄCKEREI LINDE, 8004 Zürich
Rundung -0.02
Rechnungsbetrag CHF 40.15
Typ        Netto  MWST  Brutto
A 2.6%     23.49  0.61   24.10
B 8.1%     14.87  1.20   16.07
"""

    assert subtotal_and_tax(printed) == ("38.36", "1.81")


def test_without_cents_the_tax_is_whole() -> None:
    table = """
BAR DEL PUERTO, Santiago de Chile
Total a pagar    197.839
IVA        Base  Impuesto  Importe
19%     166.251    31.588  197.839
"""
    row = """
GASOLINERA DEL PUERTO, Santiago de Chile
GASOLEO A  41,37 L      59.738
Total a pagar           59.738
IVA 19% incluido         9.538
"""

    assert subtotal_and_tax(table) == ("166251", "31588")
    assert subtotal_and_tax(row)[1] == "9538"


def test_part_of_a_tax_table_is_better_than_no_tax() -> None:
    printed = "AMAN SDN BHD\nTotal 14.00\nMWST NETTO BETRAG\nA 19% 3,61 0,69\nB 7% 6,73 0,47\n"

    assert subtotal_and_tax(printed)[1] == "1.16"


def subtotal_and_tax(printed: str) -> tuple[str | None, str | None]:
    receipt = assemble.assemble(collect.collect([text_page(printed, exact=False)]))
    return (
        str(receipt.subtotal.value) if receipt.subtotal else None,
        str(receipt.tax.value) if receipt.tax else None,
    )
