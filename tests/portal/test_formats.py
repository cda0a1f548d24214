"""Figures and times on pages: one format for each kind."""

import datetime as dt
from decimal import Decimal

import pytest

from recibo.portal import formats

MOMENT = dt.datetime(2026, 3, 14, 8, 17, 42, tzinfo=dt.timezone(dt.timedelta(hours=-3)))


@pytest.mark.parametrize(
    ("written", "figure"),
    [("1,234.50", "1234.50"), ("0.535", "0.535"), ("-1,234", "-1234"), ("12", "12"),
     ("1,234,567.8901", "1234567.8901"), ("", None), ("A-001042", "A-001042"), ("1E+3", "1E+3")],
)  # fmt: skip
def test_number_keeps_its_digits(written: str, figure: str | None) -> None:
    assert written == formats.number(figure)


def test_kinds() -> None:
    assert "1,234" == formats.count(1234)
    assert "1,234.50" == formats.money(Decimal("1234.5"), "BRL")
    assert "1,235" == formats.money(Decimal("1234.6"), "JPY")
    assert ["94%", "29%", "100%", "99%"] == [formats.percent(x) for x in (0.9499, 0.29, 1, 0.9999)]
    assert "Mar 14, 2026" == formats.day(MOMENT)
    assert "Mar 14, 2026, 11:17 UTC" == formats.moment(MOMENT)
    assert "Mar 14, 2026, 11:17:42 UTC" == formats.second(MOMENT)


def test_people_have_initials_and_a_fixed_color() -> None:
    names = ("Ana Lima", "Ana Maria de Lima", "Ana", "ana@people.test", "API key Expense app", "é")

    assert ["AL", "AL", "AN", "AN", "AA", "É"] == [formats.initials(name) for name in names]
    assert formats.tone("Ana Lima") == formats.tone("Ana Lima")
    assert {formats.tone(name) for name in names} <= {1, 2, 3, 4}
