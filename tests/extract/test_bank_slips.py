"""Bank slips (boletos): the payee is below the bank, and the payer near a small label."""

import pytest

from recibo.extract import pipeline
from tests.extract.typesetting import HEIGHT, cnpj, raised, text_page

PAYEE = cnpj("172250380001")
SLIP = f"""
Banco Fictus        | 999-0 |              Recibo do Pagador
Local de pagamento                             Vencimento
PAGÁVEL EM QUALQUER BANCO ATÉ O VENCIMENTO     20/10/2025
Beneficiário                                   Agência/Código Beneficiário
CONDOMÍNIO SOLAR DAS DUNAS CNPJ: {PAYEE}   3310 / 0044117-2
Data do documento   Nº do documento   Espécie doc.   Nosso Número
01/10/2025          2025/10-0702      DM             18842760-5
                                               (=) Valor do documento
                                               924,80
Pagador
           LEONOR DUTRA VASCO - CPF: 618.004.271-31
           AV. BEIRA-LAGOA, 1500 AP 702 - 88010-400 - ILHA MANSA/SC
"""


@pytest.mark.parametrize("pixels", [0.0, HEIGHT])
def test_payee_and_payer_of_a_bank_slip(pixels: float) -> None:
    receipt = pipeline.understand([[raised(text_page(SLIP), "LEONOR", pixels)]])

    assert receipt.merchant_name is not None
    assert receipt.merchant_name.value == "CONDOMÍNIO SOLAR DAS DUNAS"
    assert receipt.details.customer_name is not None
    assert receipt.details.customer_name.value == "LEONOR DUTRA VASCO"
