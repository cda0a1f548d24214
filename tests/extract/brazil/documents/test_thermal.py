"""Values of thermal receipts that take more than one row."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pytest

from recibo.extract import pipeline
from recibo.extract.brazil import fiscal
from recibo.extract.model import Box, DocumentType, TextPage
from tests.extract.fields import brazilian_receipts
from tests.extract.typesetting import text_page


@pytest.mark.parametrize(
    ("statement", "taxes"),
    [
        ("Informação dos Tributos Totais\nIncidentes (Lei Federal\n12.741/2012) R$ 41,04", "41.04"),
        ("Valor aproximado dos tributos R$\n41,04 Federal R$ 16,42 Estadual\nR$ 24,62", "41.04"),
        ("Valor aproximado de tributos R$: 16,42 Federal e\n24,62 Estadual. Fonte: IBPT", "41.04"),
        (
            "Tributos incidentes Lei Federal 12.741/2012\nFederal 16,42\nEstadual 24,62\nTroco 7",
            "41.04",
        ),
        ("Valor aproximado de tributos R$ 41,04 (13,45%) Fonte: IBPT\nPIX 7,00", "41.04"),
        ("Valor aproximado dos tributos\nPIX R$ 7,00", None),
        ("Tributos: R$ 41,04 (32,11%) Fonte: IBPT", "41.04"),
        ("Tributos Aproximados R$ 41,04 (14,01%) Fonte IBPT", "41.04"),
        (
            "Você pagou aproximadamente:\nR$ 16,42 de tributos federais\nR$ 24,62 estaduais",
            "41.04",
        ),
    ],
)
def test_taxes_are_read_from_several_rows_and_parts(statement: str, taxes: str | None) -> None:
    text = _without_taxes() + statement

    assert _taxes(text) == (Decimal(taxes) if taxes else None)


@pytest.mark.parametrize(
    "statement",
    [
        "NFC-e n. 123456 Série 3 15/03/2024\n18:22:10 - Via Consumidor",
        "EMISSÃO: 15/03/2024 18:22:10\nNFC-e No 000123456 SÉRIE 003",
    ],
)
def test_the_time_of_issue_is_not_that_of_the_authorization_below(statement: str) -> None:
    issued = next(row for row in brazilian_receipts.NFCE.splitlines() if row.startswith("NFC-e no"))
    text = brazilian_receipts.NFCE.replace(issued, statement).replace(
        "131240000000000\nData de autorizacao ", "131240000000000 "
    )

    header = fiscal.read([text_page(text)])

    assert header is not None
    assert header.issued_at is not None
    assert dt.time(18, 22, 10) == header.issued_at.value.time


@pytest.mark.parametrize(
    "authorization",
    [
        "Protocolo de Autorização:\n131240000000000 15/03/2024 18:23:49",
        "Protocolo de Autorização: 131240000000000\n15/03/2024 18:23:49",
    ],
)
def test_a_time_below_the_label_of_the_authorization_is_not_that_of_the_issue(
    authorization: str,
) -> None:
    """The rows are so tight that it is also near the number and series."""
    issued = next(row for row in brazilian_receipts.NFCE.splitlines() if row.startswith("NFC-e no"))
    text = brazilian_receipts.NFCE.replace(
        issued,
        f"EMISSÃO: 15/03/2024 18:22:10\nNFC-e No 000123456 SÉRIE 003\n{authorization}",
    )

    header = fiscal.read([_tight(text_page(text))])

    assert header is not None
    assert header.issued_at is not None
    assert dt.time(18, 22, 10) == header.issued_at.value.time


def _tight(page: TextPage) -> TextPage:
    """Return a page whose rows overlap."""
    lines = [
        replace(
            line, words=tuple(replace(w, box=_up(w.box)) for w in line.words), box=_up(line.box)
        )
        for line in page.lines
    ]
    return replace(page, lines=tuple(lines))


def _up(box: Box) -> Box:
    y = box.y_center * 0.5
    return replace(box, y0=y - box.height / 2, y1=y + box.height / 2)


def test_item_amounts_below_their_heading_are_not_the_gross() -> None:
    text = brazilian_receipts.NFCE.replace(
        "CODIGO DESCRICAO QTDE UN VL.UNIT VL.TOTAL",
        "CODIGO DESCRICAO\n   QTDE UN VL UNIT R$     VALOR TOTAL R$",
    ).replace("LEITE COND MOCA 395G", "LEITE")

    header = fiscal.read([text_page(text)])

    assert header is not None
    assert header.subtotal is not None
    assert Decimal("22.44") == header.subtotal.value


TORN = """
SUPERMERCADO CORUMBA LTDA
CNPJ: 11.222.333/0001-81 IE: 28.123.456-7
R DELAMARE 900 - CENTRO - CORUMBA - MS
Documento Auxiliar da Nota Fiscal de
Consumidor Eletronica
Codigo Descricao Qtde Un Vl Unit Vl Total
789100 ACUCAR CRISTAL 5KG 2 UN 19,90 39,80
789200 OLEO SOJA 900ML    3 UN  7,20 21,60
Qtde. total de itens                     2
Valor total R$                       61,40
Desconto R$                           1,40
"""


def test_the_total_of_a_torn_receipt_is_its_gross_less_the_discount() -> None:
    header = fiscal.read([text_page(TORN)])

    assert header is not None
    assert header.type is not None
    assert header.total is not None
    assert header.subtotal is not None
    assert DocumentType.NFCE is header.type.value
    assert (Decimal("60.00"), Decimal("61.40")) == (header.total.value, header.subtotal.value)
    assert header.total.confidence < 0.9


@pytest.mark.parametrize(
    "title",
    [
        "Documento Auxiliar da Nota\nFiscal\nde Consumidor Eletrônica",
        "BELÉM - PA\n24/10/2016 16:19:52 CCF:022228 COO:205608",
    ],
)
@pytest.mark.parametrize(
    "headings", ["ITEM CODIGO DESCRICAO\nQTD. UN. VL UNIT R$", "DESCRIÇÃO\nCÓDIGO QTD UN VL.UNIT"]
)
def test_titles_headings_towns_days_and_items_are_not_the_seller(title: str, headings: str) -> None:
    text = f"""
{title}
{headings}
001 62049 SUCO LARANJA NATURAL 300ML
1,0000 UN X 11,05          11,05
002 7891297505078 MISTO QUENTE
2,0000 UN X 12,90          25,80
QTD. TOTAL DE ITENS            2
VALOR TOTAL R$             36,85
Cartão de Débito           36,85
Consulte pela Chave de Acesso em www.sefaz.pb.gov.br/nfce/consulta
"""
    assert pipeline.understand([[text_page(text)]]).merchant_name is None


def test_a_receipt_without_its_head_has_no_seller() -> None:
    rows = brazilian_receipts.NFCE.split("\n")
    first = next(index for index, row in enumerate(rows) if "total de itens" in row.lower())

    header = fiscal.read([text_page("\n".join(rows[first:]))])

    assert header is not None
    assert header.merchant_name is None


FADED = """
MERCADO IPE AMARELO LTDA
RUA DAS ACACIAS 10 - CENTRO - JUIZ DE FORA - MG
02/04/2024 - 09:15:42 - Cupom: 00012345
Cod Descr. Qtd Un Preco Total
789100 ACUCAR CRISTAL 5KG 2 UN 19,90 39,80
789200 OLEO SOJA 900ML    3 UN  7,20 21,60
Qtd. total de itens                      2
VALOR TOTAL EM PRODUTO(S) R$         61,40
Acrescimo R$                          6,14
Valor total R$                       67,54
Cartao de debito                     67,54
N.:30484 Serie:071 Emissao 02/04/2024 09:15
Consulte em https://portalsped.fazenda
.mg.gov.br/portalnfce
"""


def test_an_nfce_without_title_key_and_tax_id_is_identified_by_its_lookup_url() -> None:
    header = fiscal.read([text_page(FADED)])

    assert header is not None
    assert header.document_number is not None
    assert header.issued_at is not None
    assert header.total is not None
    assert header.subtotal is not None
    assert DocumentType.NFCE is header.type.value
    assert "30484" == header.document_number.value
    assert dt.time(9, 15, 42) == header.issued_at.value.time
    assert (Decimal("67.54"), Decimal("61.40")) == (header.total.value, header.subtotal.value)


def test_a_product_code_of_fourteen_digits_is_not_an_issuer() -> None:
    text = (
        brazilian_receipts.ECF.replace("CNPJ:", "").replace(brazilian_receipts.CNPJ, "")
        + "\nCOD (00076872220044)"
    )

    header = fiscal.read([text_page(text, exact=False)])

    assert header is not None
    assert header.merchant_tax_id is None or "00076872220044" != header.merchant_tax_id.value


def _taxes(text: str) -> Decimal | None:
    header = fiscal.read([text_page(text)])
    assert header is not None
    return header.tax.value if header.tax else None


def _without_taxes() -> str:
    """Return an NFC-e up to the statement of its taxes."""
    return brazilian_receipts.NFCE[: brazilian_receipts.NFCE.index("Tributos")]


def test_a_company_is_the_consumer_although_its_address_is_behind_its_name() -> None:
    printed = brazilian_receipts.NFCE.replace(
        "CONSUMIDOR NAO IDENTIFICADO",
        "CONSUMIDOR CNPJ: 11.222.333/0001-81\nIRMAOS BECKER LTDA - Rua Sao Pedro 77, Sao Jose",
    )

    details = pipeline.understand([[text_page(printed)]]).details

    assert details.customer_name is not None
    assert details.customer_name.value == "IRMAOS BECKER LTDA"


def test_a_number_in_the_queue_is_not_the_name_of_the_seller() -> None:
    receipt = pipeline.understand([[text_page(f"SENHA\n318\n{brazilian_receipts.NFCE.lstrip()}")]])

    assert receipt.merchant_name is not None
    assert "SENHA" not in receipt.merchant_name.value


def test_a_surcharge_that_is_named_a_service_charge_is_one() -> None:
    printed = brazilian_receipts.NFCE.replace(
        "Desconto R$                           2,00\nValor a Pagar R$                     20,44",
        "Acréscimos R$ (Taxa de Serviço 10%)   2,24\nValor a Pagar R$                     24,68",
    )

    charge = pipeline.understand([[text_page(printed)]]).details.service_charge

    assert charge is not None
    assert str(charge.value) == "2.24"


@pytest.mark.parametrize(
    "printed",
    [
        "CPF: 111.444.777-35\nLUCIANA MATTOS P. DE ARAUJO",
        "CONSUMIDOR\nCPF: 111.444.777-35\nLUCIANA MATTOS P. DE ARAUJO",
    ],
)
def test_the_consumer_has_a_personal_number_with_a_name_below_it(printed: str) -> None:
    receipt = brazilian_receipts.NFCE.replace("CONSUMIDOR NAO IDENTIFICADO", printed)

    details = pipeline.understand([[text_page(receipt)]]).details

    assert details.customer_name is not None
    assert details.customer_name.value == "LUCIANA MATTOS P. DE ARAUJO"
    assert details.customer_tax_id is not None
    assert details.customer_tax_id.value == "11144477735"
