from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.extract.fields.items import arithmetic
from recibo.extract.text import numbers

CENT = Decimal("0.01")


def _factors(text: str, total: str) -> tuple[str, str] | None:
    found = arithmetic.factors(list(numbers.every(text)), Decimal(total))
    return (str(found.qty), str(found.unit_price)) if found else None


@pytest.mark.parametrize(
    ("text", "total", "factors"),
    [
        ("001 9226829 FRANGO 0,183 KG x 29,90 (1,70)", "5.47", ("0.183", "29.90")),
        ("7.90*3", "23.70", ("3", "7.90")),
        ("9,87 L x 3,799", "37.50", ("9.87", "3.799")),
        ("13,032L X 3,799", "49.51", ("13.032", "3.799")),
        ("LEITE 1L 1 UN X 5,49", "5.49", ("1", "5.49")),
        ("1 3.50 5.69%", "3.30", None),
        ("3 5.00 1.50", "13.50", ("3", "5.00")),
        ("Rs 1939 x 1 Night x 1 Room", "1939", ("1", "1939")),
        ("4 UN 2,59", "99.99", None),
        ("7891000100103 2", "7.49", None),
    ],
)
def test_quantity_and_price_are_found_by_their_product(
    text: str, total: str, factors: tuple[str, str] | None
) -> None:
    assert factors == _factors(text, total)


@given(
    st.decimals(min_value="0.001", max_value="999", places=3),
    st.decimals(min_value="0.01", max_value="9999", places=2),
)
def test_a_rounded_product_agrees(qty: Decimal, price: Decimal) -> None:
    assert arithmetic.agrees(qty, price, (qty * price).quantize(CENT))


@given(
    st.integers(1, 50).map(Decimal),
    st.decimals(min_value="1", max_value="999", places=2),
    st.sampled_from([-1, 1]),
)
def test_another_total_does_not_agree(qty: Decimal, price: Decimal, sign: int) -> None:
    assert not arithmetic.agrees(qty, price, (qty * price * (1 + sign * Decimal("0.05"))) + sign)


def test_a_missing_quantity_follows_from_the_total() -> None:
    assert arithmetic.missing_qty(Decimal("2.59"), Decimal("7.77")) == 3
    assert arithmetic.missing_qty(Decimal("2.59"), Decimal("8.00")) is None
    assert arithmetic.missing_qty(Decimal(0), Decimal("8.00")) is None


def test_a_repeated_amount_is_not_a_product() -> None:
    assert arithmetic.triple(list(numbers.every("1,00 23,94 23,94 0,00 0,00"))) is None
    assert arithmetic.triple(list(numbers.every("20,0000 94,4520 1.889,04 0,00"))) is not None


def test_two_whole_numbers_have_no_product_with_cents() -> None:
    assert _factors("1 x 500g", "501.60") is None


def test_a_total_without_decimals_is_rounded_to_units() -> None:
    assert arithmetic.is_rounded(Decimal("37.25"), Decimal(1534), Decimal(57142))
    assert not arithmetic.is_rounded(Decimal(2), Decimal("1.17"), Decimal("2.36"))
