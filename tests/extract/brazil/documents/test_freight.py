"""The parts of a freight on a DACTE become line items."""

from decimal import Decimal

from recibo.extract import pipeline
from tests.extract.typesetting import cnpj, nfe_key, text_page

ISSUER = cnpj("287714090001")

FREIGHT = """
 Norte Cargo Linhas Aéreas S.A.
 CNPJ: {issuer}
 DACTE - Documento Auxiliar do Conhecimento de Transporte Eletrônico
 {key}
 Componentes do valor da prestação
 FRETE NACIONAL                                  412,90
 TAXA DE ORIGEM                                   84,45
 Valor total da prestação   Valor a receber   Base de cálculo   Alíquota   Valor ICMS
                   497,35            497,35            497,35       4,00        19,89
"""


IN_COLUMNS = """
 Norte Cargo Linhas Aéreas S.A.
 CNPJ: {issuer}
 DACTE - Documento Auxiliar do Conhecimento de Transporte Eletrônico
 {key}
 Componentes do valor da prestação do serviço
 Nome              Valor         Nome              Valor      Valor total do serviço
                                                                            1.785,17
 Frete peso     1.210,00 Frete valor              318,45
                                                              Valor a receber
 Pedágio          142,60         TAS               18,00                    1.785,17
 GRIS              96,12
"""


def _parts(text: str) -> list[tuple[str, Decimal | None]]:
    bare = "".join(filter(str.isalnum, ISSUER))
    key = nfe_key(f"352507{bare}57008001200455112345678")
    receipt = pipeline.understand([[text_page(text.format(issuer=ISSUER, key=key))]])
    return [(item.value.name, item.value.total) for item in receipt.line_items]


def test_parts_of_a_freight_reach_across_the_page_above_the_boxes_of_their_sums() -> None:
    assert _parts(FREIGHT) == [
        ("FRETE NACIONAL", Decimal("412.90")),
        ("TAXA DE ORIGEM", Decimal("84.45")),
    ]


def test_parts_of_a_freight_in_columns_next_to_the_boxes_of_their_sums() -> None:
    assert _parts(IN_COLUMNS) == [
        ("Frete peso", Decimal("1210.00")),
        ("Frete valor", Decimal("318.45")),
        ("Pedágio", Decimal("142.60")),
        ("TAS", Decimal("18.00")),
        ("GRIS", Decimal("96.12")),
    ]
