"""The items of fiscal documents: without cancelled ones, and the parts of a freight."""

from recibo.extract import pipeline
from tests.extract import typesetting

COUPON = """
LOJA EXEMPLO LTDA
CNPJ: 11.222.333/0001-81
05/11/2009 19:20:00 CCF:001188 COO:012345
CUPOM FISCAL
ITEM CODIGO DESCRICAO QTD UN VL UNIT(R$) VL ITEM(R$)
001 4410 FERRO ELETRICO   1 UN x 129,00     129,00
002 4522 EXTENSAO 5M      2 UN x 19,90       39,80
003 4530 VENTILADOR       1 UN x 99,00       99,00
CANCELAMENTO ITEM 002                       -39,80
TOTAL R$                                    228,00
DINHEIRO                                    228,00
"""
FREIGHT = """
TRANSPORTES EXEMPLO LTDA
CNPJ: 11.222.333/0001-81
DACTE
Documento Auxiliar do Conhecimento de Transporte Eletrônico
COMPOSIÇÃO DO VALOR DA PRESTAÇÃO
FRETE PESO     410,00     PEDAGIO         35,20
GRIS            48,90     TAXA COLETA     25,00
VALOR TOTAL DO SERVIÇO    519,10
"""


def _totals(text: str) -> list[tuple[str, str]]:
    receipt = pipeline.understand([[typesetting.text_page(text)]])
    return [(item.value.name or "", str(item.value.total)) for item in receipt.line_items]


def test_a_cancelled_item_was_not_sold() -> None:
    assert _totals(COUPON) == [("FERRO ELETRICO", "129.00"), ("VENTILADOR", "99.00")]


def test_the_parts_of_a_freight_stand_in_columns() -> None:
    assert _totals(FREIGHT) == [
        ("FRETE PESO", "410.00"),
        ("PEDAGIO", "35.20"),
        ("GRIS", "48.90"),
        ("TAXA COLETA", "25.00"),
    ]
