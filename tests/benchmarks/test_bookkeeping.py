"""Scores of the bookkeeping fields, from readings of an invented document."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import bookkeeping, bookkeeping_truth
from benchmarks.bookkeeping_truth import Truth, hashed
from tests.training import scored
from training import documents
from training.documents import Document

ADDRESS = "Lindenweg 12, 1020 Wien"
TAX = {"rate": "20", "base": "10.00", "amount": "2.00", "informational": False}
CARD = {"method": "card", "amount": "12.00", "tendered": None, "last4": "4242"}


@pytest.fixture
def document(tmp_path: Path) -> Document:
    found = documents.load(scored.folder(tmp_path))
    return next(one for one in found if one.key == "documents/receipt:pdf")


def entry(**changes: object) -> dict[str, Any]:
    """Return an entry of the file of truths, with some other values."""
    nothing = dict.fromkeys(bookkeeping_truth.FIELDS)
    return {
        **nothing,
        "id": "documents/receipt",
        "merchant_address": hashed(ADDRESS),
        "due_date": "2026-03-01",
        "taxes": [TAX],
        "payments": [],
        **changes,
    }


def outcomes(document: Document, truth: Truth, reading: Mapping[str, Any]) -> dict[str, str]:
    marks = bookkeeping.judge(document, truth, reading)
    return {mark.field: mark.outcome for mark in marks}


def test_values_are_right_wrong_missing_invented_or_absent(document: Document) -> None:
    truth = bookkeeping_truth.of_entry(entry(customer_name=hashed("Eva Lind"), tip="1.50"))
    reading = {"merchant_address": ADDRESS, "customer_name": "Eva", "discount": "2.00"}

    found = outcomes(document, truth, reading)

    assert found["merchant_address"] == bookkeeping.RIGHT
    assert found["customer_name"] == bookkeeping.WRONG
    assert found["tip"] == bookkeeping.MISSING
    assert found["discount"] == bookkeeping.INVENTED
    assert found["rounding"] == bookkeeping.ABSENT


@pytest.mark.parametrize(
    ("read", "is_right"),
    [
        ("LINDENWEG 12, 1020 WIEN", True),
        ("1020 Wien, Lindenweg 12", True),
        ("Lindenweg 12 1020 Wien", True),
        ("Lindenweg 12", False),
        ("Lindenweg 21, 1020 Wien", False),
    ],
)
def test_addresses_are_compared_without_order_and_signs(read: str, *, is_right: bool) -> None:
    truth = bookkeeping_truth.of_entry(entry())

    assert is_right == truth.is_right("merchant_address", read)


def test_accents_do_not_count() -> None:
    assert hashed("ul. Długa 3, Łódź") == hashed("UL. DLUGA 3 LODZ")


def test_one_of_several_right_values_is_enough() -> None:
    truth = bookkeeping_truth.of_entry(entry(due_date=["2026-03-01", None]))

    assert truth.is_right("due_date", None)
    assert truth.is_right("due_date", "2026-03-01")
    assert not truth.is_right("due_date", "2026-03-02")


def test_fields_without_an_entry_are_not_scored(document: Document) -> None:
    known = entry()
    del known["tip"]

    found = outcomes(document, bookkeeping_truth.of_entry(known), {"tip": "1.00"})

    assert "tip" not in found


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ([TAX], ["right"]),
        ([{**TAX, "base": "10"}], ["right"]),
        ([{**TAX, "base": None}], ["wrong"]),
        ([], ["missing"]),
        ([{**TAX, "rate": "10"}, TAX], ["right", "wrong"]),
    ],
)
def test_entries_of_a_list_are_matched(
    document: Document, read: list[dict[str, Any]], expected: list[str]
) -> None:
    truth = bookkeeping_truth.of_entry(entry())
    marks = bookkeeping.judge(document, truth, {"taxes": read, "payments": []})

    assert expected == [mark.outcome for mark in marks if mark.field == "taxes"]


def test_an_entry_on_a_document_without_any_is_invented(document: Document) -> None:
    found = outcomes(document, bookkeeping_truth.of_entry(entry()), {"payments": [CARD]})

    assert found["payments"] == bookkeeping.INVENTED


def test_details_of_items_are_scored_by_item(document: Document) -> None:
    names = [item["name"] for item in document.truth["line_items"]]
    details = [[hashed("1001"), "kg", "?", None], *[[None] * 4 for _ in names[1:]]]
    read = [{"name": name, "total": None, "code": "1001", "tax_rate": "7"} for name in names]
    truth = bookkeeping_truth.of_entry(entry(items=details))
    reading = {"line_items": [{"unit": None, "discount": None, **one} for one in read]}
    marks = list(bookkeeping.judge(document, truth, reading))

    codes = [mark.outcome for mark in marks if mark.field == "items.code"]
    assert [bookkeeping.RIGHT, *[bookkeeping.INVENTED] * (len(names) - 1)] == codes
    units = [mark.outcome for mark in marks if mark.field == "items.unit"]
    assert [bookkeeping.MISSING, *[bookkeeping.ABSENT] * (len(names) - 1)] == units
    # Of the first item it is not known.
    assert len(names) - 1 == sum(mark.field == "items.tax_rate" for mark in marks)


def test_shares_are_of_what_is_printed_and_of_what_is_not(document: Document) -> None:
    truth = bookkeeping_truth.of_entry(entry())
    reading = {"merchant_address": ADDRESS, "tip": "1.00"}
    figures = bookkeeping.counts(list(bookkeeping.judge(document, truth, reading)))

    assert bookkeeping.share_right(figures["merchant_address"]) == 100
    assert bookkeeping.share_right(figures["due_date"]) == 0
    assert bookkeeping.share_invented(figures["tip"]) == 100


def test_documents_with_a_truth_are_read(document: Document) -> None:
    truth = bookkeeping_truth.of_entry(entry())

    marks = bookkeeping.measure([document], {"documents/receipt": truth})
    others = bookkeeping.measure([document], {"documents/other": truth})

    assert {document.key} == {mark.document.key for mark in marks}
    assert not others


def test_file_of_truths_has_no_text_of_a_document() -> None:
    """Names, addresses, tax numbers and codes are hashes."""
    for line in bookkeeping_truth.FILE.read_text("utf-8").splitlines():
        known = json.loads(line)
        values = [known.get(field) for field in bookkeeping_truth.HASHED]
        values += [item[0] for item in known.get("items", ())]
        listed = [
            one for value in values for one in (value if isinstance(value, list) else [value])
        ]
        for value in listed:
            assert value in {None, bookkeeping_truth.UNKNOWN} or is_hash(value)


def is_hash(value: str) -> bool:
    return len(value) == len(hashed("")) and set(value) <= set("0123456789abcdef")


@pytest.mark.parametrize(
    ("method", "outcome"), [("debit_card", bookkeeping.RIGHT), ("voucher", bookkeeping.WRONG)]
)
def test_generated_documents_have_their_own_truth(
    method: str, outcome: str, tmp_path: Path
) -> None:
    one_slip = ["--count", "1", "--kind", "slip", "--language", "de-DE", "--look", "pdf"]
    command = [sys.executable, "-m", "training.receipts", str(tmp_path), *one_slip]
    subprocess.run(command, check=True, capture_output=True)
    [document] = documents.load_generated(tmp_path)
    truth = bookkeeping_truth.of_generated(tmp_path)[bookkeeping.name_of(document)]
    [payment] = truth.lists["payments"]
    reading = {"tip": truth.values["tip"][0], "payments": [{**payment, "method": method}]}

    found = outcomes(document, truth, reading)

    assert (bookkeeping.RIGHT, outcome) == (found["tip"], found["payments"])
    assert bookkeeping.ABSENT == found["rounding"]
