from decimal import Decimal

import pytest

from recibo.extract import pipeline
from recibo.extract.fields.labelled_amounts import entries
from recibo.extract.fields.payments import payment_candidates
from recibo.extract.model import PaymentMethod
from tests.extract.fields.foreign_receipts import rows_of
from tests.extract.typesetting import text_page


def methods(text: str) -> list[PaymentMethod]:
    """Return the methods in the last row."""
    rows = rows_of(text)
    found = payment_candidates(rows, entries(rows))
    return [one.found.value.method for one in found if one.row == rows[-1].index]


def test_the_credit_in_a_table_of_taxes_is_no_payment() -> None:
    table = """
Deduções (R$)   Base de Cálculo (R$)   Alíquota (%)   Valor do ISS (R$)   Crédito (R$)
0,00            12.327,12              5,00%          616,36              0,00
"""
    assert methods(table) == []


def test_a_method_with_an_amount_of_zero_is_no_payment() -> None:
    assert methods("Credit card            0.00") == []
    assert methods("Credit card            4.11") == [PaymentMethod.CREDIT_CARD]


@pytest.mark.parametrize(
    "row",
    [
        "Le règlement par chèque n'est plus accepté.",
        "We accept Visa and Mastercard",
        "Cash Inv No.: 4711F717",
        "Prix Nets - Service Compris",
        "Credit Total            176.90",
        "PIX: 20.916.554/0001-40",
        "Chave Pix: contato@casa.example",
    ],
)
def test_a_row_about_the_methods_of_a_shop_is_no_payment(row: str) -> None:
    assert methods(row) == []


def test_an_amount_that_was_accepted_is_a_payment() -> None:
    assert methods("Visa accepted here       24.90") == [PaymentMethod.CARD]


def test_a_tax_right_of_a_note_on_a_card_is_not_what_was_paid_with_it() -> None:
    rows = rows_of("Mastercard ending 4417        VAT 25%  65.25")

    [found] = payment_candidates(rows, entries(rows))

    assert (found.found.value.amount, found.found.value.last4) == (None, "4417")


@pytest.mark.parametrize(
    ("row", "method"),
    [
        ("DISCV TEND             66.60", PaymentMethod.CARD),
        ("TICKET RESTO CARTE     25,00", PaymentMethod.VOUCHER),
    ],
)
def test_an_abbreviation_names_a_method(row: str, method: PaymentMethod) -> None:
    assert methods(row) == [method]


def test_a_row_with_many_methods_and_no_amount_is_an_offer() -> None:
    assert methods("Pix Cartoes VR/Alelo") == []
    assert methods("Pix") == [PaymentMethod.PIX]


def test_the_day_of_a_payment_is_not_its_amount() -> None:
    rows = rows_of("Celkem 5 250 Kč\nUhrazeno platební kartou 15. 2. 2026")
    found = payment_candidates(rows, entries(rows))

    assert [one.found.value.amount for one in found] == [None]


@pytest.mark.parametrize(
    ("row", "amount", "digits"),
    [
        (
            "17 - Pagamento (PIX)      295,92      Frete por conta do remetente - 2,140 kg",
            "295.92",
            None,
        ),
        ("Forma de pago: 03 Transferencia electrónica      Descuento      $150.00", None, None),
        ("Paid by card …2063      84.54", "84.54", "2063"),
    ],
    ids=["transport", "discount", "ellipsis"],
)
def test_other_columns_and_signs_are_no_part_of_a_payment(
    row: str, amount: str | None, digits: str | None
) -> None:
    rows = rows_of(f"{row}")
    (found,) = (one.found.value for one in payment_candidates(rows, entries(rows)))

    assert (amount and Decimal(amount), digits) == (found.amount, found.last4)


def test_two_kinds_of_cards_are_two_payments() -> None:
    printed = """
CHURRASCARIA BRASA LTDA
Valor Total R$           441,50
Forma de Pagamento   Valor Pago
Cartao de Credito        300,00
Cartao de Debito         141,50
"""
    payments = pipeline.understand([[text_page(printed)]]).details.payments

    assert [(one.value.method, one.value.amount) for one in payments] == [
        (PaymentMethod.CREDIT_CARD, Decimal(300)),
        (PaymentMethod.DEBIT_CARD, Decimal("141.50")),
    ]


def test_one_sign_before_four_digits_is_the_rest_of_a_mask() -> None:
    printed = "VAIVEM\nTotal              34,62\nVisa *2284          34,62\n"
    (payment,) = pipeline.understand([[text_page(printed)]]).details.payments

    assert payment.value.last4 == "2284"
