"""DANFE pages on which OCR misreads, joins or misses the labels of boxes."""

import pytest

from recibo.extract.brazil import fiscal
from recibo.extract.model import Header
from tests.extract.typesetting import cnpj, nfe_key, text_page

ISSUER, CUSTOMER = cnpj("287714090001"), cnpj("053321180002")
KEY = nfe_key("35230628771409000" + "1" + ISSUER[-2:] + "5500100000073414904917" + "9")

HEAD = f"""
RECEBEMOS DE CASA DAS TINTAS VALE VERDE LTDA OS PRODUTOS CONSTANTES DA NOTA FISCAL AO LADO
IDENTIFICAÇÃO DO EMITENTE              DANFE
CASA DAS TINTAS VALE VERDE LTDA        Documento Auxiliar da
Rua das Acácias, 401 - Centro          Nota Fiscal Eletrônica     CHAVE DE ACESSO
Campinas - SP - CEP 13010-001          0 - ENTRADA 1 - SAÍDA      {KEY}
NATUREZA DA OPERAÇÃO                                              PROTOCOLO DE AUTORIZAÇÃO DE USO
VENDA                                                             13523000000001 26/06/2023 14:14:23
INSCRIÇÃO ESTADUAL                                                CNPJ
20645161-1                                                        {ISSUER}
DESTINATÁRIO / REMETENTE
NOME / RAZÃO SOCIAL                    CNPJ / CPF                 DATA DA EMISSÃO
ESCOLA JARDIM DAS FLORES               {CUSTOMER}         26/06/2023
ENDEREÇO                               BAIRRO / DISTRITO          DATA DA SAÍDA
Rua XV de Novembro, 9                  Centro                     26/06/2023
MUNICÍPIO                              UF                         HORA DA SAÍDA
Campinas                               SP                         15:20:10
"""
UPPER = "1.000,00               180,00         1.400,00               72,00                1.050,00"
LABELLED = f"""
CÁLCULO DO IMPOSTO
BASE DE CÁLC. DO ICMS  VALOR DO ICMS  BASE DE CÁLC. ICMS ST  VALOR DO ICMS SUBST. V. TOTAL PRODUTOS
{UPPER}
VALOR DO FRETE VALOR SEGURO  DESCONTO   OUTRAS DESP. VALOR TOTAL IPI V. TOT. TRIB.  V. TOTAL DA NOTA
30,00          0,00          80,00      12,50        105,00          310,20         1.189,50
DADOS DOS PRODUTOS / SERVIÇOS
"""
MISREAD = {
    "joined": (
        "VALOR TOTAL IPI V. TOT. TRIB.  V. TOTAL DA NOTA",
        "VALORTOTALIPV.TOT.TRSOTAL DA N",
    ),
    "misread": ("V. TOT. TRIB.  V. TOTAL DA NOTA", "W. YDT. TRUB   W TOYAL OA MOTA"),
    "missing": ("V. TOT. TRIB.  V. TOTAL DA NOTA", ""),
}


def _read(text: str) -> Header:
    header = fiscal.read([text_page(text.strip("\n"), exact=False)])
    assert header is not None
    return header


def _amounts(header: Header) -> tuple[str, str, str]:
    found = (header.subtotal, header.total, header.tax)
    subtotal, total, tax = (str(each.value) if each else "" for each in found)
    return subtotal, total, tax


@pytest.mark.parametrize("labels", MISREAD.values(), ids=MISREAD.keys())
def test_amounts_with_misread_labels_are_known_by_their_sum(labels: tuple[str, str]) -> None:
    printed, misread = labels
    text = (HEAD + LABELLED).replace(printed, misread.ljust(len(printed)))
    assert ("1050.00", "1189.50", "310.20") == _amounts(_read(text))


def test_a_row_of_amounts_in_two_lines_is_one() -> None:
    left, right = UPPER[:34], " " * 34 + UPPER[34:]
    text = (HEAD + LABELLED).replace(UPPER, f"{right}\n{left}")
    text = text.replace("V. TOTAL PRODUTOS", "").replace("V. TOT. TRIB.  V. TOTAL DA NOTA", "")
    assert ("1050.00", "1189.50", "310.20") == _amounts(_read(text))


def test_amounts_that_do_not_add_up_prove_nothing() -> None:
    text = (HEAD + LABELLED).replace("V. TOTAL DA NOTA", "").replace("1.189,50", "1.189,60")
    assert _read(text).total is None


def test_estimated_taxes_are_not_a_part_of_the_total() -> None:
    """Left of the total may be a tax that is."""
    text = (
        (HEAD + LABELLED).replace("V. TOT. TRIB.  ", "VALOR DO XYZ   ").replace("310,20", "105,00")
    )
    assert "180.00" == _amounts(_read(text))[2]


def test_a_misread_label_of_the_date_leaves_the_date_and_the_time_of_departure() -> None:
    text = HEAD.replace("DATA DA EMISSÃO", "").replace("HORA DA SAÍDA", "SHORA D4 SAIA")
    issued = _read(text + LABELLED).issued_at

    assert issued is not None
    assert "2023-06-26" == str(issued.value.date)
    assert "15:20:10" == str(issued.value.time)


NAMES = {
    "no stub": (HEAD.split("\n", 2)[2], "CASA DAS TINTAS VALE VERDE LTDA"),
    "no label of the next box": (
        HEAD.split("\n", 2)[2].replace("NATUREZA DA OPERAÇÃO", "NATSIA SA OPRAÇO"),
        "CASA DAS TINTAS VALE VERDE LTDA",
    ),
    "misread stub": (
        HEAD.replace("RECEBEMOS DE CASA DAS TINTAS", "RECEREMCS DE CASA DAS TINTES"),
        "CASA DAS TINTAS VALE VERDE LTDA",
    ),
}


@pytest.mark.parametrize(("head", "name"), NAMES.values(), ids=NAMES.keys())
def test_the_name_is_read_in_the_box_of_the_issuer(head: str, name: str) -> None:
    carrier = """
TRANSPORTADOR / VOLUMES TRANSPORTADOS
RAZÃO SOCIAL                           FRETE POR CONTA            PLACA
RODA FORTE TRANSPORTES LTDA            0 - Emitente               ABC-1234
"""
    found = _read(head + LABELLED + carrier).merchant_name

    assert found is not None
    assert name == found.value


def test_the_key_of_another_document_is_not_its_own() -> None:
    body = "35230605332118000" + "2" + CUSTOMER[-2:] + "5500100000119601108831" + "3"
    # The issuer's number is on the page, the customer's is not.
    text = (
        HEAD.replace(KEY, "").replace(CUSTOMER, "")
        + LABELLED
        + "NF-e referenciada: "
        + nfe_key(body)
    )
    assert _read(text).document_key is None


def test_the_customer_of_a_form_without_the_usual_heading() -> None:
    text = HEAD.replace("DESTINATÁRIO / REMETENTE\n", "").replace(
        "NOME / RAZÃO SOCIAL", "Cliente   "
    )
    document = fiscal.identify([text_page((text + LABELLED).strip("\n"))])

    assert document is not None
    found = document.details().customer_tax_id
    assert found is not None
    assert found.value == "".join(filter(str.isdigit, CUSTOMER))
