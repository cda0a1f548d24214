import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

import pytest

from training.receipts import kinds, pdf
from training.receipts.countries import countries
from training.receipts.faces import Case
from training.receipts.truth import Document, TruthItem

PAIRS = [(name, tag) for name, kind in kinds.kinds().items() for tag in kind.languages]
STRIPS = {"till", "restaurant", "crowded till", "crowded restaurant"}
FOREIGN = [(name, tag) for name, tag in PAIRS if name in STRIPS | {"fuel", "invoice"}]


def documents(kind: str, language: str, count: int = 3) -> Iterator[Document]:
    for number in range(count):
        yield kinds.make(f"test:{number}", kind, language, Case())


@pytest.mark.parametrize(("kind", "language"), PAIRS)
def test_same_seed_makes_the_same_document(kind: str, language: str) -> None:
    first, again, other = (
        kinds.make(seed, kind, language, Case()) for seed in ("test:0", "test:0", "test:1")
    )

    assert first == again
    assert first != other
    assert pdf.write(first.print) == pdf.write(again.print)


@pytest.mark.parametrize(("kind", "language"), PAIRS)
def test_values_of_the_truth_are_printed(kind: str, language: str) -> None:
    for document in documents(kind, language):
        text = " ".join(document.print.texts())
        words, signs = set(text.split()), _signs(text)
        truth = document.truth

        assert set((truth.merchant_name or "").split()) <= words
        assert _signs(truth.merchant_tax_id) in signs
        assert _signs(truth.document_number) in signs
        for amount in (truth.total, *(item.total for item in truth.line_items)):
            assert _signs(amount) in signs
        for item in truth.line_items:
            assert all(word in text for word in item.name.split())


@pytest.mark.parametrize(("kind", "language"), FOREIGN)
def test_the_total_of_an_item_is_its_quantity_times_its_price(kind: str, language: str) -> None:
    for document in documents(kind, language):
        for item in document.truth.line_items:
            if item.qty and item.unit_price and item.total:
                exact = Decimal(item.qty) * Decimal(item.unit_price)
                total = Decimal(item.total)

                assert total == exact.quantize(total, ROUND_HALF_UP)


def _is_off(item: TruthItem) -> bool:
    return Decimal(item.total or 0) < 0


@pytest.mark.parametrize(("kind", "language"), [pair for pair in FOREIGN if pair[0] in STRIPS])
def test_the_items_of_a_strip_add_up_to_its_subtotal(kind: str, language: str) -> None:
    """The subtotal is the sum of the items, with or without their included tax and discount."""
    for document in documents(kind, language, 6):
        truth = document.truth
        listed = sum(Decimal(item.total or 0) for item in truth.line_items)

        if truth.subtotal and document.bookkeeping:
            net, tax = Decimal(truth.subtotal), Decimal(truth.tax or 0)
            # Discounts of items are items, too.
            of_items = sum(Decimal(item.total or 0) for item in truth.line_items if _is_off(item))
            discount = Decimal(document.bookkeeping.discount or 0) + of_items
            assert listed in {net, net + tax, net + tax + discount}


@pytest.mark.parametrize(("kind", "language"), [pair for pair in FOREIGN if pair[0] == "invoice"])
def test_the_total_of_an_invoice_is_its_net_plus_its_tax(kind: str, language: str) -> None:
    for document in documents(kind, language):
        truth = document.truth

        assert Decimal(truth.total or 0) == Decimal(truth.subtotal or 0) + Decimal(truth.tax or 0)


@pytest.mark.parametrize("kind", ["till", "restaurant", "two payments", "slip"])
@pytest.mark.parametrize("language", ["de-DE", "en-US", "en-CA", "fr-FR"])
def test_the_payments_of_a_receipt_are_its_total(kind: str, language: str) -> None:
    for document in documents(kind, language, 6):
        known = document.bookkeeping
        if known is not None:
            paid = sum(Decimal(payment.amount) for payment in known.payments)

            assert Decimal(document.truth.total or 0) == paid


@pytest.mark.parametrize("language", ["en-IN", "en-GB", "de-DE"])
def test_the_taxes_of_items_add_up(language: str) -> None:
    for document in documents("tax invoice", language, 6):
        known = document.bookkeeping
        assert known is not None
        if known.taxes:
            assert Decimal(document.truth.tax or 0) == sum(
                Decimal(tax.amount) for tax in known.taxes
            )


def test_a_slip_adds_the_tip_to_the_total() -> None:
    for document in documents("slip", "en-US", 6):
        known, truth = document.bookkeeping, document.truth
        assert known is not None
        assert known.tip is not None
        before = Decimal(truth.total or 0) - Decimal(known.tip)

        assert str(before) in document.alternatives["total"]


@pytest.mark.parametrize("kind", ["crowded till", "crowded restaurant"])
def test_crowded_receipts_have_more_numbers_and_rows_that_are_no_items(kind: str) -> None:
    made = list(documents(kind, "en-GB", 60))
    asides = countries()["en-GB"].asides
    between = {*asides["departments"], *asides["modifiers"], *asides["notes"]}

    printed = {text.strip() for document in made for text in document.print.texts()}
    items = {item.name for document in made for item in document.truth.line_items}
    numbers = [document.truth.document_number for document in made]

    assert between & printed
    assert not between & items
    assert None in numbers
    assert any(numbers)
    assert any(
        number is not None and set(document.alternatives.get("document_number", ())) - {None}
        for document, number in zip(made, numbers, strict=True)
    )


def _signs(text: str | None) -> str:
    return re.sub(r"\W", "", text or "")
