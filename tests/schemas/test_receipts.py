"""Readings as the wire holds them."""

import datetime as dt
import json
from decimal import Decimal

from recibo.extract.model import Box, Category, DocumentType, Extracted, LineItem, Moment, Receipt
from recibo.schemas import receipts

BARE = Receipt(type=Extracted(DocumentType.RECEIPT, 0.5, ""))

FULL = Receipt(
    type=Extracted(DocumentType.NFCE, 1.0, "NFC-e"),
    merchant_name=Extracted("PADARIA AURORA LTDA", 0.98, "PADARIA AURORA LTDA"),
    merchant_tax_id=Extracted("11222333000181", 0.99, "CNPJ: 11.222.333/0001-81"),
    issued_at=Extracted(
        Moment(dt.date(2026, 3, 14), dt.time(8, 17, 42), dt.timedelta(hours=-3)), 0.9, "14/03/2026"
    ),
    total=Extracted(Decimal("42.6"), 0.97123456, "TOTAL R$ 42,6", 2, Box(10.4, 20.5, 99.6, 40)),
    subtotal=Extracted(Decimal(40), 0.9, "40"),
    tax=Extracted(Decimal("2.60"), 0.9, "2,60"),
    currency=Extracted("BRL", 0.9, "R$"),
    document_number=Extracted("12345", 0.9, "12345"),
    document_key=Extracted("35" * 22, 1.0, "35" * 22),
    line_items=(
        Extracted(
            LineItem("PÃO FRANCÊS", Decimal("0.535"), Decimal("18.9"), Decimal("10.1")), 0.8, "PAO"
        ),
        Extracted(LineItem("CAFÉ"), 0.3, "CAFE"),
    ),
    category=Category.GROCERIES,
    confidence=0.96,
    texts=("one", "two"),
)

FIELDS = (
    "type",
    "merchant_name",
    "merchant_tax_id",
    "issued_at",
    "total",
    "subtotal",
    "tax",
    "currency",
    "document_number",
    "document_key",
    "line_items",
    "merchant_address",
    "customer_name",
    "customer_tax_id",
    "due_date",
    "discount",
    "tip",
    "service_charge",
    "rounding",
    "taxes",
    "payments",
    "confidence",
    "category",
)


def test_every_field_is_present_in_the_order_of_the_specification() -> None:
    assert tuple(receipts.reading(BARE).model_dump()) == FIELDS


def test_what_is_not_on_the_page_is_null_and_no_items_are_an_empty_list() -> None:
    wire = json.loads(receipts.reading(BARE).model_dump_json())

    assert wire["type"] == "receipt"
    lists = {"line_items", "taxes", "payments"}
    assert [[]] * 3 == [wire[field] for field in lists]
    known = {"type", *lists, "confidence"}
    assert {wire[field] for field in FIELDS if field not in known} == {None}


def test_amounts_are_strings_with_the_minor_digits_of_the_currency() -> None:
    wire = receipts.reading(FULL)

    assert (wire.total, wire.subtotal, wire.tax) == ("42.60", "40.00", "2.60")
    assert wire.line_items[0].total == "10.10"


def test_quantity_and_unit_price_keep_the_printed_digits() -> None:
    item = receipts.reading(FULL).line_items[0]

    assert (item.qty, item.unit_price) == ("0.535", "18.9")


def test_what_an_item_does_not_print_is_null() -> None:
    item = receipts.reading(FULL).line_items[1]

    assert (item.qty, item.unit_price, item.total) == (None, None, None)


def test_time_of_issue_carries_its_offset() -> None:
    assert receipts.reading(FULL).issued_at == "2026-03-14T08:17:42-03:00"


def test_evidence_names_page_box_text_and_confidence() -> None:
    found = receipts.evidence(FULL).total

    assert found is not None
    assert found.model_dump() == {
        "confidence": 0.9712,
        "page": 2,
        "box": (10, 20, 100, 40),
        "text": "TOTAL R$ 42,6",
        "source": "page",
        "alternatives": (),
    }


def test_evidence_of_an_absent_field_is_null_and_of_items_a_list_in_their_order() -> None:
    assert receipts.evidence(BARE).total is None
    assert [item.text for item in receipts.evidence(FULL).line_items] == ["PAO", "CAFE"]


def test_evidence_covers_the_fields_of_a_reading() -> None:
    covered = set(receipts.Evidence.model_fields) - {"quality"} | {"confidence", "category"}

    assert covered == set(receipts.Reading.model_fields)


def test_control_characters_and_lone_surrogates_of_a_text_layer_do_not_go_out() -> None:
    dirty = "CA\x00F\ud83dÉ\x7f"
    receipt = Receipt(
        type=BARE.type,
        merchant_name=Extracted(dirty, 0.5, dirty),
        line_items=(Extracted(LineItem(dirty), 0.5, dirty),),
        texts=(dirty + "\n\t!",),
    )

    assert receipts.reading(receipt).merchant_name == "CAFÉ"
    assert receipts.reading(receipt).line_items[0].name == "CAFÉ"
    assert receipts.evidence(receipt).line_items[0].text == "CAFÉ"
    assert receipts.page_texts(receipt) == ("CAFÉ\n\t!",)


def test_name_of_control_characters_alone_is_null() -> None:
    receipt = Receipt(type=BARE.type, merchant_name=Extracted("\x00\x01", 0.5, ""))

    assert receipts.reading(receipt).merchant_name is None


def test_confidence_stays_between_0_and_1() -> None:
    receipt = Receipt(type=Extracted(DocumentType.RECEIPT, -0.2, ""), confidence=1.0000001)

    assert receipts.reading(receipt).confidence == 1
    assert receipts.evidence(receipt).type.confidence == 0
