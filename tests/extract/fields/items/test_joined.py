"""Cells that OCR joined are separated; numbers and names that are whole stay so."""

from decimal import Decimal

import pytest

from recibo.extract.fields.items import joined, line_items
from tests.extract.typesetting import text_page


def items_of(rows: str, total: str) -> list[tuple[str, str, str, str]]:
    """Return name, quantity, unit price and total of each item of a recognized receipt."""
    text = f"MERCEARIA DO LARGO LTDA\n{rows}\nVALOR TOTAL R$            {total}\n"
    found = line_items.find([text_page(text, exact=False)], None)
    return [
        (one.name or "", f"{one.qty}", f"{one.unit_price}", f"{one.total}")
        for one in (item.value for item in found)
    ]


@pytest.mark.parametrize(
    ("row", "item"),
    [
        ("MUSSARELA FATIADA0,350 KG X 44,90   15,72", ("MUSSARELA FATIADA", "0.350", "44.90")),
        ("MAMAO FORMOSA1,110K6 X 7,00         7,77", ("MAMAO FORMOSA", "1.110", "7.00")),
        ("GUARDANAPO3UN X 2,50                7,50", ("GUARDANAPO", "3", "2.50")),
        ("VELA ANIVERSARIO 4 UN X 6,2525,00", ("VELA ANIVERSARIO", "4", "6.25")),
        ("ETANOL COMUM 20,000 L X 3,47969,58", ("ETANOL COMUM", "20.000", "3.479")),
        ("CANETA AZUL 1 CX X 42,15542,16", ("CANETA AZUL", "1", "42.155")),
        ("PRATO RASO 1 UN X 18,9018,90", ("PRATO RASO", "1", "18.90")),
        ("SALAME ITALIANO 0,300 KG X 79,90023,97", ("SALAME ITALIANO", "0.300", "79.900")),
        ("PILHA ALCALINA C/42,00UN 12,35      24,70", ("PILHA ALCALINA C/4", "2.00", "12.35")),
        ("CHA MATE C/25   5,00UN   3,2016,00", ("CHA MATE C/25", "5.00", "3.20")),
        (
            "GASOLINA ADITIVADA\n15,000LTX5,299   T01   79,49",
            ("GASOLINA ADITIVADA", "15.000", "5.299"),
        ),
        (
            "ESCOVA DENTAL MACIA 2 UN\nX 11,45                 22,90",
            ("ESCOVA DENTAL MACIA", "2", "11.45"),
        ),
        (
            "ESCOVA DENTAL MACIA 2 UN X\n11,45                   22,90",
            ("ESCOVA DENTAL MACIA", "2", "11.45"),
        ),
    ],
)
def test_joined_cells_of_an_item_are_separated(row: str, item: tuple[str, str, str]) -> None:
    total = Decimal(item[1]) * Decimal(item[2])
    other = "BISCOITO POLVILHO 2 UN X 4,10       8,20"

    first, second = items_of(f"{row}\n{other}", f"{total + Decimal('8.20'):.2f}".replace(".", ","))

    assert item == first[:3]
    assert abs(Decimal(first[3]) - total) < Decimal("0.01")
    assert ("BISCOITO POLVILHO", "2", "4.10", "8.20") == second


@pytest.mark.parametrize(
    "row",
    [
        "VENTILADOR DE TETO   1 UN   1.245,00   1.245,00",
        "AGUA500ML SEM GAS   3,50",
        "CABO PP 2X2,5MM   12,90",
        "TINTA 3,6L BRANCA   89,90",
        "NCM 6302.60.00   CFOP 5.102   10,00",
        "IE 116.222.333.555   24/08/2025   10.45",
        "SERVICO   5.005,00   5.005,00",
        "SUBTOTAL   15.907,16",
    ],
)
def test_whole_cells_stay_as_they_are(row: str) -> None:
    page = text_page(row, exact=False)

    (separated,) = joined.separated([page])

    assert page.lines == separated.lines


def test_a_text_layer_stays_as_it_is() -> None:
    page = text_page("QUEIJO0,540 KG X 42,9023,17")

    assert [page] == joined.separated([page])


def test_the_parts_of_a_word_share_its_box() -> None:
    page = text_page("PIRES 2 UN X 6,2512,50", exact=False)
    (whole,) = page.lines[0].words

    (separated,) = joined.separated([page])
    first, second = separated.lines[0].words

    assert ("PIRES 2 UN X 6,25", "12,50") == (first.text, second.text)
    assert whole.box.x0 == first.box.x0 < first.box.x1 == second.box.x0 < second.box.x1
    assert whole.box.x1 == pytest.approx(second.box.x1)


@pytest.mark.parametrize(
    ("row", "headings"),
    [
        ("CODIGO   DESCRICAO   UNIDQTD   VALOR UNIT", "CODIGO|DESCRICAO|UNID|QTD|VALOR UNIT"),
        ("COD   PRODUTO   QTDE   CSTCFOPUN   PRECO", "COD|PRODUTO|QTDE|CST|CFOP|UN|PRECO"),
        ("ITEM   PRODUTO   QTD   VL UNITVL TOTAL", "ITEM|PRODUTO|QTD|VL UNIT|VL TOTAL"),
        ("Item   Quantity   Unit Price   Number", "Item|Quantity|Unit Price|Number"),
        # Not a row of headings.
        ("MARIA   ITEMQTD   CENTRO   RECIFE", "MARIA|ITEMQTD|CENTRO|RECIFE"),
    ],
)
def test_joined_headings_are_separated(row: str, headings: str) -> None:
    (separated,) = joined.separated([text_page(row, exact=False)])

    assert headings == "|".join(word.text for word in separated.lines[0].words)


def test_a_total_joined_to_the_next_column_of_a_table_is_read() -> None:
    text = """
CODIGO  DESCRICAO             UN   QTD     VALOR UNITVALOR TOTAL   BC ICMS
4411    CADEIRA DOBRAVEL      PC   2,00    1.310,00   2.620,002.620,00
4412    MESA DOBRAVEL         PC   1,00    1.273,98   1.273,981.273,98
"""

    found = [item.value for item in line_items.find([text_page(text, exact=False)], None)]

    assert [Decimal("2620.00"), Decimal("1273.98")] == [item.total for item in found]
    assert [Decimal("1310.00"), Decimal("1273.98")] == [item.unit_price for item in found]
