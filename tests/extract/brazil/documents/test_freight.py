"""A DACTE: the parts of its freight become line items, who pays for it is the customer."""

from decimal import Decimal

from recibo.extract import pipeline
from recibo.extract.model import Receipt
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


def _read(text: str) -> Receipt:
    bare = "".join(filter(str.isalnum, ISSUER))
    key = nfe_key(f"352507{bare}57008001200455112345678")
    return pipeline.understand([[text_page(text.format(issuer=ISSUER, key=key))]])


def _parts(text: str) -> list[tuple[str, Decimal | None]]:
    receipt = _read(text)
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


def test_who_pays_for_a_freight_is_behind_its_heading_without_a_colon() -> None:
    parties = """
 REMETENTE  PORCELANAS AURORA LTDA         DESTINATÁRIO  CASA MINEIRA LTDA
 ENDEREÇO AV. DOS OLEIROS, 900             ENDEREÇO RUA DO COMÉRCIO, 41
 TOMADOR DO SERVIÇO PORCELANAS AURORA LTDA
 CNPJ/CPF 60.551.387/0001-04               AV. DOS OLEIROS, 900
 Componentes do valor"""

    receipt = _read(FREIGHT.replace("\n Componentes do valor", parties))

    assert receipt.details.customer_name is not None
    assert receipt.details.customer_name.value == "PORCELANAS AURORA LTDA"
