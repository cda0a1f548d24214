import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.candidates import Candidates
from recibo.extract.model import Box, DocumentType, Extracted, LineItem, Moment
from recibo.extract.resolve.assemble import are_several, assemble


def found(*amounts: str, confidence: float = 0.6) -> tuple[Extracted[Decimal], ...]:
    return tuple(Extracted(Decimal(amount), confidence, amount) for amount in amounts)


def downwards(*amounts: tuple[str, float]) -> tuple[Extracted[Decimal], ...]:
    """Return amounts with their confidences, each below the one before."""
    return tuple(
        Extracted(Decimal(amount), confidence, amount, box=Box(0, 10 * place, 50, 10 * place + 8))
        for place, (amount, confidence) in enumerate(amounts)
    )


def total(candidates: Candidates) -> str | None:
    chosen = assemble(candidates).total
    return str(chosen.value) if chosen else None


def items(totals: Sequence[str]) -> tuple[Extracted[LineItem], ...]:
    return tuple(Extracted(LineItem("x", total=Decimal(amount)), 0.9, "x") for amount in totals)


def test_cash_less_change_decides_the_total() -> None:
    candidates = Candidates(
        totals=found("15.00", "12.50"), cash=found("20.00"), change=found("7.50")
    )

    assert total(candidates) == "12.50"


def test_the_sum_of_the_parts_decides_the_total() -> None:
    candidates = Candidates(
        totals=found("15.00", "12.50"),
        subtotals=found("11.00"),
        taxes=found("0.66"),
        charges=found("1.10"),
        discounts=found("0.26"),
    )

    assert total(candidates) == "12.50"


def test_the_items_decide_the_total() -> None:
    candidates = Candidates(totals=found("15.00", "12.50"), line_items=items(["10.00", "2.50"]))

    assert total(candidates) == "12.50"


def test_the_rounded_total_is_chosen() -> None:
    candidates = Candidates(
        totals=found("12.52", "12.50"), roundings=found("-0.02"), cards=found("12.50")
    )

    assert total(candidates) == "12.50"


def test_an_amount_above_a_total_is_not_its_rounding() -> None:
    """An item misread by two cents differs by the same amount as the rounding."""
    totals = downwards(("5.02", 0.1), ("5.00", 0.9))

    assert total(Candidates(totals=totals, roundings=found("0.02"))) == "5.00"


def test_parts_repeated_in_a_tax_table_do_not_hide_the_rounding() -> None:
    candidates = Candidates(
        totals=found("112.46", "112.45"),
        subtotals=found("106.10"),
        taxes=found("6.37", "106.10", "6.37", "6.37", "6.37"),
        roundings=found("-0.02"),
    )

    assert total(candidates) == "112.45"


def test_the_cash_tendered_is_not_the_total() -> None:
    totals = (*found("20.00", confidence=0.75), *found("19.20", confidence=0.4))

    assert total(Candidates(totals=totals)) == "20.00"
    assert total(Candidates(totals=totals, change=found("0.80"))) == "19.20"


def test_returned_items_have_a_negative_total() -> None:
    totals = downwards(("-14.71", 0.9), ("12.98", 0.97), ("-1.73", 0.98))

    assert total(Candidates(totals=totals)) == "-1.73"


def test_an_agreeing_sum_raises_the_confidence() -> None:
    alone = assemble(Candidates(totals=found("12.50")))
    settled = assemble(Candidates(totals=found("12.50"), cash=found("20.00"), change=found("7.50")))

    assert alone.total is not None
    assert settled.total is not None
    assert settled.total.confidence > alone.total.confidence


def test_several_taxes_that_add_up_to_the_total_are_added() -> None:
    receipt = assemble(
        Candidates(totals=found("118.00"), subtotals=found("100.00"), taxes=found("9.00", "9.00"))
    )

    assert receipt.tax is not None
    assert (str(receipt.tax.value), str(receipt.total and receipt.total.value)) == (
        "18.00",
        "118.00",
    )


def test_a_tax_larger_than_the_total_is_ignored() -> None:
    receipt = assemble(Candidates(totals=found("12.50"), taxes=found("30.00")))

    assert receipt.tax is None


def test_a_refund_includes_its_tax() -> None:
    receipt = assemble(
        Candidates(totals=found("-119.00"), subtotals=found("-100.00"), taxes=found("-19.00"))
    )

    assert receipt.tax is not None
    assert str(receipt.tax.value) == "-19.00"


def test_without_candidates_the_receipt_is_empty() -> None:
    receipt = assemble(Candidates(), hint=DocumentType.INVOICE)

    assert receipt.type.value is DocumentType.INVOICE
    assert (receipt.total, receipt.subtotal, receipt.tax, receipt.merchant_name) == (None,) * 4


def test_an_unlikely_candidate_is_left_out() -> None:
    receipt = assemble(Candidates(merchant_tax_ids=(Extracted("123", 0.2, "123"),)))

    assert receipt.merchant_tax_id is None


def test_amounts_have_the_minor_digits_of_their_currency() -> None:
    yen = assemble(Candidates(totals=found("1280"), currencies=(Extracted("JPY", 0.9, "¥"),)))
    ringgit = assemble(Candidates(totals=found("43.7"), currencies=(Extracted("MYR", 0.9, "RM"),)))
    unknown = assemble(Candidates(totals=found("43.7")))

    values = [str(receipt.total and receipt.total.value) for receipt in (yen, ringgit, unknown)]
    assert values == ["1280", "43.70", "43.7"]


def test_a_first_line_without_amount_or_date_is_not_a_seller() -> None:
    letter = Candidates(merchant_names=(Extracted("Dear Sir", 0.8, "Dear Sir"),))

    assert assemble(letter).merchant_name is None


def test_two_dates_and_two_sums_are_two_documents() -> None:
    days = tuple(Extracted(Moment(dt.date(2025, 3, day)), 0.9, f"{day}") for day in (14, 15))
    both = Candidates(
        totals=found("4.57", "27.93"),
        subtotals=found("4.25", "25.98"),
        taxes=found("0.32", "1.95"),
        moments=days,
    )

    assert are_several(both)
    assert not are_several(replace(both, moments=days[:1]))
    assert not are_several(replace(both, totals=found("4.57")))
    assert not are_several(replace(both, totals=found("4.57", "5.57"), charges=found("1.00")))


def test_a_tax_larger_than_its_taxable_amount_is_ignored() -> None:
    receipt = assemble(Candidates(subtotals=found("38.50"), taxes=found("43.51")))

    assert receipt.subtotal is not None
    assert receipt.tax is None
    assert assemble(Candidates(subtotals=found("38.50"), taxes=found("5.01"))).tax is not None
