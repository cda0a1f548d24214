"""Item rows of a DANFE whose headings OCR misreads, joined cells and missed prices."""

import pytest

from recibo.extract import pipeline
from tests.extract.fields.items.test_shifted_rows import HEAD
from tests.extract.typesetting import text_page

MISREAD = (
    "EODIOQ  DESCRICACOO PROOUTO SERVICO  NENNE CST CFOP UN  OUANT VALURUNT VALORTOTAL B.CALICM"
)
READ = (
    "CÓDIGO  DESCRIÇÃO DO PRODUTO / SERVIÇO   NCM/SH    CST  CFOP  UN  QUANT   "
    "VALOR UNIT  VALOR TOTAL"
)

Item = tuple[str, str, str, str]


def _items(table: str) -> list[Item]:
    page = text_page(f"{HEAD.strip()}\n{table.strip()}\nDADOS ADICIONAIS\nPedido 4471", exact=False)
    return [
        (one.name or "", f"{one.qty}", f"{one.unit_price}", f"{one.total}")
        for one in (item.value for item in pipeline.understand([[page]]).line_items)
    ]


def test_rows_with_a_class_are_items_below_misread_headings() -> None:
    table = f"""
{MISREAD}
85358   MILHO PARA PIPOCA 30KG       23099090  000  5102  SC  1,0000  94,452    0,00   94,45
7896064 MUDA DE EUCALIPTO EM TUBETE  06022000  000  5102  UN  2,0000  0,85      0,00   1,70
        COM SUBSTRATO
44100   TELA DE ARAME                73144900  000  5102  RL  1,0000  1.249,00  62,45  1.249,00
"""
    assert [
        ("MILHO PARA PIPOCA 30KG", "1.0000", "94.452", "94.45"),
        ("MUDA DE EUCALIPTO EM TUBETE COM SUBSTRATO", "2.0000", "0.85", "1.70"),
        ("TELA DE ARAME", "1.0000", "1249.00", "1249.00"),
    ] == _items(table)


@pytest.mark.parametrize(
    "row",
    [
        "78974118LUVA NITRILICA TAM. G          38089419  000  5102  UN  4,0000    10,79     43,16",
        "84411   LUVA NITRILICA TAM. G          38089419  000  5102  UN  4,0000              43,16",
    ],
    ids=["joined code", "missed price"],
)
def test_cells_of_a_table_that_ocr_joins_or_misses(row: str) -> None:
    table = f"""
{READ}
84410   CONE DE SINALIZACAO              39269090  000  5102  UN  6,0000    8,15        48,90
{row}
84412   FITA ZEBRADA ROLO 200M           39204900  000  5102  RL  2,0000    12,40       24,80
"""
    assert [
        ("CONE DE SINALIZACAO", "6.0000", "8.15", "48.90"),
        ("LUVA NITRILICA TAM. G", "4.0000", "10.79", "43.16"),
        ("FITA ZEBRADA ROLO 200M", "2.0000", "12.40", "24.80"),
    ] == _items(table)
