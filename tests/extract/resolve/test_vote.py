"""If readings disagree, the highest summed confidence decides."""

import dataclasses
from decimal import Decimal

from recibo.extract.model import DocumentType, Extracted, LineItem, Receipt
from recibo.extract.resolve import vote


def receipt(total: str | None, sureness: float, *, confidence: float = 0.5) -> Receipt:
    """Return a receipt with a total of this confidence."""
    found = None if total is None else Extracted(Decimal(total), sureness, total)
    return Receipt(Extracted(DocumentType.RECEIPT, 1.0, ""), total=found, confidence=confidence)


def with_items(reading: Receipt, *totals: str | None) -> Receipt:
    """Return a receipt with an item for each of these amounts."""
    items = [LineItem("item", total=None if total is None else Decimal(total)) for total in totals]
    return dataclasses.replace(
        reading, line_items=tuple(Extracted(item, 0.9, item.name) for item in items)
    )


def total_of(*receipts: Receipt) -> Extracted[Decimal] | None:
    """Return the total of the combined receipts."""
    return vote.combine(receipts).total


def test_a_single_reading_is_returned_unchanged() -> None:
    only = receipt("1.00", 0.2)

    assert vote.combine([only]) is only


def test_two_readings_outvote_one_with_a_higher_confidence() -> None:
    settled = total_of(receipt("9.00", 0.9), receipt("1.00", 0.6), receipt("1.00", 0.7))

    assert Extracted(Decimal("1.00"), 0.7, "1.00") == settled


def test_a_confident_reading_outvotes_two_uncertain_ones() -> None:
    settled = total_of(receipt("9.00", 0.9), receipt("1.00", 0.3), receipt("1.00", 0.3))

    assert settled is not None
    assert Decimal("9.00") == settled.value


def test_a_value_in_one_reading_is_kept() -> None:
    settled = total_of(receipt(None, 0), receipt("1.00", 0.6), receipt(None, 0))

    assert settled is not None
    assert Decimal("1.00") == settled.value


def test_a_value_in_no_reading_is_none() -> None:
    assert total_of(receipt(None, 0), receipt(None, 0)) is None


def test_items_come_from_the_most_confident_reading() -> None:
    poor = receipt("1.00", 0.9, confidence=0.3)
    good = dataclasses.replace(receipt("1.00", 0.9, confidence=0.8), texts=("good",))

    assert vote.combine([poor, good]).texts == ("good",)


def test_items_that_add_up_rank_before_those_of_the_most_confident_reading() -> None:
    sure = with_items(receipt("3.00", 0.9, confidence=0.9), "1.00", "7.00")
    adding_up = with_items(receipt("3.00", 0.6, confidence=0.3), "1.00", "2.00")
    surer = with_items(receipt("3.00", 0.6, confidence=0.4), "1.20", "1.80")

    assert surer.line_items == vote.combine([sure, adding_up, surer]).line_items


def test_items_that_add_up_to_the_subtotal_add_up() -> None:
    subtotal = Extracted(Decimal("2.50"), 0.9, "2.50")
    sure = with_items(receipt("3.00", 0.9, confidence=0.9), "1.00")
    adding_up = with_items(receipt("3.00", 0.6, confidence=0.3), "1.00", "1.50")
    readings = [dataclasses.replace(each, subtotal=subtotal) for each in (sure, adding_up)]

    assert readings[1].line_items == vote.combine(readings).line_items


def test_items_without_a_total_do_not_add_up() -> None:
    sure = with_items(receipt("3.00", 0.9, confidence=0.9), "1.00", "7.00")
    wanting = with_items(receipt("3.00", 0.6, confidence=0.3), "3.00", None)

    assert sure.line_items == vote.combine([sure, wanting]).line_items
