"""Pages of town halls that set the provider without a heading."""

import pytest

from recibo.extract.fields import fiscal, items
from tests.extract.typesetting import roll

HEADLESS = """
              NFS-e - NOTA FISCAL DE SERVIÇOS ELETRÔNICA
 Nº:2021/305  Emitida em: 11/03/2021 às 14:02:09   Competência: 11/03/2021  Código: a1b2c3
                 {above}
                 CPF/CNPJ: 11.222.333/0001-81     Inscrição Municipal: 9065447
                 Rua das Acácias, Nº 120, Centro - Cep: 30130-110
                 Belo Horizonte     MG
 Tomador do(s) Serviço(s)
      CPF/CNPJ: 34.128.745/0001-52     Inscrição Municipal: Não Informado
      ESCOLA JARDIM DAS FLORES LTDA
      Avenida Brasil, Nº 77 - Cep: 30130-000
 Discriminação do(s) Serviço(s)
      Consultoria em gestão de processos
 Valor dos serviços:            R$ 1.850,00     Valor dos serviços:          R$ 1.850,00
 (-) Descontos:                     R$ 0,00     (-) Deduções:                    R$ 0,00
 (-) ISS Retido na Fonte:          R$ 92,50     (=) Base de Cálculo:         R$ 1.850,00
 Valor Líquido:                 R$ 1.757,50     (x) Alíquota:                      5,00%
                                                (=) Valor do ISS:               R$ 92,50
"""
ABOVE = [
    "ÁGUA CLARA ENGENHARIA LTDA",
    "ÁGUA CLARA ENGENHARIA LTDA\n                 Água Clara Projetos",
]


@pytest.mark.parametrize("above", ABOVE, ids=["name", "trade name below"])
def test_a_provider_without_a_heading_stands_above_the_first_tax_id(above: str) -> None:
    header = fiscal.read([roll(HEADLESS.format(above=above))])

    assert header is not None
    assert header.merchant_name is not None
    assert header.document_number is not None
    assert header.total is not None
    assert "ÁGUA CLARA ENGENHARIA LTDA" == header.merchant_name.value
    assert "305" == header.document_number.value
    assert "1757.50" == str(header.total.value)


def test_a_title_is_no_providers_name() -> None:
    header = fiscal.read([roll(HEADLESS.format(above=""))])

    assert header is not None
    assert header.merchant_name is None


def test_a_description_beside_its_label_ends_above_the_next_title() -> None:
    description = " Discriminação do(s) Serviço(s)\n      Consultoria em gestão de processos"
    beside = " Descrição do Serviço: Consultoria em gestão de processos\n TRIBUTAÇÃO MUNICIPAL"
    paper = HEADLESS.format(above=ABOVE[0]).replace(description, beside)
    sheets = [roll(paper)]

    (service,) = items.find(sheets, fiscal.opened(sheets))

    assert service.value.name == "Consultoria em gestão de processos"
