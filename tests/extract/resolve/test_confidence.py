"""Confidences decrease with evidence against a value."""

import dataclasses

import pytest

from recibo.extract import pipeline
from recibo.extract.errors import Unreadable
from recibo.extract.model import Line, Receipt, TextPage, Word
from recibo.extract.weights import weights
from tests.extract import typesetting

ROLL = """
        CORNER SHOP LIMITED
      25 High Street, Dublin

Date: 14/03/2024 10:41
Invoice No: 004217

Espresso doppio            6.20
Butter croissant           4.80
Subtotal                  11.00
VAT 10%                    1.10
TOTAL EUR                 12.10
CASH                      20.00
CHANGE                     7.90
"""
CLEAR = typesetting.text_page(ROLL, exact=False)
FIELDS = ("merchant_name", "issued_at", "total", "subtotal", "tax", "document_number")


def read(text_page: TextPage) -> Receipt:
    """Return the receipt of one page."""
    return pipeline.understand([[text_page]])


def sureness(receipt: Receipt, field: str) -> float:
    """Return the confidence of a field that has a value."""
    found = getattr(receipt, field)
    assert found is not None, field
    return float(found.confidence)


def doubted(text_page: TextPage, part: str, sure: float) -> TextPage:
    """Return a page on which words with `part` have this confidence."""

    def word(word: Word) -> Word:
        return dataclasses.replace(word, confidence=sure) if part in word.text else word

    def line(line: Line) -> Line:
        return dataclasses.replace(line, words=tuple(map(word, line.words)))

    return dataclasses.replace(text_page, lines=tuple(map(line, text_page.lines)))


def test_a_clear_receipt_has_high_confidences() -> None:
    receipt = read(CLEAR)

    assert {field for field in FIELDS if sureness(receipt, field) < 0.85} == set()
    assert receipt.confidence >= 0.9


@pytest.mark.parametrize(
    ("field", "part"),
    [
        ("merchant_name", "CORNER"),
        ("issued_at", "14/03"),
        ("total", "12.10"),
        ("subtotal", "11.00"),
        ("tax", "1.10"),
        ("document_number", "004217"),
    ],
)
def test_a_value_from_uncertain_words_has_a_low_confidence(field: str, part: str) -> None:
    receipt = read(doubted(CLEAR, part, 0.6))

    assert sureness(receipt, field) < sureness(read(CLEAR), field)


@pytest.mark.parametrize("field", FIELDS)
def test_values_on_an_uncertain_page_have_a_low_confidence(field: str) -> None:
    receipt = read(doubted(CLEAR, "", 0.7))

    assert sureness(receipt, field) < sureness(read(CLEAR), field)
    assert receipt.confidence < 0.9


def test_a_total_that_disagrees_with_cash_and_change_has_a_low_confidence() -> None:
    receipt = read(typesetting.text_page(ROLL.replace("7.90", "5.90"), exact=False))

    assert sureness(receipt, "total") < sureness(read(CLEAR), "total")


def test_a_name_with_digits_among_its_letters_has_a_low_confidence() -> None:
    receipt = read(typesetting.text_page(ROLL.replace("CORNER", "C0RN3R"), exact=False))

    assert sureness(receipt, "merchant_name") < sureness(read(CLEAR), "merchant_name")


def test_the_confidence_of_a_receipt_is_at_most_that_of_its_total() -> None:
    receipts = [read(CLEAR), read(doubted(CLEAR, "12.10", 0.5)), read(doubted(CLEAR, "", 0.9))]

    assert all(receipt.confidence <= sureness(receipt, "total") for receipt in receipts)


@pytest.mark.parametrize("missing", ["14/03/2024 10:41", "25 High Street, Dublin"])
def test_a_missing_date_or_name_lowers_the_confidence(missing: str) -> None:
    gap = " " * len(missing)
    text = ROLL.replace("CORNER SHOP LIMITED", "*" * 19) if "Street" in missing else ROLL
    receipt = read(typesetting.text_page(text.replace(missing, gap), exact=False))

    assert receipt.merchant_name is None or receipt.issued_at is None
    assert receipt.confidence < read(CLEAR).confidence


def test_without_a_total_the_confidence_is_low() -> None:
    head = "\n".join(ROLL.split("\n")[:6])

    assert read(typesetting.text_page(head, exact=False)).confidence < 0.2


def test_a_page_without_values_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        read(dataclasses.replace(CLEAR, lines=()))


def test_every_weight_belongs_to_a_computed_feature() -> None:
    common = {"score", "legible_score", "lead", "alone", "doubt", "doubtful", "exact"}
    own = {"merchant_name": {"mixed"}, "issued_at": {"timed"}, "total": {"change_off"}}
    own |= {"subtotal": {"parts"}, "tax": {"parts"}}

    for field, fitted in weights("confidence").items():
        assert fitted.keys() - common - own.get(field, set()) == {"always"}, field
