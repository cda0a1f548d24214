from decimal import Decimal

import pytest

from recibo.extract.model import Candidates, Extracted, LineItem
from recibo.extract.resolve.assemble import assemble
from recibo.extract.resolve.repair import mended, reckoned

RECKONED = Decimal("12.50")


def found(*amounts: str, confidence: float = 0.9) -> tuple[Extracted[Decimal], ...]:
    return tuple(Extracted(Decimal(amount), confidence, amount) for amount in amounts)


def values(totals: tuple[Extracted[Decimal], ...]) -> list[str]:
    return [str(total.value) for total in totals]


@pytest.mark.parametrize("read", ["12.60", "72.50", "112.50", "2.50"])
def test_one_figure_that_is_wrong_lost_or_too_many_is_set_right(read: str) -> None:
    assert values(mended(found(read), [{RECKONED}, {RECKONED}])) == ["12.50"]


def test_one_way_to_reckon_is_not_enough() -> None:
    """The misread figure may be one of those that were added up."""
    assert values(mended(found("12.60"), [{RECKONED}, {Decimal("3.00")}])) == ["12.60"]


def test_two_wrong_figures_are_another_amount() -> None:
    assert values(mended(found("12.61"), [{RECKONED}, {RECKONED}])) == ["12.61"]


def test_a_total_that_is_printed_as_reckoned_leaves_the_others_alone() -> None:
    totals = found("12.60", "12.50")

    assert mended(totals, [{RECKONED}, {RECKONED}]) == totals


def test_an_unlikely_total_is_left_alone() -> None:
    assert values(mended(found("12.60", confidence=0.3), [{RECKONED}, {RECKONED}])) == ["12.60"]


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
def test_the_sums_of_a_paper_set_its_total_right(candidates: Candidates) -> None:
    receipt = assemble(candidates)

    assert receipt.total is not None
    assert str(receipt.total.value) == "12.50"


def test_a_total_that_is_not_printed_is_reckoned_where_two_ways_agree() -> None:
    change = found("7.50")

    assert values(reckoned(found("11.50"), [{RECKONED}, {RECKONED}], change)) == ["12.50"]
    assert reckoned(found("12.50"), [{RECKONED}, {RECKONED}], change) == ()
    assert reckoned(found("11.50"), [{RECKONED}, {Decimal("3.00")}], change) == ()
    assert reckoned(found("11.50"), [set(), {RECKONED}, {RECKONED}], ()) == ()


def test_a_paper_without_a_total_gives_what_was_kept_of_the_cash() -> None:
    paper = Candidates(
        totals=found("11.50"),
        subtotals=found("11.50"),
        taxes=found("1.00"),
        cash=found("20.00"),
        change=found("7.50"),
    )
    receipt = assemble(paper)

    assert receipt.total is not None
    assert str(receipt.total.value) == "12.50"
