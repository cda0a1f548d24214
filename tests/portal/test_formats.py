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
    assert "1,234.50 EUR" == formats.money("1234.50", "EUR")
    assert "1,234.50" == formats.money("1234.50", None)
    assert "1,234" == formats.count(1234)
    assert "1,234.50" == formats.cents(Decimal("1234.5"))
    assert ["94%", "29%", "100%", "99%"] == [formats.percent(x) for x in (0.9499, 0.29, 1, 0.9999)]
    assert "2026-03-14" == formats.day(MOMENT)
    assert "2026-03-14 11:17 UTC" == formats.moment(MOMENT)
    assert "2026-03-14 11:17:42 UTC" == formats.second(MOMENT)
