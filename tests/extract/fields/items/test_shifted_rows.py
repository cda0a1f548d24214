"""Item tables of a DANFE on curved pages, where halves of rows are in different lines."""

import pytest

from recibo.extract import pipeline
from tests.extract.typesetting import text_page

HEAD = """
DANFE
Documento Auxiliar da Nota Fiscal Eletrônica
NATUREZA DA OPERAÇÃO
VENDA
INSCRIÇÃO ESTADUAL                      CNPJ
20645161-1                              28.771.409/0001-87
DESTINATÁRIO / REMETENTE
ESCOLA JARDIM DAS FLORES
"""
HEADINGS = "DESCRIÇÃO DO PRODUTO", "NCM/SH    CST  CFOP  UN  QUANT    VALOR UNIT  VALOR TOTAL"
LEFT = [
    "78930 SABAO DE COCO 1KG",
    "9791  CERVEJA ESCURA LT 350ML",
    "36752 COSTELA BOVINA",
]
RIGHT = [
    "34025000  000  5102  UN  4,0000   20,32       81,28",
    "22030000  000  5102  UN  3,0000   4,08        12,24",
    "02013000  000  5102  KG  2,0080   44,90       90,16",
]
ITEMS = [
    ("SABAO DE COCO 1KG", "4.0000", "81.28"),
    ("CERVEJA ESCURA LT 350ML", "3.0000", "12.24"),
    ("COSTELA BOVINA", "2.0080", "90.16"),
]


def _items(rows: list[tuple[str, str]], *, exact: bool = False) -> list[tuple[str, str, str]]:
    table = "\n".join(f"{left:40}{right}".rstrip() for left, right in rows)
    page = text_page(f"{HEAD.strip()}\n{table}\nDADOS ADICIONAIS\nPedido 4471", exact=exact)
    return [
        (one.name or "", f"{one.qty}", f"{one.total}")
        for one in (item.value for item in pipeline.understand([[page]]).line_items)
    ]


def test_the_left_half_of_a_table_a_row_lower() -> None:
    left = ["DADOS DOS PRODUTOS", f"CÓDIGO {HEADINGS[0]}", *LEFT]
    assert ITEMS == _items(list(zip(left, [HEADINGS[1], *RIGHT, ""], strict=True)))


@pytest.mark.parametrize("lower", [1, 2])
def test_the_left_half_a_row_lower_from_some_row_on(lower: int) -> None:
    left = [f"CÓDIGO {HEADINGS[0]}", *LEFT[:lower], "", *LEFT[lower:]]
    assert ITEMS == _items(list(zip(left, [HEADINGS[1], *RIGHT, ""], strict=True)))


def test_the_rest_of_a_name_next_to_the_numbers_of_another_item() -> None:
    left = [f"CÓDIGO {HEADINGS[0]}", LEFT[0] + " COM", "BICARBONATO", LEFT[1], LEFT[2]]
    right = [HEADINGS[1], RIGHT[0], RIGHT[1], RIGHT[2], ""]
    assert [("SABAO DE COCO 1KG COM BICARBONATO", *ITEMS[0][1:]), *ITEMS[1:]] == _items(
        list(zip(left, right, strict=True))
    )


def test_a_missing_code_leaves_the_rows_as_they_are() -> None:
    left = [f"CÓDIGO {HEADINGS[0]}", LEFT[0], "", LEFT[2]]
    read = _items(list(zip(left, [HEADINGS[1], *RIGHT], strict=True)))
    assert [ITEMS[0], ITEMS[2]] == [item for item in read if item[0]][:1] + read[-1:]
