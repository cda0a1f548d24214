"""What is printed next to line items: code, unit, tax rate and discount."""

from decimal import Decimal

import pytest

from recibo.extract import pipeline
from recibo.extract.fields.items import line_items
from recibo.extract.model import LineItem
from tests.extract.typesetting import text_page


def read(text: str) -> list[LineItem]:
    return [found.value for found in line_items.find([text_page(text)], None)]


def details(item: LineItem) -> tuple[str | None, str | None, Decimal | None, Decimal | None]:
    return item.code, item.unit, item.tax_rate, item.discount


COUPON = """
ALFA COMERCIO LTDA
CNPJ: 11.222.333/0001-81
03/04/2014 14:39:42   CCF:059502   COO:538901
CUPOM FISCAL
ITEM CODIGO DESCRICAO QTD UN VL UNIT ST VL ITEM
001 7891234567895 CAFE TORRADO 500G
     2 UN X 21,98 T12,00%              43,96
     desconto item                     -2,20
002 1187 MAMAO FORMOSA
     1,273 KG X 6,99 F1                 8,90
TOTAL R$                               50,66
"""
POLISH = """
PARAGON FISKALNY
KAWA MIELONA     1 SZT x14,94   14,94A
CHLEB RAZOWY     2 SZT x2,00     4,00D
SPRZEDAZ OPODATKOWANA A         14,94
PTU A 23%                        2,79
PTU D 5%                         0,19
SUMA PLN                        18,94
"""
NORWEGIAN = """
KAFFE FILTER     15%     44,90
BROD GROVT       15%     15,90
SUM 2 VARER              60,80
"""
INVOICE = """
Pos   Code      Description          Unit    Qty    Price     Discount    VAT %     Total
1     A-1001    Office cards A4      box       2    10,00         1,50     20 %     18,50
2     B-2002    Ballpoint pens       pcs      10     0,50         0,00     20 %      5,00
                                                            Total                   23,50
"""
TILL = """
ALFA COMERCIO LTDA
CNPJ: 11.222.333/0001-81
CUPOM FISCAL ELETRONICO SAT
#  |  COD  |  DESC  |  QTD  |  UN  |  VL UN R$  |  VL ITEM R$
001 3785516 ALCOOL COMUM     CRISTAL    3 L X 2,50    7,50
002 3785517 ACUCAR ESPECIAL  CRISTAL    1 PCT X 4,50  4,50
TOTAL R$                                         12,00
"""
COUNTED = """
No    Description          Qty    Price     Total
1     Office cards A4        2    10.00     20.00
2     Ballpoint pens        10     0.50      5.00
                            Total           25.00
"""


def test_a_coupon_has_codes_units_rates_and_discounts() -> None:
    items = pipeline.understand([[text_page(COUPON)]]).line_items
    first, second = (details(found.value) for found in items)

    assert first == ("7891234567895", "UN", Decimal("12.00"), Decimal("2.20"))
    assert second == ("1187", "KG", None, None)


def test_letters_stand_for_the_rates_in_their_legend() -> None:
    first, second = map(details, read(POLISH))

    assert first == (None, "SZT", Decimal(23), None)
    assert second == (None, "SZT", Decimal(5), None)


def test_a_rate_may_be_in_the_row() -> None:
    assert [Decimal(15)] * 2 == [item.tax_rate for item in read(NORWEGIAN)]


def test_columns_name_the_details() -> None:
    first, second = map(details, read(INVOICE))

    assert first == ("A-1001", "box", Decimal(20), Decimal("1.50"))
    assert second == ("B-2002", "pcs", Decimal(20), None)


def test_a_word_of_a_name_below_the_heading_of_units_is_no_unit() -> None:
    items = pipeline.understand([[text_page(TILL)]]).line_items

    assert ["L", "PCT"] == [found.value.unit for found in items]


def test_numbers_that_only_count_the_items_are_no_codes() -> None:
    assert [None, None] == [item.code for item in read(COUNTED)]


@pytest.mark.parametrize(
    "row",
    ["Latte 2 Go            4.50", "Hotel 3 Night           4.50", "Sale 20% off item       4.50"],
)
def test_words_and_numbers_of_a_name_are_no_details(row: str) -> None:
    found = read(
        f"CORNER SHOP\n{row}\nMilk                    1.20\nTotal                   5.70\n"
    )

    assert found
    assert all(details(item) == (None, None, None, None) for item in found)


def test_a_discount_below_the_last_item_may_be_of_the_whole_receipt() -> None:
    text = "CORNER SHOP\nTea  4.50\nMilk  1.50\nDiscount  -1.00\nTotal  5.00\n"

    assert [None, None] == [item.discount for item in read(text)[:2]]
