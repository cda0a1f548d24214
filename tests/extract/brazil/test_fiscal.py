from decimal import Decimal

import pytest

from recibo.extract.brazil import fiscal
from recibo.extract.model import Code
from tests.extract.fields import brazilian_receipts
from tests.extract.fields.brazilian_receipts import CFE_KEY, CNPJ, NFCE_KEY, NFE_KEY, header_texts
from tests.extract.fields.literals import Truth
from tests.extract.typesetting import bare, code, nfe_key, text_page

DOCUMENTS = [
    pytest.param(brazilian_receipts.NFCE, brazilian_receipts.NFCE_TRUTH, id="nfce"),
    pytest.param(brazilian_receipts.CFE, brazilian_receipts.CFE_TRUTH, id="cfe"),
    pytest.param(brazilian_receipts.ECF, brazilian_receipts.ECF_TRUTH, id="ecf"),
    pytest.param(brazilian_receipts.NFE, brazilian_receipts.NFE_TRUTH, id="nfe landscape"),
    pytest.param(brazilian_receipts.LABEL, brazilian_receipts.LABEL_TRUTH, id="nfe label"),
    pytest.param(
        brazilian_receipts.NFSE_BOXED, brazilian_receipts.NFSE_BOXED_TRUTH, id="nfse boxed"
    ),
    pytest.param(brazilian_receipts.NFE_STUB, brazilian_receipts.NFE_STUB_TRUTH, id="nfe portrait"),
    pytest.param(brazilian_receipts.NFSE_BARE, brazilian_receipts.NFSE_BARE_TRUTH, id="nfse bare"),
    pytest.param(
        brazilian_receipts.NFSE_NATIONAL, brazilian_receipts.NFSE_NATIONAL_TRUTH, id="nfse national"
    ),
    pytest.param(
        brazilian_receipts.NFSE_TABLE, brazilian_receipts.NFSE_TABLE_TRUTH, id="nfse with a table"
    ),
]


@pytest.mark.parametrize(("text", "truth"), DOCUMENTS)
def test_header_fields_are_read_from_a_text_layer(text: str, truth: Truth) -> None:
    assert truth == header_texts(fiscal.read([text_page(text)]))


@pytest.mark.parametrize(("text", "truth"), DOCUMENTS)
def test_header_fields_are_read_from_recognized_text(text: str, truth: Truth) -> None:
    assert truth == header_texts(fiscal.read([text_page(text, exact=False)]))


@pytest.mark.parametrize(
    ("text", "truth", "codes"),
    [
        (brazilian_receipts.NFE, brazilian_receipts.NFE_TRUTH, [code("Code128", bare(NFE_KEY))]),
        (
            brazilian_receipts.NFCE,
            brazilian_receipts.NFCE_TRUTH,
            [code("QRCode", f"https://x/q?p={bare(NFCE_KEY)}|3|1")],
        ),
        (
            brazilian_receipts.CFE,
            brazilian_receipts.CFE_TRUTH,
            [
                code("Code128", bare(CFE_KEY)[:22], y=1),
                code("Code128", bare(CFE_KEY)[22:], y=90),
                code("EAN13", "7891234567895"),
            ],
        ),
    ],
    ids=["nfe", "nfce", "cfe"],
)
def test_a_code_replaces_an_unreadable_key(text: str, truth: Truth, codes: list[Code]) -> None:
    blurred = text
    for group in {str(truth["document_key"])[start : start + 4] for start in range(0, 44, 4)}:
        blurred = blurred.replace(f"{group} ", "#### ").replace(f"{group}-", "####-")

    assert truth == header_texts(fiscal.read([text_page(blurred, codes=codes, exact=False)]))


def test_a_key_in_two_lines_of_a_column_is_read_between_other_columns() -> None:
    first, last = NFE_KEY[:34], NFE_KEY[35:]
    text = brazilian_receipts.NFE.replace(NFE_KEY, "")
    column = f"""
RUA DA FUNDICAO 77 GALPAO 2        DANFE          {first}
FONE (47) 3333-0000                1 - SAIDA      {last}
"""

    header = fiscal.read([text_page(f"{column}{text}", exact=False)])

    assert header is not None
    assert header.document_key is not None
    assert bare(NFE_KEY) == header.document_key.value


def test_time_and_total_are_read_from_a_sat_code_if_they_are_faded() -> None:
    qr = code("QRCode", f"{bare(CFE_KEY)}|20210910194533|57.47|52998224725|p2q+Fpf/AB==")
    faded = brazilian_receipts.CFE.replace("10/09/2021 - 19:45:33", "").replace("57,47", "")

    assert brazilian_receipts.CFE_TRUTH == header_texts(fiscal.read([text_page(faded, codes=[qr])]))


SIMILAR_DOCUMENTS = {
    "leitura x": f"""
LOJA X LTDA
CNPJ: {CNPJ}
10/05/2016 08:00:00 GNF:000123 COO:023400
NAO E DOCUMENTO FISCAL
LEITURA X
TOTALIZADORES FISCAIS
TOTAL R$ 1.234,56
""",
    "reducao z": f"""
LOJA X LTDA
CNPJ: {CNPJ}
10/05/2016 23:00:00 COO:023400
REDUCAO Z
CONTADOR DE CUPOM FISCAL: 000123
VENDA BRUTA DIARIA: 1.234,56
""",
    "credit slip": f"""
LOJA X LTDA
CNPJ: {CNPJ}
CDC:0012 COO:023400
COMPROVANTE CREDITO OU DEBITO
VALOR: 20,57
""",
    "card slip": """
REDE
VISA CREDITO
ESTAB: PADARIA DO ZE
01/02/2023 10:22 VALOR: 20,57
""",
    "foreign": "TESCO\nMILK 1.00\nTOTAL 1.00",
    "title by chance": "CITY BANK\nLOAN FEES 12.00\nCPF CONFCENTER UNFSE\nTOTAL 12.00",
    "boleto": "23793.38128 60007.827136 95000.063305 9 75520000370000\nBOLETO",
}


@pytest.mark.parametrize("text", SIMILAR_DOCUMENTS.values(), ids=SIMILAR_DOCUMENTS)
def test_similar_documents_are_not_fiscal_documents(text: str) -> None:
    assert fiscal.read([text_page(text)]) is None


def test_an_nfce_without_tax_id_and_key_is_identified_by_its_full_title() -> None:
    text = """
MERCADO BOM LTDA
Documento Auxiliar da Nota Fiscal de Consumidor Eletrônica
Valor a Pagar R$                        70,00
NFC-e nº 000001234 Série 001 14/03/2025 12:41:07
"""

    read = header_texts(fiscal.read([text_page(text)]))

    assert (read["type"], read["document_number"]) == ("nfce", "1234")
    assert "merchant_tax_id" not in read or read["merchant_tax_id"] is None


def test_an_empty_document_is_none() -> None:
    assert fiscal.read([]) is None


def test_a_quoted_key_does_not_replace_the_documents_own_key() -> None:
    quoted = nfe_key("412401112223330001815500100000077712345678" + "9")
    text = f"NF-e referenciada: {quoted}\n{brazilian_receipts.NFE}"

    assert brazilian_receipts.NFE_TRUTH == header_texts(fiscal.read([text_page(text)]))


@pytest.mark.parametrize(
    ("stub", "name"),
    [
        (
            "RECEBEMOS DE DISTRIBUIDORA PRODUTOS BONS LTDA OS PRODUTOS CONSTANTES DA NOTA",
            "DISTRIBUIDORA PRODUTOS BONS LTDA",
        ),
        ("RECEBEMOS DE ACO FORTE LTDAOSPRODUTOS/SERVICOS DA NOTA", "ACO FORTE LTDA"),
        ("Recebi(emos) de: Ferragens Uniao ME, os servicos constantes", "Ferragens Uniao ME"),
    ],
)
def test_the_stub_names_the_issuer(stub: str, name: str) -> None:
    record = fiscal.read([text_page(f"{stub}\n{brazilian_receipts.NFE}")])

    assert record is not None
    assert record.merchant_name is not None
    assert record.merchant_name.value == name


def test_documents_issued_by_the_tax_office_keep_the_printed_seller() -> None:
    office = nfe_key("412403112223330001815589000004567818765432" + "1")
    text = brazilian_receipts.NFE.replace(NFE_KEY, office).replace(
        "11.222.333/0001-81", "529.982.247-25"
    )

    record = fiscal.read([text_page(text)])

    assert record is not None
    assert record.merchant_tax_id is not None
    assert record.merchant_tax_id.value == brazilian_receipts.ISSUER


def test_other_electronic_documents_are_read_from_their_key() -> None:
    key = nfe_key(f"352403{brazilian_receipts.ISSUER}66001000000987112345678")

    record = fiscal.read([text_page(f"ENERGIA S.A.\nCNPJ {CNPJ}\nNOTA FISCAL DE ENERGIA\n{key}")])

    assert record is not None
    assert record.type.value == "invoice"
    assert record.document_number is not None
    assert record.document_number.value == "987"
    assert record.total is None


def test_the_total_of_a_carrier_is_the_amount_to_receive() -> None:
    key = nfe_key(f"352403{brazilian_receipts.ISSUER}57001000000987112345678")
    sums = "VALOR TOTAL DO SERVIÇO   VALOR A RECEBER   VALOR ICMS\n1.300,00   1.234,56   148,15"
    sums = sums.replace("1.300,00   ", "1.300,00                 ").replace("56   ", "56          ")

    record = fiscal.read([text_page(f"VELOZ LTDA\nCNPJ {CNPJ}\nDACTE\n{key}\n{sums}")])

    assert record is not None
    assert record.total is not None
    assert Decimal("1234.56") == record.total.value


def test_a_carriers_name_is_in_the_block_above_its_tax_id() -> None:
    key = nfe_key(f"352403{brazilian_receipts.ISSUER}57001000000987112345678")
    head = "DECLARO QUE RECEBI OS VOLUMES\nNOME\nRG\nDACTE   MODAL\n\n\n"
    block = f"VELOZ TRANSPORTES LTDA\nRUA DO PORTO, 20\nSANTOS - SP\nCNPJ: {CNPJ}\n"

    record = fiscal.read([text_page(f"{head}{block}\n\n{key}")])

    assert record is not None
    assert record.merchant_name is not None
    assert "VELOZ TRANSPORTES LTDA" == record.merchant_name.value


@pytest.mark.parametrize(
    "title",
    [
        "Documento Auxiliar da Nota Fiscal Fatura de Serviços de Comunicação Eletrônica",
        "DANF3E",
        "Documento Auxiliar do Conhecimento de Transporte Eletrônico",
    ],
)
def test_bills_without_a_readable_key_are_identified_by_their_title(title: str) -> None:
    record = fiscal.read(
        [text_page(f"{title}\nLUZ E VOZ S.A.\nCNPJ {CNPJ}\nTOTAL A PAGAR R$ 81,20")]
    )

    assert record is not None
    assert record.total is not None
    assert ("invoice", Decimal("81.20")) == (record.type.value, record.total.value)


def test_a_ticket_is_dated_by_its_issue_not_by_its_journey() -> None:
    key = nfe_key(f"432407{brazilian_receipts.ISSUER}63001000009912112345678")
    said_first = "GAUCHO LTDA\nORIGEM: PELOTAS (RS)\nDATA: 05/07/2024 | HORARIO: 08:30"
    ticket = f"{said_first}\n{key}\nBP-e no 9912 Serie 001 01/07/2024 17:20:30"

    record = fiscal.read([text_page(ticket)])

    assert record is not None
    assert record.issued_at is not None
    assert record.issued_at.value.date.day == 1
    assert record.issued_at.value.offset is not None


def test_a_coupon_without_a_tax_id_is_still_a_coupon() -> None:
    rows = [
        row for row in brazilian_receipts.ECF.splitlines() if "CNPJ" not in row and "CPF" not in row
    ]

    record = fiscal.read([text_page("\n".join(rows))])

    assert record is not None
    assert record.type is not None
    assert record.type.value == "cupom_fiscal"


def test_the_tax_is_not_read_from_the_additional_information() -> None:
    text = brazilian_receipts.NFE.replace(
        "Pedido 1234", "Valor aproximado dos tributos R$ 321,00 Fonte IBPT"
    )

    header = fiscal.read([text_page(text)])

    assert header is not None
    assert header.tax is not None
    assert Decimal("180.00") == header.tax.value


def test_pages_with_very_many_labels_are_read() -> None:
    text = "\n".join(["NFS-e PRESTADOR DE SERVICOS CNPJ NUMERO DA NOTA VALOR LIQUIDO"] * 300)

    record = fiscal.read([text_page(text), text_page("9" * 50_000, number=2)])

    assert record is not None
    assert record.total is None
