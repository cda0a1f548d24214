"""NFC-e printed from web pages of tax offices."""

from recibo.extract.brazil import fiscal
from recibo.extract.fields.items import line_items
from recibo.extract.model import LineItem
from tests.extract.typesetting import text_page

PAGE = """
DOCUMENTO AUXILIAR DA NOTA FISCAL DE CONSUMIDOR ELETRÔNICA
                 PANIFICADORA PINHEIRAL LTDA
                 CNPJ: 11.222.333/0001-81
       R XV DE NOVEMBRO, 455, , CENTRO, CURITIBA, PR

PAO FRANCES (Código: 10 )                          Vl. Total
Qtde.:0,412   UN: KG   Vl. Unit.:   15,9                6,55
PRESUNTO COZIDO FATIADO SEM
CAPA DE GORDURA (Código: 221 )                     Vl. Total
Qtde.:0,2   UN: KG   Vl. Unit.:   39,9                  7,98
Qtd. total de itens:                                       2
Valor a pagar R$:                                      14,53
Forma de pagamento:                          Valor pago R$:
Cartão de Débito                                       14,53
Número: 118230 Série: 4 Emissão: 03/07/2024 07:41:09 - Via Consumidor
"""


def _line_items(text: str) -> list[LineItem]:
    text_pages = [text_page(text)]
    return [found.value for found in line_items.find(text_pages, fiscal.identify(text_pages))]


def test_an_items_name_is_above_its_amounts() -> None:
    bread, ham = _line_items(PAGE)

    assert "PAO FRANCES" == bread.name
    assert "PRESUNTO COZIDO FATIADO SEM CAPA DE GORDURA" == ham.name
    assert ("0.412", "15.9", "6.55") == (str(bread.qty), str(bread.unit_price), str(bread.total))
    assert ("0.2", "39.9", "7.98") == (str(ham.qty), str(ham.unit_price), str(ham.total))


def test_amounts_without_a_code_above_are_not_an_item() -> None:
    assert not [
        item for item in _line_items(PAGE.replace("(Código: 10 )", "")) if "PAO" in item.name
    ]
