import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.extract.model import Moment
from recibo.extract.text import timestamps

DAY = dt.date(2024, 3, 15)


@given(
    st.datetimes(dt.datetime(2001, 1, 1), dt.datetime(2099, 12, 31)),  # noqa: DTZ001
    st.sampled_from(
        ["%d/%m/%Y %H:%M:%S", "%d/%m/%Y - %H:%M:%S", "%d/%m/%Y%H:%M:%S", "%Y-%m-%dT%H:%M:%S"]
    ),
)
def test_a_printed_timestamp_is_parsed(at: dt.datetime, shape: str) -> None:
    at = at.replace(microsecond=0)

    assert Moment(at.date(), at.time()) == timestamps.first(f"Emissao: {at.strftime(shape)} COO:1")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("15/03/2024", Moment(DAY)),
        ("15.03.2024 18h22", Moment(DAY, dt.time(18, 22))),
        ("15/03/24 18:22", Moment(DAY, dt.time(18, 22))),
        ("I5/O3/2024 18:22:1O", Moment(DAY, dt.time(18, 22, 10))),
        ("15/03/2024 às 18:22", Moment(DAY, dt.time(18, 22))),
        ("15/037202418:22:10", Moment(DAY, dt.time(18, 22, 10))),
        ("1570372024 18:22:10", Moment(DAY, dt.time(18, 22, 10))),
        ("15/03/2024 99:99", Moment(DAY)),
    ],
)
def test_dates_with_ocr_errors_are_parsed(text: str, moment: Moment) -> None:
    assert moment == timestamps.first(text)


@pytest.mark.parametrize(
    "text",
    ["", "31/02/2024", "99/99/9999", "1.234,56", "047801002-3900", "19/12/2619", "1570372024 18"],
)
def test_other_numbers_are_not_dates(text: str) -> None:
    assert timestamps.first(text) is None
