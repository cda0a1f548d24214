"""Proofs of a transfer, such as a Pix: who was paid, and who paid."""

import pytest

from recibo.extract import pipeline
from tests.extract.typesetting import text_page

TABLED = """
banco serra
Comprovante de Pix
18 AGO 2026 - 09:27:16
Valor                         R$ 148,35
Descrição                     Mensalidade 08/2026

Destino
Nome                          Escola Arco do Saber Ltda
CNPJ                          04.252.011/0001-10
Instituição                   COOP. CRED. VALE

Origem
Nome                          Michele Prado Antunes
CPF                           ***.418.207-**
Instituição                   SERRA IP S.A.

SERRA Instituição de Pagamento S.A. CNPJ
33.000.167/0001-01
"""
LISTED = """
BANCO DO VALE S.A.
CNPJ 33.000.167/0001-01
Comprovante de transferência
Dados do pagador
Nome: Michele Prado Antunes
CPF: 111.444.777-35
Dados do recebedor
Nome: Escola Arco do Saber Ltda
CNPJ: 04.252.011/0001-10
Valor: R$ 148,35
Data: 18/08/2026 09:27
"""

PRINTED = """
BANCO DO VALE S.A.
Internet Banking Empresas
COMPROVANTE DE TRANSFERENCIA - TED OUTRA TITULARIDADE
Empresa:                 Michele Prado Antunes
CNPJ:                    33.000.167/0001-01
Banco favorecido:        756 - COOP CENTRAL
Favorecido:              Escola Arco do Saber Ltda
CNPJ favorecido:         04.252.011/0001-10
Valor:                   R$ 148,35
Tarifa (R$):             11,90
Data da transferencia:   02/03/2026
"""


@pytest.mark.parametrize(
    ("text", "customer_tax_id", "method"),
    [
        (TABLED, None, "pix"),
        (LISTED, "11144477735", "bank_transfer"),
        (PRINTED, "33000167000101", "bank_transfer"),
    ],
    ids=["table", "list", "printed"],
)
def test_seller_is_who_was_paid_and_not_the_bank(
    text: str, customer_tax_id: str | None, method: str
) -> None:
    receipt = pipeline.understand([[text_page(text)]])

    details = receipt.details
    found = (
        receipt.merchant_name, receipt.merchant_tax_id,
        details.customer_name, details.customer_tax_id, receipt.total,
    )  # fmt: skip
    assert [
        "Escola Arco do Saber Ltda", "04252011000110",
        "Michele Prado Antunes", customer_tax_id, "148.35",
    ] == [None if one is None else str(one.value) for one in found]  # fmt: skip
    (payment,) = (one.value for one in details.payments)
    assert (method, "148.35") == (payment.method.value, str(payment.amount))
    assert receipt.line_items == ()


def test_sentences_among_the_parties_are_left_out() -> None:
    text = TABLED.replace("Nome ", f"{'Guarde este comprovante ' * 20}\nNome ")

    receipt = pipeline.understand([[text_page(text)]])

    assert receipt.merchant_name is not None
    assert receipt.merchant_name.value == "Escola Arco do Saber Ltda"


def test_bus_ticket_with_an_origin_is_no_transfer() -> None:
    ticket = TABLED.replace("Comprovante de Pix", "Bilhete de passagem")

    receipt = pipeline.understand([[text_page(ticket)]])

    assert receipt.merchant_name is not None
    assert receipt.merchant_name.confidence < 0.9


@pytest.mark.parametrize("indent", [30, 46], ids=["left", "right"])
def test_name_that_goes_on_in_the_next_row(indent: int) -> None:
    text = TABLED.replace("do Saber Ltda", f"do Saber\n{'Ltda':>{indent + 4}}")

    receipt = pipeline.understand([[text_page(text)]])

    assert receipt.merchant_name is not None
    assert receipt.merchant_name.value == "Escola Arco do Saber Ltda"
