"""Municipal NFS-e forms, some without a heading of the provider."""

from decimal import Decimal

import pytest

from recibo.extract import pipeline
from recibo.extract.brazil import fiscal
from recibo.extract.fields.items import line_items
from recibo.extract.model import DocumentType, Header
from tests.extract.typesetting import text_page

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
def test_a_provider_without_a_heading_is_above_the_first_tax_id(above: str) -> None:
    header = fiscal.read([text_page(HEADLESS.format(above=above))])

    assert header is not None
    assert header.merchant_name is not None
    assert header.document_number is not None
    assert header.total is not None
    assert "ÁGUA CLARA ENGENHARIA LTDA" == header.merchant_name.value
    assert "305" == header.document_number.value
    assert "1757.50" == str(header.total.value)


def test_the_town_hall_of_the_form_is_not_the_provider() -> None:
    """The provider's lines cannot be read."""
    text = """
PREFEITURA MUNICIPAL DE PETRÓPOLIS
Secretaria Municipal de Fazenda
Nota Fiscal de Serviços Eletrônica - NFS-e
Número / Série     Emitida em               Competência
890/E              01/05/2024 às 16:35      05/2024
Prestador do(s) Serviço(s)
Município: Petrópolis UF: RJ
Tomador do(s) Serviço(s)
Município: Petrópolis UF: RJ E-mail: -
Discriminação do(s) Serviço(s)
Manutenção de sistemas
Valor dos Serviços R$     Base de Cálculo R$    Valor do ISSQN R$    Valor Líquido R$
11.780,00                 11.780,00             589,00               11.780,00
"""
    receipt = pipeline.understand([[text_page(text)]])

    assert receipt.type.value is DocumentType.NFSE
    assert receipt.merchant_name is None


def test_a_heading_below_an_empty_description_is_no_item() -> None:
    service = "Consultoria em gestão de processos"
    text = HEADLESS.format(above=ABOVE[0]).replace(service, "TRIBUTAÇÃO MUNICIPAL")

    assert not pipeline.understand([[text_page(text)]]).line_items
    assert pipeline.understand([[text_page(HEADLESS.format(above=ABOVE[0]))]]).line_items


def test_a_title_is_not_the_providers_name() -> None:
    header = fiscal.read([text_page(HEADLESS.format(above=""))])

    assert header is not None
    assert header.merchant_name is None


def test_a_description_right_of_its_label_ends_above_the_next_title() -> None:
    description = " Discriminação do(s) Serviço(s)\n      Consultoria em gestão de processos"
    labelled = " Descrição do Serviço: Consultoria em gestão de processos\n TRIBUTAÇÃO MUNICIPAL"
    text = HEADLESS.format(above=ABOVE[0]).replace(description, labelled)
    text_pages = [text_page(text)]

    (service,) = line_items.find(text_pages, fiscal.identify(text_pages))

    assert service.value.name == "Consultoria em gestão de processos"


def test_a_description_of_the_tax_code_is_not_that_of_the_service() -> None:
    description = " Discriminação do(s) Serviço(s)\n      Consultoria em gestão de processos"
    described = (
        " Descrição do Código de Tributação\n Assessoria ou consultoria de qualquer natureza\n"
        " Descrição do Serviço\n      Consultoria em gestão de processos"
    )
    text_pages = [text_page(HEADLESS.format(above=ABOVE[0]).replace(description, described))]

    (service,) = line_items.find(text_pages, fiscal.identify(text_pages))

    assert service.value.name == "Consultoria em gestão de processos"


FORM = """
 PREFEITURA MUNICIPAL DE {city}
 {title}
 {number}              Data e Hora de Emissão            Código de Verificação
 {figure}              14/02/2023 09:09:09               abc12345
 PRESTADOR DE SERVIÇOS
 Nome/Razão Social: LABORATORIO BARAO LTDA
 CPF/CNPJ: 11.222.333/0001-81        Inscrição Municipal: 123
 TOMADOR DE SERVIÇOS
 Nome/Razão Social: ESCOLA JARDIM DAS FLORES LTDA
 CPF/CNPJ: 34.128.745/0001-52
 DISCRIMINAÇÃO DOS SERVIÇOS
 Exames do lote 02/2023
{description}
{sums}
"""
SUMS = """
 Valor do Serviço (R$)      Base de Cálculo (R$)     Alíquota (%)     ISS (R$)
 7.880,00                   7.880,00                 2,00             157,60
"""


def _form(
    *,
    title: str = "NOTA FISCAL DE SERVIÇOS ELETRÔNICA - NFS-e",
    number: tuple[str, str] = ("Número da Nota", "00000781"),
    description: str = "",
    sums: str = SUMS,
) -> Header:
    label, figure = (each.ljust(20) for each in number)
    form = FORM.format(
        city="CAMPINAS",
        title=title,
        number=label,
        figure=figure,
        description=description,
        sums=sums,
    )
    header = fiscal.read([text_page(form)])
    assert header is not None
    return header


def test_labels_of_two_boxes_are_not_one_label() -> None:
    header = _form()

    assert header.tax is not None
    assert Decimal("157.60") == header.tax.value


def test_amounts_of_the_form_rank_before_those_of_the_description() -> None:
    header = _form(description=" VALOR BRUTO R$ 8.000,00 - GLOSA R$ 120,00\n VALOR LIQUIDO R$ 1,00")

    assert header.subtotal is not None
    assert Decimal("7880.00") == header.subtotal.value


@pytest.mark.parametrize(
    ("title", "number"),
    [
        ("NFPS-e - NOTA FISCAL DE PRESTAÇÃO DE SERVIÇOS ELETRÔNICA", ("Número da NFPS-e", "781")),
        ("NFEM - NOTA FISCAL ELETRÔNICA MUNICIPAL", ("Nº NFEM", "E-781")),
    ],
)
def test_municipal_titles_and_number_labels(title: str, number: tuple[str, str]) -> None:
    header = _form(title=title, number=number)

    assert header.type is not None
    assert header.document_number is not None
    assert DocumentType.NFSE is header.type.value
    assert "781" == header.document_number.value


def test_a_municipal_nfse_is_identified_without_its_title() -> None:
    header = _form(title="")

    assert header.type is not None
    assert header.merchant_name is not None
    assert DocumentType.NFSE is header.type.value
    assert "LABORATORIO BARAO LTDA" == header.merchant_name.value


def test_a_service_contract_is_not_an_nfse() -> None:
    contract = """
 CONTRATO DE PRESTAÇÃO DE SERVIÇOS
 PRESTADOR DE SERVIÇOS: LABORATORIO BARAO LTDA  CNPJ: 11.222.333/0001-81
 TOMADOR DE SERVIÇOS: ESCOLA JARDIM DAS FLORES LTDA  CNPJ: 34.128.745/0001-52
 VALOR 7.880,00
"""

    assert fiscal.read([text_page(contract)]) is None


def test_a_discount_makes_the_total_less_than_the_subtotal() -> None:
    sums = """
 Valor dos Serviços     Desconto     Base de Cálculo     Valor do ISS     Valor da Nota
 320,00                 20,00        300,00              15,00            300,00
"""
    header = _form(sums=sums)

    assert header.total is not None
    assert header.subtotal is not None
    assert ("300.00", "320.00") == (str(header.total.value), str(header.subtotal.value))


def test_tax_and_net_have_short_labels() -> None:
    sums = """
 Total dos serviços      ISS         ISS retido      Líquido
 450,00                  13,50       13,50           436,50
"""
    header = _form(sums=sums)

    assert header.total is not None
    assert header.tax is not None
    assert ("436.50", "13.50") == (str(header.total.value), str(header.tax.value))


def _item(text: str) -> tuple[str, Decimal | None]:
    pages = [text_page(text, exact=False)]
    (item,) = line_items.find(pages, fiscal.identify(pages))
    return item.value.name, item.value.total


def _number(text: str) -> str | None:
    header = fiscal.read([text_page(text, exact=False)])
    assert header is not None
    return header.document_number.value if header.document_number else None


@pytest.mark.parametrize("printed", ["N°:2021/305", "N9:2021/305", "N :2021/305"])
def test_a_number_is_read_behind_a_sign_that_ocr_misreads(printed: str) -> None:
    text = HEADLESS.format(above=ABOVE[0]).replace("Nº:2021/305", printed)
    assert "305" == _number(text)


@pytest.mark.parametrize("printed", ["958/1", "958/E", "958 / 1"])
def test_a_series_follows_the_number(printed: str) -> None:
    text = f"""
PREFEITURA MUNICIPAL DE PETRÓPOLIS
Nota Fiscal de Serviços Eletrônica - NFS-e
Número da NFS-e / Série     Data do Fato Gerador     Data/Hora de Emissão
{printed:10}                  01/05/2024               01/05/2024 16:35:10
PRESTADOR DO SERVIÇO
Razão Social/Nome: OFICINA PEDRA BRANCA LTDA
CNPJ: 11.222.333/0001-81
"""
    assert "958" == _number(text)


def test_a_misread_label_of_the_gross_does_not_reach_into_its_amount() -> None:
    """`valor dos serviços (R$)` is a label, too."""
    text = HEADLESS.format(above=ABOVE[0]).replace("Valor dos serviços: ", "valor des serviçes: ")
    text = text.replace("R$", "RS")
    assert ("Consultoria em gestão de processos", Decimal("1850.00")) == _item(text)


NATIONAL = """
DANFSe v2.0                          Município de Petrópolis
Chave de Acesso da NFS-e
Número da NFS-e         Competência da NFS-e      Data e Hora da emissão da NFS-e
757                     02/04/2026                02/04/2026 08:43:15
PRESTADOR / FORNECEDOR
CNPJ / CPF / NIF
11.222.333/0001-81
Nome / Nome Empresarial
OFICINA PEDRA BRANCA LTDA
SERVIÇO PRESTADO
Código de Tributação Nacional     Local da Prestação     País da Prestação
17.01.01 - Serviços               Petrópolis - RJ
Desriçhe do Servigo
Consultoria em gestão de processos
e treinamento da equipe
TRIBUTAÇÃO MUNICIPAL
Valor do Serviço        BC ISSQN
R$ 20.199,98            R$ 20.199,98
"""


def test_a_description_below_a_misread_heading_is_above_the_taxes() -> None:
    name = "Consultoria em gestão de processos e treinamento da equipe"
    assert (name, Decimal("20199.98")) == _item(NATIONAL)


def test_a_page_without_a_title_is_known_by_its_headings() -> None:
    text = HEADLESS.format(above=ABOVE[0]).replace("NFS-e - NOTA FISCAL DE SERVIÇOS ELETRÔNICA", "")
    header = fiscal.read([text_page(text, exact=False)])

    assert header is not None
    assert header.type is not None
    assert DocumentType.NFSE is header.type.value
    assert "305" == _number(text)


def test_a_number_is_above_the_customer_if_the_provider_has_no_tax_id() -> None:
    text = HEADLESS.format(above=ABOVE[0]).replace("CPF/CNPJ: 11.222.333/0001-81", "")
    assert "305" == _number(text)


def test_a_number_with_zeros_in_front_needs_no_label() -> None:
    text = """
PREFEITURA DA CIDADE DO RIO DE JANEIRO
SECRETARIA MUNICIPAL DE FAZENDA              00000341
NOTA FISCAL DE SERVIÇOS ELETRÔNICA - NFS-e   Data e BeradeEm
NOTA CARIOCA                                 19/08/2014 06:54:27
PRESTADOR DE SERVIÇOS
CPF/CNPJ: 11.222.333/0001-81
Nome/Razão Social: OFICINA PEDRA BRANCA LTDA
OUTRAS INFORMAÇÕES
Esta NFS-e foi emitida com respaldo na Lei nº 5.098 de 15/10/2009.
"""
    assert "341" == _number(text)


LISTED = FORM.format(
    city="SANTOS",
    title="NOTA FISCAL DE SERVIÇOS ELETRÔNICA - NFS-e",
    number="Número da Nota".ljust(20),
    figure="00000781".ljust(20),
    description=" Consulta clínica ....... R$ {consultation}\n Vacina tripla ........... R$ 90,00",
    sums=SUMS.replace("7.880,00", "  310,00").replace("157,60", "  6,20"),
).replace(" Exames do lote 02/2023\n", "")


def test_services_listed_in_a_description_are_items_if_their_sum_is_the_gross() -> None:
    def names(consultation: str) -> list[str]:
        pages = [text_page(LISTED.format(consultation=consultation))]
        return [item.value.name for item in line_items.find(pages, fiscal.identify(pages))]

    assert names("220,00") == ["Consulta clínica", "Vacina tripla"]
    assert len(names("225,00")) == 1


def test_the_gross_may_be_below_the_net() -> None:
    text = """
 PREFEITURA MUNICIPAL DE PETRÓPOLIS
 NOTA FISCAL DE SERVIÇOS ELETRÔNICA - NFS-e
 Número da Nota: 890         Emitida em: 01/05/2024 16:35:00
 PRESTADOR DE SERVIÇOS
 Nome/Razão Social: ÁGUA CLARA ENGENHARIA LTDA
 CPF/CNPJ: 11.222.333/0001-81
 DISCRIMINAÇÃO DOS SERVIÇOS
 Consultoria em gestão de processos
 VALOR LÍQUIDO DA NOTA: R$ 9.385,00
 VALOR TOTAL DO SERVIÇO = R$ 10.000,00
 IRRF (R$)   PIS (R$)   COFINS (R$)   CSLL (R$)
 150,00      65,00      300,00        100,00
"""
    receipt = pipeline.understand([[text_page(text)]])

    assert receipt.total is not None
    assert receipt.subtotal is not None
    assert (receipt.total.value, receipt.subtotal.value) == (Decimal(9385), Decimal(10000))
