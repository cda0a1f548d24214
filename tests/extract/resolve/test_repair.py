from decimal import Decimal

import pytest

from recibo.extract.candidates import Candidates
from recibo.extract.model import Extracted, LineItem
from recibo.extract.resolve.assemble import assemble
from recibo.extract.resolve.repair import inferred, repaired

INFERRED = Decimal("12.50")


def found(*amounts: str, confidence: float = 0.9) -> tuple[Extracted[Decimal], ...]:
    return tuple(Extracted(Decimal(amount), confidence, amount) for amount in amounts)


def values(totals: tuple[Extracted[Decimal], ...]) -> list[str]:
    return [str(total.value) for total in totals]


@pytest.mark.parametrize("read", ["12.60", "72.50", "112.50", "2.50"])
def test_a_wrong_missing_or_extra_digit_is_repaired(read: str) -> None:
    assert values(repaired(found(read), [{INFERRED}, {INFERRED}])) == ["12.50"]


def test_one_computed_total_is_not_enough() -> None:
    """The misread digit may be in one of the added amounts."""
    assert values(repaired(found("12.60"), [{INFERRED}, {Decimal("3.00")}])) == ["12.60"]


def test_two_wrong_digits_are_another_amount() -> None:
    assert values(repaired(found("12.61"), [{INFERRED}, {INFERRED}])) == ["12.61"]


def test_a_confirmed_printed_total_prevents_other_repairs() -> None:
    totals = found("12.60", "12.50")

    assert repaired(totals, [{INFERRED}, {INFERRED}]) == totals


def test_an_unlikely_total_is_not_repaired() -> None:
    assert values(repaired(found("12.60", confidence=0.3), [{INFERRED}, {INFERRED}])) == ["12.60"]


@pytest.mark.parametrize(
    "candidates",
    [
        Candidates(
            totals=found("72.50"),
            subtotals=found("11.50"),
            taxes=found("1.00"),
            cash=found("20.00"),
            change=found("7.50"),
        ),
        Candidates(
            totals=found("72.50"),
            cash=found("20.00"),
            change=found("7.50"),
            line_items=tuple(
                Extracted(LineItem("x", total=Decimal(total)), 0.9, "x")
                for total in ("10.00", "2.50")
            ),
        ),
    ],
)
def test_the_sums_of_a_document_repair_its_total(candidates: Candidates) -> None:
    receipt = assemble(candidates)

    assert receipt.total is not None
    assert str(receipt.total.value) == "12.50"


def test_a_total_that_is_not_printed_is_inferred_if_two_ways_agree() -> None:
    change = found("7.50")

    assert values(inferred(found("11.50"), [{INFERRED}, {INFERRED}], change)) == ["12.50"]
    assert inferred(found("12.50"), [{INFERRED}, {INFERRED}], change) == ()
    assert inferred(found("11.50"), [{INFERRED}, {Decimal("3.00")}], change) == ()
    assert inferred(found("11.50"), [set(), {INFERRED}, {INFERRED}], ()) == ()


def test_without_a_printed_total_cash_less_change_is_the_total() -> None:
    printed = Candidates(
        totals=found("11.50"),
        subtotals=found("11.50"),
        taxes=found("1.00"),
        cash=found("20.00"),
        change=found("7.50"),
    )
    receipt = assemble(printed)

    assert receipt.total is not None
    assert str(receipt.total.value) == "12.50"
