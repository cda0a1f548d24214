from decimal import Decimal

import pytest

from recibo.extract.text import numbers


def _values(text: str) -> list[str]:
    return [str(figure.value) for figure in numbers.every(text)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2 UN X 3,50 (1,08) 7,00", ["2", "3.50", "1.08", "7.00"]),
        ("1.234,56 1,234.56", ["1234.56", "1234.56"]),
        ("-5,40 3.98-", ["-5.40", "-3.98"]),
        ("0,535 13.032", ["0.535", "13032"]),
        ("$.00 £1.10", ["0.00", "1.10"]),
        ("4. 90 12 ,50", ["4.90", "12.50"]),
        ("12.03.2024", []),
        ("B12 X9 T12,00%", []),
        ("6x1.25L", ["6"]),
        ("Soup x2 @4.50 9.00", ["2", "4.50", "9.00"]),
        ("RICE X3\t11.40", ["3", "11.40"]),
        ("DVD 4x2 box", ["4"]),
        ("T2$2.00", ["2.00"]),
        ("Qtde.:2 Vl. Unit.: 19,5", ["2", "19.5"]),
        ("12:30 as 13:05:09", []),
    ],
)
def test_numbers_are_found_but_not_inside_words(text: str, values: list[str]) -> None:
    assert values == _values(text)


def test_three_decimals_may_be_thousands() -> None:
    (figure,) = numbers.every("13,032")

    assert (Decimal(13032), Decimal("13.032")) == figure.readings
    assert not figure.is_money


def test_brackets_percentages_and_symbols_are_detected() -> None:
    bracketed, percent, marked = numbers.every("(1,08) 5% R$ 450")

    assert bracketed.is_bracketed
    assert percent.is_percent
    assert marked.has_symbol
    assert marked.is_money


@pytest.mark.parametrize(
    ("text", "values"),
    [("1 290,00", ["1290.00"]), ("1 795 Ft", ["1795"]), ("2 500 g", ["2", "500"])],
)
def test_a_space_groups_thousands_only_in_amounts(text: str, values: list[str]) -> None:
    assert values == _values(text)


def test_symbols_and_units_after_numbers_are_detected() -> None:
    marked, measured, rate = numbers.every("399 Ft 0,870 kg %8")

    assert marked.has_symbol
    assert measured.has_unit
    assert rate.is_percent


def test_brackets_may_contain_a_symbol() -> None:
    (figure,) = numbers.every("($3.05)")

    assert figure.is_bracketed
