"""Where readings disagree, the most confidence decides."""

import dataclasses
from decimal import Decimal

from recibo.extract import vote
from recibo.extract.model import DocumentType, Found, Receipt


def receipt(total: str | None, sureness: float, *, confidence: float = 0.5) -> Receipt:
    """Return a receipt with a total that is this sure."""
    found = None if total is None else Found(Decimal(total), sureness, total)
    return Receipt(Found(DocumentType.RECEIPT, 1.0, ""), total=found, confidence=confidence)


def total_of(*receipts: Receipt) -> Found[Decimal] | None:
    """Return the total that the receipts settle on."""
    return vote.settle(receipts).total


def test_one_reading_is_taken_as_it_is() -> None:
    only = receipt("1.00", 0.2)

    assert vote.settle([only]) is only


def test_two_readings_outvote_a_surer_one() -> None:
    settled = total_of(receipt("9.00", 0.9), receipt("1.00", 0.6), receipt("1.00", 0.7))

    assert Found(Decimal("1.00"), 0.7, "1.00") == settled


def test_a_very_sure_reading_stands_against_two_doubtful_ones() -> None:
    settled = total_of(receipt("9.00", 0.9), receipt("1.00", 0.3), receipt("1.00", 0.3))

    assert settled is not None
    assert Decimal("9.00") == settled.value


def test_what_one_reading_found_is_on_the_page() -> None:
    settled = total_of(receipt(None, 0), receipt("1.00", 0.6), receipt(None, 0))

    assert settled is not None
    assert Decimal("1.00") == settled.value


def test_what_none_found_is_none() -> None:
    assert total_of(receipt(None, 0), receipt(None, 0)) is None


def test_items_come_from_the_surest_reading() -> None:
    poor = receipt("1.00", 0.9, confidence=0.3)
    good = dataclasses.replace(receipt("1.00", 0.9, confidence=0.8), texts=("good",))

    assert vote.settle([poor, good]).texts == ("good",)
