from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.extract.text.numbers import amounts, money, parse

MONEY = st.decimals(0, Decimal("999999.99"), places=2)
STYLES = {
    "1,234.56": (",", "."),
    "1.234,56": (".", ","),
    "1'234.56": ("'", "."),
    "1 234,56": (" ", ","),
}


def values(text: str) -> list[str]:
    return [str(amount.value) for amount in amounts(text)]


@given(MONEY, st.sampled_from(sorted(STYLES)))
def test_money_is_read_in_every_style(amount: Decimal, style: str) -> None:
    group, point = STYLES[style]
    printed = f"{amount:,.2f}".replace(",", "_").replace(".", point).replace("_", group)

    assert parse(printed) == amount


@given(st.text())
def test_any_text_can_be_asked_for_amounts(text: str) -> None:
    for amount in amounts(text):
        assert 0 <= amount.start < amount.end <= len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TOTAL RM 12.50", ["12.50"]),
        ("R$ 1.234,56", ["1234.56"]),
        ("12,50€", ["12.50"]),
        ("12. 50", ["12.50"]),
        ("12 .50", ["12.50"]),
        ("l2.5O", ["12.50"]),
        ("TOTAL9.50", ["9.50"]),
        ("12.50SR", ["12.50"]),
        ("2x12.50", ["12.50"]),
        ("3 250.00", ["3", "250.00"]),
        ("0.535 kg", ["0.535"]),
        ("Rs 1971", ["1971"]),
        ("₹1,25,000.00", ["125000.00"]),
        ("ÖSSZESEN 12 500 Ft", ["12500"]),
        ("1 250 krydda", ["1", "250"]),
        ("¥1,200-", ["1200"]),
        ("SERV.CHG.10% RM8.25", ["10", "8.25"]),
        ("Rounding -RMO.02", ["-0.02"]),
        ("PRIX 1,829 EUR/L", ["1.829"]),
        ("PRICE/G: $ 2.899", ["2.899"]),
        ("1.659 €/Liter", ["1.659"]),
        ("Rabatt 2 för 40 -5,00", ["2", "40", "-5.00"]),
        ("IVA8 EURO", []),
    ],
)
def test_numbers_are_read_as_printed(text: str, expected: list[str]) -> None:
    assert values(text) == expected


def test_money_has_two_decimals_and_is_no_percentage() -> None:
    assert money("3,50% 1,234 12 R$ 10,00 RS 2,00 10333.64") == [
        Decimal("10.00"),
        Decimal("2.00"),
        Decimal("10333.64"),
    ]


def test_a_space_before_a_separator_is_ignored() -> None:
    assert money("1 .976,88") == [Decimal("1976.88")]


@pytest.mark.parametrize("text", ["25.-", "Fr. 25.--", "25,\u2014", "Rs 25/-", "25,- €"])
def test_a_dash_for_minor_digits_makes_money(text: str) -> None:
    (amount,) = amounts(text)

    assert amount.is_money
    assert amount.value == 25


@pytest.mark.parametrize("text", ["-5.00", "5.00-", "(5.00)", "RM-5.00", "-RM 5.00", "\u22125.00"])
def test_negative_amounts_have_various_signs(text: str) -> None:
    assert values(text) == ["-5.00"]


@pytest.mark.parametrize("text", ["TOTAL - 5.00", "TOTAL:-5.00"])
def test_a_dash_after_a_label_is_not_a_minus(text: str) -> None:
    assert values(text) == ["5.00"]


@pytest.mark.parametrize(
    "text", ["25/12/2018", "14:35", "12.05.18", "#12.50", "A12B", "No 123456789012345"]
)
def test_dates_times_and_identifiers_are_not_amounts(text: str) -> None:
    assert values(text) == []


def test_a_percentage_is_not_money() -> None:
    assert [amount.is_percent for amount in amounts("GST 6.00% 1.20")] == [True, False]


def test_three_digits_group_unless_the_currency_has_three() -> None:
    assert parse("12.500") == 12500
    assert parse("12.500", minor=3) == Decimal("12.500")


def test_numbers_longer_than_the_largest_amount_are_ignored() -> None:
    assert values("£123,456,789,012.34") == ["123456789012.34"]
    assert values("NR 4006381333931") == []
