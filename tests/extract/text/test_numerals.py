from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.extract.text import numerals

cents = st.decimals(min_value=0, max_value=10**11, places=2)


def _printed(value: Decimal) -> str:
    whole, _, decimals = f"{value:,.2f}".partition(".")
    return f"{whole.replace(',', '.')},{decimals}"


@given(cents)
def test_a_printed_amount_reads_back(value: Decimal) -> None:
    assert value == numerals.amount(f"R$ {_printed(value)}")


@given(cents)
def test_an_amount_straight_from_xml_reads_back(value: Decimal) -> None:
    assert value == numerals.amount(f"R$ {value}")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 .976,88", "1976.88"),
        ("-5,40", "-5.40"),
        ("3,98-", "-3.98"),
        ("RS 10,00", "10.00"),
        ("R$10.333,64", "10333.64"),
    ],
)
def test_what_readers_and_printers_do_to_amounts_is_undone(text: str, value: str) -> None:
    assert Decimal(value) == numerals.amount(text)


@pytest.mark.parametrize("text", ["", "12", "1,234", "1.2.3,45", "12/03/2024", "a"])
def test_other_figures_are_no_amounts(text: str) -> None:
    assert numerals.amount(text) is None


def test_two_amounts_are_not_one() -> None:
    assert numerals.amount("1,00 2,00") is None
    assert [Decimal("1.00"), Decimal("2.00")] == list(numerals.amounts("1,00 2,00"))


def test_a_quantity_has_any_number_of_decimals() -> None:
    assert Decimal("0.672") == numerals.quantity("0.672")
    assert Decimal("13.032") == numerals.quantity("13,032")
    assert numerals.quantity("3 UN") is None
