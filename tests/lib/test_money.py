"""Amounts as the wire spells them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.lib import money

CURRENCIES = st.sampled_from([None, "BRL", "JPY", "KWD", "CLF", "XXX"])
AMOUNTS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15)


@pytest.mark.parametrize(
    ("printed", "currency", "expected"),
    [
        ("12.5", "BRL", "12.50"),
        ("1234", "USD", "1234.00"),
        ("1500", "JPY", "1500"),
        ("1500.00", "JPY", "1500"),
        ("1.25", "KWD", "1.250"),
        ("15000", "IDR", "15000.00"),
        ("12.500", "MYR", "12.50"),
        ("0", "EUR", "0.00"),
        ("-0.5", "EUR", "-0.50"),
    ],
)
def test_amount_carries_the_minor_digits_of_its_currency(
    printed: str, currency: str, expected: str
) -> None:
    assert expected == money.in_minor_digits(Decimal(printed), currency)


@pytest.mark.parametrize(("printed", "currency"), [("1.459", "EUR"), ("99.95", "JPY")])
def test_digits_beyond_the_minor_ones_are_kept_not_rounded(printed: str, currency: str) -> None:
    assert printed == money.in_minor_digits(Decimal(printed), currency)


@pytest.mark.parametrize("printed", ["12.5", "12.50", "12", "0.535", "100"])
def test_amount_without_a_currency_is_spelled_as_printed(printed: str) -> None:
    assert printed == money.in_minor_digits(Decimal(printed), None)


@pytest.mark.parametrize(("value", "expected"), [("1E+3", "1000"), ("1E-7", "0.0000001")])
def test_no_figure_is_spelled_with_an_exponent(value: str, expected: str) -> None:
    assert expected == money.as_printed(Decimal(value))


@pytest.mark.parametrize("value", ["-0", "-0.00"])
def test_zero_has_no_sign(value: str) -> None:
    assert not money.as_printed(Decimal(value)).startswith("-")
    assert money.in_minor_digits(Decimal(value), "EUR") == "0.00"


@given(AMOUNTS, CURRENCIES)
def test_spelling_never_changes_the_amount(value: Decimal, currency: str | None) -> None:
    assert value == Decimal(money.in_minor_digits(value, currency))


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_no_amount_is_too_odd_to_be_spelled(value: Decimal) -> None:
    spelled = money.in_minor_digits(value, "EUR")

    assert "E" not in spelled
