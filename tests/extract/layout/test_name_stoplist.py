"""Text that is not a name is not taken for the seller's."""

import pytest

from recibo.extract.brazil import fiscal
from recibo.extract.fields.merchant import merchants
from tests.extract.fields.foreign_receipts import rows_of
from tests.extract.typesetting import text_page

REST = "14/03/2025\nTotal 5.00"
# A value with a lower confidence is left out of the receipt.
LEAST = 0.25
LABELS = [
    "Thank you for shopping",
    "Vielen Dank für Ihren Einkauf",
    "Merci de votre visite",
    "Kundenbeleg\nKartenzahlung",
    "Código Descrição Qtde UN Vl Unit Vl Total",
    "Descripción Cantidad Precio Importe",
    "Bezeichnung Menge Preis",
    "CHAVE DE ACESSO",
    "EXTRATO No. 000777",
    "Account Statement",
    "Order confirmation #WS-20447",
    "WELCOME TO",
    "CNPJ: 11.222.333/0001-81 IE: 0123456789",
]
SALUTATIONS = [
    "Dear Mrs Thompson",
    "Dear John,",
    "Sehr geehrte Damen und Herren",
    "Estimado Sr. Pérez",
    "Chère Madame",
    "Gentile Signora Rossi",
    "Geachte heer De Vries",
    "Prezado cliente",
]


def likely(text: str) -> list[str]:
    """Return the names on a page that are likely enough to be reported."""
    return [name.value for name in merchants(rows_of(text)) if name.confidence > LEAST]


@pytest.mark.parametrize("head", LABELS)
def test_labels_are_not_a_name(head: str) -> None:
    assert likely(f"{head}\n{REST}") == []


@pytest.mark.parametrize("head", SALUTATIONS)
def test_the_recipient_of_a_letter_is_not_the_seller(head: str) -> None:
    assert likely(f"{head}\n{REST}") == []


@pytest.mark.parametrize(
    "head",
    [
        "Bill to: ACME PLC",
        "To: ACME PLC",
        "Kunde: Acme GmbH",
        "Facturar a: ACME SL",
        "INVOICE\nBill to:\nACME PLC\n1 Main Street",
        "Spett.le\nRossi Srl",
    ],
)
def test_the_buyer_is_not_the_seller(head: str) -> None:
    assert likely(f"{head}\n{REST}") == []


@pytest.mark.parametrize(
    "sign",
    ["DEAR CAFE", "Beste Pizza", "TOTAL SERVICE", "DANKE BAKERY", "CHER AMI", "CLIENT FIRST LTD"],
)
def test_a_shop_may_have_such_words_in_its_name(sign: str) -> None:
    assert likely(f"{sign}\n12 High Street\n{REST}")[:1] == [sign]


@pytest.mark.parametrize("shop", ["", "MERCADO AURORA LTDA\n"])
def test_headings_and_items_are_not_the_issuer_of_a_receipt(shop: str) -> None:
    header = fiscal.read(
        [
            text_page(
                f"{shop}CNPJ: 11.222.333/0001-81\n"
                "Documento Auxiliar da Nota Fiscal de Consumidor Eletrônica\n"
                "Código Descrição Qtde UN Vl Unit Vl Total\n"
                "789100001 ARROZ TIPO 1 5KG 2 UN 25,90 51,80\n"
                "Valor a Pagar R$ 51,80"
            )
        ]
    )

    assert header is not None
    name = header.merchant_name
    assert (name.value if name else None) == (shop.strip() or None)
