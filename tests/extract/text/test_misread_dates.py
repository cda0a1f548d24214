import datetime as dt

import pytest

from recibo.extract.text.misread_dates import mended


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
def test_one_figure_is_put_right_where_one_date_is_left(text: str, date: dt.date) -> None:
    assert [date] == [day.date for day in mended(text)]


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
def test_what_is_a_date_or_none_or_several_is_left_alone(text: str) -> None:
    assert () == mended(text)
