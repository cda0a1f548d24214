"""E-invoices inside PDFs: read exactly, compared with the page, and harmless when hostile."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from recibo.extract import pipeline
from recibo.schemas import doubts, receipts
from tests import make_einvoice
from tests.make_einvoice import FACTUR_X, PAGE, UBL, ZUGFERD1

READING = {
    "type": "invoice",
    "merchant_name": "Papierhaus Nord GmbH",
    "merchant_tax_id": "DE136695976",
    "issued_at": "2026-03-09T00:00:00+01:00",
    "total": "128.49",
    "subtotal": "111.00",
    "tax": "17.49",
    "currency": "EUR",
    "document_number": "R-2026/0117",
    "document_key": None,
    "merchant_address": "Speicherweg 4, 20095 Hamburg, DE",
    "customer_name": "Kanzlei Weber & Partner",
    "customer_tax_id": "ATU12345675",
    "due_date": "2026-04-08",
    "discount": "5.00",
    "tip": None,
    "service_charge": None,
    "rounding": None,
}
ITEMS = [
    {
        "name": "Kopierpapier A4 80 g",
        "qty": "20",
        "unit_price": "4.50",
        "total": "86.00",
        "code": "KP-80",
        "unit": "H87",
        "tax_rate": "19",
        "discount": "5.00",
    },
    {
        "name": "Fachbuch Steuerrecht",
        "qty": "1",
        "unit_price": "30.00",
        "total": "30.00",
        "code": None,
        "unit": "C62",
        "tax_rate": "7",
        "discount": None,
    },
]
TAXES = [
    {"name": "VAT", "rate": "19", "base": "81.00", "amount": "15.39", "informational": False},
    {"name": "VAT", "rate": "7", "base": "30.00", "amount": "2.10", "informational": False},
]


def pdf(*files: tuple[str, bytes], lines: Sequence[str] = PAGE) -> bytes:
    """Return a PDF of the invoice with embedded files."""
    return make_einvoice.pdf(*files, lines=lines)


def read(data: bytes) -> dict[str, Any]:
    """Return the reading of a file as the API shows it."""
    return receipts.reading(pipeline.extract(data)).model_dump(mode="json")


def sources(data: bytes) -> dict[str, str | None]:
    """Return where each field of a file was read."""
    evidence = receipts.evidence(pipeline.extract(data)).model_dump(mode="json")
    return {
        name: found["source"] if found else None
        for name, found in evidence.items()
        if not isinstance(found, list)
    }


@cache
def of_the_page_alone() -> dict[str, Any]:
    """Return the reading of the page without a file."""
    return read(pdf())


@pytest.mark.parametrize(
    ("name", "xml"),
    [
        ("factur-x.xml", FACTUR_X),
        ("ZUGFeRD-invoice.xml", ZUGFERD1),
        ("xrechnung.xml", UBL),
        ("any.xml", FACTUR_X),
        ("factur-x.xml", b"\xef\xbb\xbf" + FACTUR_X),
        ("factur-x.xml", FACTUR_X.decode().replace("UTF-8", "UTF-16").encode("utf-16")),
    ],
)
def test_every_field_is_that_of_the_invoice(name: str, xml: bytes) -> None:
    reading = read(pdf((name, xml)))

    assert READING == {field: reading[field] for field in READING}
    assert ITEMS == reading["line_items"]
    assert TAXES == reading["taxes"]


def test_page_that_shows_nothing_does_not_matter() -> None:
    reading = read(pdf(("factur-x.xml", FACTUR_X), lines=["See the attachment."]))

    assert READING == {field: reading[field] for field in READING}


def test_credit_note_of_ubl_is_read() -> None:
    xml = UBL.replace(b"Invoice-2", b"CreditNote-2").replace(b"InvoicedQ", b"CreditedQ")
    xml = xml.replace(b"<Invoice ", b"<CreditNote ").replace(b"</Invoice>", b"</CreditNote>")
    xml = xml.replace(b"InvoiceLine", b"CreditNoteLine")

    assert ITEMS == read(pdf(("xrechnung.xml", xml)))["line_items"]


def test_evidence_says_what_is_embedded_and_where_the_page_shows_it() -> None:
    data = pdf(("factur-x.xml", FACTUR_X))
    evidence = receipts.evidence(pipeline.extract(data))

    assert evidence.total is not None
    assert evidence.total.source == "embedded"
    assert evidence.total.box is not None
    assert "128,49" in evidence.total.text
    assert ["embedded"] * 2 == [item.source for item in evidence.line_items]
    assert ["embedded"] * 2 == [tax.source for tax in evidence.taxes]
    assert {"page"} == set(sources(pdf()).values()) - {None}


def test_missing_and_invalid_values_come_from_the_page() -> None:
    xml = FACTUR_X.replace(b">128.49<", b">128,49 Euro<").replace(b"20260309", b"20260231")
    xml = xml.replace(b"R-2026/0117", b" ").replace(b">EUR<", b">Euro<")
    data = pdf(("factur-x.xml", xml))
    reading = read(data)

    fields = ("total", "issued_at", "document_number", "currency")
    assert [of_the_page_alone()[name] for name in fields] == [reading[name] for name in fields]
    assert ["page"] * 4 == [sources(data)[name] for name in fields]
    assert "17.49" == reading["tax"]


def test_what_page_and_invoice_disagree_on_goes_to_review() -> None:
    xml = FACTUR_X.replace(b">128.49<", b">28.49<").replace(b"20260309", b"20250309")
    receipt = pipeline.extract(pdf(("factur-x.xml", xml)))
    reading, evidence = receipts.reading(receipt), receipts.evidence(receipt)

    found = doubts.find(reading, evidence, ())
    assert {"issued_at", "total"} == {one.field for one in found if one.code == "embedded_differs"}
    assert "28.49" == reading.total
    assert evidence.total is not None
    assert ["128.49"] == [other.value for other in evidence.total.alternatives]
    left = doubts.find(reading, evidence, ("total",))
    assert ["issued_at"] == [one.field for one in left if one.code == "embedded_differs"]


def test_amounts_in_lists_that_differ_go_to_review() -> None:
    """Items are compared in their order, taxes at the same rate."""
    lines = [
        *PAGE[:5],
        "Kopierpapier A4 80 g  20 x 4,50   90,00",
        "Fachbuch Steuerrecht   1 x 30,00  30,00",
        "Nettobetrag  120,00 EUR",
        "MwSt 19% auf 90,00  17,10 EUR",
        "MwSt 7% auf 30,00  2,10 EUR",
        "Gesamtbetrag  139,20 EUR",
    ]
    receipt = pipeline.extract(pdf(("factur-x.xml", FACTUR_X), lines=lines))
    reading, evidence = receipts.reading(receipt), receipts.evidence(receipt)

    found = doubts.find(reading, evidence, ())
    differing = {one.field for one in found if one.code == "embedded_differs"}
    assert {"line_items", "taxes"} <= differing
    assert ["86.00", "30.00"] == [item.total for item in reading.line_items]
    assert ["90.00"] == [one.value for one in evidence.line_items[0].alternatives]
    assert ["17.10"] == [one.value for one in evidence.taxes[0].alternatives]
    assert () == evidence.line_items[1].alternatives == evidence.taxes[1].alternatives


def test_what_is_printed_elsewhere_on_the_page_is_no_disagreement() -> None:
    receipt = pipeline.extract(pdf(("factur-x.xml", FACTUR_X)))
    found = doubts.find(receipts.reading(receipt), receipts.evidence(receipt), ())

    assert [] == [one for one in found if one.code == "embedded_differs"]


# Each entity is ten times the one before it.
ENTITIES = b"".join(b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10) for n in range(1, 10))
BOMB = FACTUR_X.replace(
    b"?>", b'?><!DOCTYPE x [<!ENTITY e0 "aaaaaaaaaa">' + ENTITIES + b"]>", 1
).replace(b"Papierhaus Nord GmbH", b"&e9;")
EXTERNAL = FACTUR_X.replace(
    b"?>", b'?><!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>', 1
).replace(b"Papierhaus Nord GmbH", b"&secret;")
HOSTILE = {
    "entities": BOMB,
    "a file": EXTERNAL,
    "a wrong namespace": FACTUR_X.replace(b"CrossIndustryInvoice:100", b"CrossIndustryInvoice:99"),
    "no namespaces": UBL.replace(b"xmlns", b"data"),
    "100 MB": FACTUR_X.replace(b"</rsm:ExchangedDocument>", b" " * 100_000_000, 1),
    "many elements": FACTUR_X.replace(b"<ram:ApplicableHeaderTradeDelivery/>", b"<a/>" * 300_000),
    "depth": FACTUR_X.replace(
        b"<ram:ApplicableHeaderTradeDelivery/>", b"<a>" * 5_000 + b"</a>" * 5_000
    ),
    "half a file": FACTUR_X[:3_000],
    "an unknown encoding": FACTUR_X.replace(b"UTF-8", b"UTF-8-NO-BOM", 1),
    "nothing": b" ",
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(200),
}


@pytest.mark.parametrize("xml", HOSTILE.values(), ids=HOSTILE)
def test_hostile_attachment_leaves_the_page(xml: bytes) -> None:
    assert read(pdf(("factur-x.xml", xml))) == of_the_page_alone()


def test_hostile_attachment_does_not_hide_the_invoice() -> None:
    files = [("factur-x.xml", BOMB), ("picture.png", b"x"), ("invoice.xml", FACTUR_X)]

    assert "KP-80" == read(pdf(*files))["line_items"][0]["code"]


def test_element_of_another_namespace_is_not_taken_for_one_of_the_standard() -> None:
    xml = FACTUR_X.replace(
        b"<ram:GrandTotalAmount>",
        b'<x:GrandTotalAmount xmlns:x="urn:other">1.00</x:GrandTotalAmount><ram:GrandTotalAmount>',
    )

    assert "128.49" == read(pdf(("factur-x.xml", xml)))["total"]
