"""Items of thermal receipts: in groups, without a price, and none on a receipt of sums only."""

from recibo.extract import pipeline
from tests.extract.typesetting import cnpj, text_page

HEAD = f"""
CANTINA SERRA VERDE LTDA
CNPJ: {cnpj("287714090001")}
"""
NFCE = "Documento Auxiliar da Nota Fiscal de Consumidor Eletrônica\n"


def _items(text: str) -> list[tuple[str, str, str]]:
    receipt = pipeline.understand([[text_page(HEAD.strip() + "\n" + text, exact=False)]])
    return [
        (one.name or "", f"{one.qty}", f"{one.total}")
        for one in (item.value for item in receipt.line_items)
    ]


GROUPS = """
# COD DESC QTD UN VL UN R$ VL ITEM R$
COZINHA
001 10 FILE A CAVALO 1 UN X 68,00             68,00
002 11 ARROZ DE FORNO 2 UN X 15,00            30,00
Subtotal COZINHA                              98,00
BAR
003 20 CHOPP 300ML 4 UN X 9,50                38,00
004 21 AGUA COM GAS 1 UN X 6,00                6,00
Subtotal BAR                                  44,00
Valor total R$                               142,00
Pix                                          142,00
"""


def test_items_continue_below_the_sum_of_a_group() -> None:
    assert [
        ("FILE A CAVALO", "1", "68.00"),
        ("ARROZ DE FORNO", "2", "30.00"),
        ("CHOPP 300ML", "4", "38.00"),
        ("AGUA COM GAS", "1", "6.00"),
    ] == _items(NFCE + GROUPS)


def test_a_sum_of_no_group_ends_the_items() -> None:
    """No total below is the sum of both."""
    items = _items(NFCE + GROUPS.replace("142,00", "98,00"))
    assert ["FILE A CAVALO", "ARROZ DE FORNO"] == [name for name, _, _ in items]


def test_the_amount_of_taxes_in_the_next_row_is_not_an_item() -> None:
    text = """
QTD. TOTAL DE ITENS                         4
VALOR TOTAL R$                          31,40
FORMA DE PAGAMENTO               Valor Pago
Cartão de Crédito                       31,40
Número 000000778 Série 001
Emissão 14/06/2023 07:02:11 - Via Consumidor
Informação dos Tributos Totais Incidentes
(Lei Federal 12.741/2012) R$ 4,10
"""
    assert [] == _items(NFCE + text)


def test_a_quantity_with_unit_and_tax_code_needs_no_price() -> None:
    text = """
14/06/2013 10:11:12V CCF:004512 COO:009876
CUPOM FISCAL
ITEM CÓDIGO DESCRIÇÃO QTD.UN.VL UNIT(R$) ST VL ITEM(R$)
001 4410 VASSOURA NYLON 1UN F1 15,90G
002 4411 BALDE PLASTICO 10L 2UN X 9,90 F1 19,80G
TOTAL  R$                        35,70
Dinheiro                         40,00
"""
    assert [("VASSOURA NYLON", "1", "15.90"), ("BALDE PLASTICO 10L", "2", "19.80")] == _items(text)
