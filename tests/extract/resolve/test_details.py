"""The amounts of bookkeeping on receipts of several countries."""

from decimal import Decimal
from typing import Any

import pytest

from recibo.extract import pipeline
from recibo.extract.model import Details, Extracted, Payment, PaymentMethod, TaxLine
from tests.extract.fields import literals
from tests.extract.typesetting import text_page

RECEIPTS = literals.raw("bookkeeping")


def details_of(printed: str, *, exact: bool = False) -> Details:
    return pipeline.understand([[text_page(printed, exact=exact)]]).details


def tax(line: TaxLine) -> str:
    parts = " ".join(
        "-" if one is None else str(one) for one in (line.rate, line.base, line.amount)
    )
    return parts + "!" * line.is_informational


def payment(one: Payment) -> str:
    parts = (one.method.value, one.amount, one.tendered, one.last4)
    return " ".join("-" if part is None else str(part) for part in parts)


def text(found: Extracted[Any] | None) -> str | None:
    return None if found is None else str(found.value)


@pytest.mark.parametrize("name", RECEIPTS)
@pytest.mark.parametrize("exact", [True, False], ids=["text layer", "OCR"])
def test_the_amounts_of_a_receipt_are_read(name: str, *, exact: bool) -> None:
    truth = RECEIPTS[name]

    read = details_of(truth["text"], exact=exact)

    assert [tax(one.value) for one in read.taxes] == truth.get("taxes", [])
    assert [payment(one.value) for one in read.payments] == truth.get("payments", [])
    others = (read.discount, read.tip, read.service_charge, read.rounding)
    fields = ("discount", "tip", "service_charge", "rounding")
    assert [text(one) for one in others] == [truth.get(field) for field in fields]


def test_each_tax_and_payment_has_its_evidence() -> None:
    read = details_of(RECEIPTS["german_supermarket"]["text"])

    assert [one.text.split()[0] for one in read.taxes] == ["A=", "B="]
    assert all(one.box and one.page == 1 and 0.5 < one.confidence <= 1 for one in read.taxes)
    assert read.payments[0].text.startswith("Geg. BAR")
    assert read.payments[0].box


def test_a_tax_is_named_as_printed() -> None:
    read = details_of(RECEIPTS["indian_invoice"]["text"])

    assert [one.value.name for one in read.taxes] == ["CGST", "SGST"]


def test_suggested_tips_are_not_paid() -> None:
    printed = RECEIPTS["american_restaurant"]["text"].replace(
        "Tip                                 9.00\nTotal                             $56.63",
        "Total                             $47.63\nSuggested tips\n18% 7.92\n20% 8.80",
    )

    assert details_of(printed).tip is None


def test_the_last_digits_of_a_terminal_are_not_those_of_a_card() -> None:
    printed = "CORNER SHOP\nTea 8.11\nTOTAL 8.11\nCARD 8.11\nTID:****1404\nVISA ************8594\n"

    assert [one.value.last4 for one in details_of(printed).payments] == ["8594"]


def test_a_document_without_payments_has_none() -> None:
    printed = "CORNER SHOP LTD\nInvoice No 118\nTea 8.11\nTOTAL 8.11\nWe accept Visa and PayPal\n"

    assert details_of(printed).payments == ()


def test_a_card_is_of_no_kind_unless_one_is_printed() -> None:
    printed = "CORNER SHOP\nTea 8.11\nTOTAL 8.11\nMastercard 8.11\n"

    assert [one.value.method for one in details_of(printed).payments] == [PaymentMethod.CARD]


def test_an_item_entered_by_mistake_is_no_discount() -> None:
    receipt = """
KIOSK NORDSTRAND
ORG.NR. 974 760 673
12.03.2024 14:05
Kaffe               30,00
Brød                25,00
{}            -25,00
Ost                 60,00
SUM                 90,00
KONTANT            100,00
TILBAKE             10,00
"""
    assert details_of(receipt.format("KORR. Brød")).discount is None
    assert text(details_of(receipt.format("RABATT    ")).discount) == "25.00"


TWO_CARDS = """
CORNER SHOP
12.03.2024 14:05
Tea                   8.11
Coffee beans         16.50
TOTAL                24.61
VISA ****5518        {}
MASTERCARD {} 9.61
"""


@pytest.mark.parametrize("exact", [True, False], ids=["text layer", "OCR"])
@pytest.mark.parametrize(
    ("digits", "last4"), [("****3131", ["5518", "3131"]), ("        ", ["5518", None])]
)
def test_each_of_two_cards_has_its_amount_and_digits(
    digits: str, last4: list[str | None], *, exact: bool
) -> None:
    read = details_of(TWO_CARDS.format("15.00", digits), exact=exact).payments

    assert [str(one.value.amount) for one in read] == ["15.00", "9.61"]
    assert [one.value.last4 for one in read] == last4


def test_a_card_without_digits_above_one_with_digits_has_none() -> None:
    printed = TWO_CARDS.format("15.00", "****3131").replace("****5518", "        ")

    assert [one.value.last4 for one in details_of(printed).payments] == [None, "3131"]


def test_card_digits_are_no_amount_where_amounts_have_no_decimals() -> None:
    printed = """
BAR EL PUERTO
24-07-2025 12:12
Croquetas            9.904
Cafe                 5.600
TOTAL              $15.504
AMEX ************4308
"""
    [read] = details_of(printed).payments
    assert (Decimal(15504), "4308") == (read.value.amount, read.value.last4)


def test_a_tip_that_is_suggested_after_the_payment_is_not_paid() -> None:
    printed = """
RESTAURANTE EL PUERTO
Paella               22,00
TOTAL                22,00
EFECTIVO             22,00
CAMBIO                0,00
Propina               2,20
Total                24,20
"""
    assert "22.00" == text(pipeline.understand([[text_page(printed)]]).total)


@pytest.mark.parametrize("words", ["TICKET RESTAURANT", "BON D'ACHAT"])
def test_a_voucher_with_its_amount_below_is_a_payment(words: str) -> None:
    printed = f"LECLERC\nPain 24,50\nTOTAL 24,50\n{words}\n19,00\nCB\n5,50\nMERCI\n"

    read = [one.value for one in details_of(printed).payments]
    assert [("voucher", "19.00"), ("card", "5.50")] == [
        (one.method.value, str(one.amount)) for one in read
    ]


def test_an_amount_with_a_few_stars_is_no_masked_card() -> None:
    read = pipeline.understand([[text_page("SHOP\nFOOD 1500\nTOTAL ****1500 YEN\n")]])

    assert "1500" == text(read.total)


SLIP = """
TRATTORIA LAURO
01.05.2021 21:14
Tagliata             25.94
Pizza                 9.03
TOTALE EURO          34.97
AMEX ************9624
Cod. aut. 568955
Totale               34.97
Mancia                {}
{}
"""


@pytest.mark.parametrize(
    ("tip", "last", "total"),
    [
        ("5.00", "Importo totale       39.97", "39.97"),
        ("....", "Importo totale       .....", "34.97"),
        ("5.00", "CONTANTI             39.97", "34.97"),
    ],
    ids=["printed", "blank", "cash that happens to be the sum"],
)
def test_total_of_a_slip_includes_the_tip_if_printed(tip: str, last: str, total: str) -> None:
    read = pipeline.understand([[text_page(SLIP.format(tip, last))]])

    assert text(read.total) == total


def test_number_of_a_receipt_is_no_voucher() -> None:
    printed = "CAFE LINDE\nBon-Nr.: 68992\nKaffee 8,11\nSUMME EUR 8,11\nAMEX 8,11\n"

    assert [one.value.method for one in details_of(printed).payments] == [PaymentMethod.CARD]


@pytest.mark.parametrize(
    "sums",
    [
        "SUBTOTAL         19.00\nTOTAL            19.00",
        "SUBTOTAL         19.00\nDISCOUNT         -2.00\nTOTAL            17.00",
        "SUBTOTAL         19.00\nVAT 20%           3.80\nTOTAL            22.80",
    ],
)
def test_items_that_do_not_add_up_are_less_sure(sums: str) -> None:
    receipt = f"""
CORNER BAKERY
12 High Street
03/05/2026 10:15
PIZZA            10.00
BEER              5.00
CAKE              {{}}
{sums}
"""

    right, wrong = (
        pipeline.understand([[text_page(receipt.format(amount), exact=True)]]).line_items
        for amount in ("4.00", "7.10")
    )

    assert len(right) == len(wrong) == 3
    assert all(one.confidence > other.confidence for one, other in zip(right, wrong, strict=True))
