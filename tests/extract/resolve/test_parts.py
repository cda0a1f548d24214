"""Subtotal and tax: the pair that makes the total."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.candidates import Candidates, TaxBreakdown
from recibo.extract.model import Box, Extracted
from recibo.extract.resolve.assemble import assemble


def found(*amounts: str) -> tuple[Extracted[Decimal], ...]:
    return tuple(Extracted(Decimal(amount), 0.9, amount) for amount in amounts)


def breakdown(gross: str, net: str, tax: str) -> TaxBreakdown:
    return TaxBreakdown(Decimal(gross), found(net)[0], found(tax)[0])


def parts(candidates: Candidates) -> Sequence[str | None]:
    receipt = assemble(candidates)
    return [str(one.value) if one else None for one in (receipt.subtotal, receipt.tax)]


def test_a_printed_subtotal_is_preferred_to_the_net_of_the_tax_table() -> None:
    candidates = Candidates(
        totals=found("30.11"),
        subtotals=found("30.11", "25.09"),
        taxes=found("5.02"),
        tax_sums=found("5.02"),
        tax_breakdowns=(breakdown("30.11", "25.09", "5.02"),),
    )

    assert parts(candidates) == ["30.11", "5.02"]


def test_without_a_printed_subtotal_the_tax_table_has_it() -> None:
    candidates = Candidates(
        totals=found("30.11"),
        tax_sums=found("5.02"),
        tax_breakdowns=(breakdown("30.11", "25.09", "5.02"),),
    )

    assert parts(candidates) == ["25.09", "5.02"]


def test_of_several_amounts_those_are_chosen_that_make_the_total() -> None:
    candidates = Candidates(
        totals=found("279.84"),
        subtotals=found("112.00", "150.90", "262.90"),
        taxes=found("112.90", "16.94"),
        tax_sums=found("16.94", "112.90"),
    )

    assert parts(candidates) == ["262.90", "16.94"]


def test_a_discount_may_be_between_subtotal_and_total() -> None:
    candidates = Candidates(
        totals=found("95.20"),
        subtotals=found("100.00"),
        taxes=found("15.20"),
        tax_sums=found("15.20"),
        discounts=found("20.00"),
    )

    assert parts(candidates) == ["100.00", "15.20"]


def test_the_sum_of_the_payments_below_the_total_is_no_subtotal() -> None:
    total, paid = (
        Extracted(Decimal(value), 0.9, value, box=Box(0, y, 50, y + 8))
        for value, y in (("114.20", 100), ("120.00", 130))
    )

    assert parts(Candidates(totals=(total,), subtotals=(paid,))) == [None, None]


def test_amounts_that_make_the_total_are_surer() -> None:
    tax = found("19.00")
    candidates = Candidates(subtotals=found("100.00"), taxes=tax, tax_sums=tax)
    sure = assemble(replace(candidates, totals=found("119.00")))
    unsure = assemble(replace(candidates, totals=found("131.00")))

    assert sure.subtotal
    assert unsure.subtotal
    assert sure.subtotal.confidence > unsure.subtotal.confidence
