import datetime as dt

import pytest

from recibo.extract.fields.date import repaired


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Date: 22/72/2017", dt.date(2017, 12, 22)),
        ("28/69/2017 10:02", dt.date(2017, 9, 28)),
        ("02/02/2077 7:31:08 PM", dt.date(2017, 2, 2)),
        ("80-06-18 13:27 SH01", dt.date(2018, 6, 30)),
        ("31.05.2925 16:20", dt.date(2025, 5, 31)),
        ("14/03/7025", dt.date(2025, 3, 14)),
    ],
)
def test_one_digit_is_repaired_if_a_single_date_is_possible(text: str, date: dt.date) -> None:
    assert [date] == [day.date for day in repaired(text)]


@pytest.mark.parametrize(
    "text",
    [
        "22/12/2017",
        "99/99/2017",
        "31/06/2017",
        "31.05.7125",
        "80-06-18",
        "1/80/2018/44",
        "03-7845 8155",
    ],
)
def test_a_valid_or_ambiguous_date_is_not_repaired(text: str) -> None:
    assert () == repaired(text)
