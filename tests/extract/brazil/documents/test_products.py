"""Products on thermal receipts whose total is in the next row, or that OCR misses."""

import pytest

from recibo.extract import pipeline
from tests.extract.typesetting import cnpj, text_page

RECEIPT = """
ARMAZEM DO LARGO LTDA
CNPJ: {issuer}
Documento Auxiliar da Nota Fiscal de Consumidor Eletrônica
{items}
{sums}
FORMA DE PAGAMENTO                  VALOR PAGO
CARTAO DE CREDITO 3 X 50,00             150,00
"""
SUMS = """
QTD. TOTAL DE ITENS                          3
VALOR TOTAL R$                          150,00
"""

Item = tuple[str, str, str, str]


def _items(items: str, sums: str = SUMS) -> list[Item]:
    text = RECEIPT.format(issuer=cnpj("287714090001"), items=items.strip("\n"), sums=sums.strip())
    receipt = pipeline.understand([[text_page(text, exact=False)]])
    return [
        (one.name or "", f"{one.qty}", f"{one.unit_price}", f"{one.total}")
        for one in (item.value for item in receipt.line_items)
    ]


NAILS, BOARD = ("PREGO 17X21 1KG", "2", "25.50", "51.00"), ("TABUA 3M", "1", "79.00", "79.00")
LAMP = ("LAMPADA LED 9W", "2", "10.00", "20.00")
WRAPPED = [
    """
1 41033 PREGO 17X21 1KG 2UN X 25,50
                                         51,00
2 75071 TABUA 3M 1PC X 79,00             79,00
3 58095 LAMPADA LED 9W 2UN X 10,00
                                         20,00
""",
    """
1 41033 PREGO 17X21 1KG 2UN
X 25,50
                                         51,00
2 75071 TABUA 3M 1ZZ
X 79,00
                                         79,00
3 58095 LAMPADA LED 9W 2UN X 10,00       20,00
""",
]


@pytest.mark.parametrize("rows", WRAPPED, ids=["total", "price and total"])
def test_a_total_in_the_next_row_belongs_to_its_product(rows: str) -> None:
    assert [NAILS, BOARD, LAMP] == _items(rows)


MISSING = """
001 41033 PREGO 17X21 1KG
2 UN X 25,50                             51,00
002 75071 TABUA 3M
1 UN X 79,00
003 58095 LAMPADA LED 9W
2 UN X 10,00
"""


def test_a_total_that_ocr_misses_is_the_product() -> None:
    assert [NAILS, BOARD, LAMP] == _items(MISSING)


def test_the_evidence_of_a_missing_total_is_what_is_printed() -> None:
    text = RECEIPT.format(issuer=cnpj("287714090001"), items=MISSING.strip("\n"), sums=SUMS.strip())
    receipt = pipeline.understand([[text_page(text, exact=False)]])
    assert "1 UN X 79,00" == receipt.line_items[1].text
    assert receipt.line_items[1].confidence < receipt.line_items[0].confidence


def test_a_product_above_the_total_of_the_receipt_is_misread() -> None:
    assert [NAILS, LAMP] == _items(MISSING.replace("1 UN X 79,00", "01 UN X 790,00"))


def test_no_total_is_a_product_if_totals_are_next_to_names() -> None:
    rows = """
41033 PREGO 17X21 1KG                    51,00
2 UN X 25,50
75071 TABUA 3M
1 UN X 79,00
"""
    assert [NAILS] == _items(rows)


def test_two_labels_of_sums_above_an_amount_are_not_an_item() -> None:
    sums = """
Qtde. Total de Itens
Valor Total R$
                                        150,00
Valor a Pagar R$                        150,00
"""
    assert [NAILS, BOARD, LAMP] == _items(MISSING, sums)


EXTRACT = """
ARMAZEM DO LARGO LTDA
CNPJ 28771409000187
Extrato No. 004511
CUPOM FISCAL ELETRONICO
- SAT -
------------------------------------------------
# | COD | DESC | QTD | UN | VL UN R$ | (VL TR
R$)* | VL ITEM R$
------------------------------------------------
001 15921 AZEITE GRANEL
3,216 L X 6,099 (5,47)                    19,61
desconto sobre item                        -0,98

Total bruto de itens                       19,61
Total de descontos/acréscimos sobre item   -0,98
TOTAL R$                                   18,63
"""


def test_a_gross_without_its_amount_is_not_the_total() -> None:
    text = EXTRACT.replace("itens                       19,61", "itens")
    text = text.replace("                   -0,98", "")
    assert pipeline.understand([[text_page(text, exact=False)]]).subtotal is None


def test_a_unit_is_not_a_name() -> None:
    (item,) = pipeline.understand([[text_page(EXTRACT)]]).line_items
    assert "AZEITE GRANEL" == item.value.name
