"""The amounts of bookkeeping on receipts of several countries."""

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
