import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.extract.text.dates import days, times, without_separators

DATES = st.dates(dt.date(1990, 1, 1), dt.date(2059, 12, 31))
SHAPES = ["%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y", "%Y-%m-%d", "%d %b %Y", "%B %d, %Y", "%d-%b-%y"]


def dates(text: str) -> list[str]:
    return [day.date.isoformat() for day in days(text)]


@given(DATES, st.sampled_from(SHAPES))
def test_a_date_is_read_in_every_shape(date: dt.date, shape: str) -> None:
    if date.year < 2000 and "%y" in shape:
        return

    assert [day.date for day in days(f"Date: {date.strftime(shape)}")] == [date]


@given(st.text())
def test_any_text_can_be_asked_for_dates_and_times(text: str) -> None:
    assert all(day.start < day.end for day in days(text))
    assert all(clock.start < clock.end for clock in times(text, dotted=True))


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("ORD #50 -REG #19- 18/01/2018 10:27:03", "2018-01-18"),
        ("-REG #19-18/03/201823:02:16", "2018-03-18"),
        ("0478 002 3900 03/21/03 15:49", "2003-03-21"),
        ("----2003 CLOSED 24 Mar 18 09:58:26 PM", "2018-03-24"),
        ("25-12-1814:35", "2018-12-25"),
        ("27/06/185:02:32 PM", "2018-06-27"),
        ("l2/O5/2018", "2018-05-12"),
        ("Date: 12/02/201B", "2018-02-12"),
        ("DATE:1S/06/2017", "2017-06-15"),
        ("14 Mar Z018 18:40", "2018-03-14"),
        ("14/dun/2017", "2017-06-14"),
        ("2014年12月18日", "2014-12-18"),
        ("3 de marzo de 2018", "2018-03-03"),
        ("7. Mai 2014", "2014-05-07"),
        ("20 DISEMBER 2018", "2018-12-20"),
        ("Mar.05.19 12.50", "2019-03-05"),
        ("May 5, 19 12:10", "2019-05-05"),
        ("05 Mar 19 12.50", "2019-03-05"),
        ("12/05/19-14:30", "2019-05-12"),
        ("12.05.19 14.30", "2019-05-12"),
        ("Sat Mar 14 14:22:11 EST 2020", "2020-03-14"),
        ("14·03·2020", "2020-03-14"),
        ("12 Tem 2020", "2020-07-12"),
        ("14 března 2020", "2020-03-14"),
        ("2020. március 14.", "2020-03-14"),
        ("12 \u039c\u03b1\u03c1 2020", "2020-03-12"),
        ("14 марта 2020", "2020-03-14"),
        ("15/03/2566 14:20", "2023-03-15"),
        ("令和6年3月12日", "2024-03-12"),
        ("令和元年5月1日", "2019-05-01"),
        ("R6年3月12日", "2024-03-12"),
    ],
)
def test_a_date_is_found_among_other_text(text: str, date: str) -> None:
    assert dates(text) == [date]


@pytest.mark.parametrize(
    "text",
    [
        "1,23 4,56",
        "12.50 20.18",
        "03-12-3456",
        "400002 1.00 X 21.32",
        "31/02/2018",
        "START 14:05 END 14:27",
        "4 Soup of the Day 29.52",
        "Lunch Set 12.50",
        "Take Out 12,18",
        "Menú del día 4 12.964",
        "Soup of the day 5.00",
        "Bread of the day 3.00 12.00",
        "Mayo 5.00",
        "Set 8,00",
        "Mai 12.50",
        "Sat 6.50",
        "2 Mar 3.10",
        "2 Mar 10.50",
        "2 Jam 12",
        "2 Mar 12 24.00",
        "Open 9.30 - 18.00 Mon 5 Sat",
        "Open 9.30 - 18",
        "Terminal 03-14-25-01",
    ],
)
def test_other_text_is_not_read_as_a_date(text: str) -> None:
    assert dates(text) == []


def test_an_ambiguous_month_name_is_not_a_month() -> None:
    assert dates("14/jvn/2017") == ["2017-06-14"]
    assert dates("14/xxr/2017") == []


def test_the_preferred_order_decides_an_ambiguous_date() -> None:
    day_first, month_first = days("03/04/2018", ("dmy",))[0], days("03/04/2018", ("mdy",))[0]

    assert (day_first.date, month_first.date) == (dt.date(2018, 4, 3), dt.date(2018, 3, 4))
    assert day_first.is_ambiguous


def test_an_impossible_order_gives_way() -> None:
    assert days("25/12/2018", ("mdy",))[0].date == dt.date(2018, 12, 25)


def test_a_year_below_ten_comes_first_only_if_no_other_order_is_possible() -> None:
    assert days("08/11/22", ("ymd", "mdy"))[0].date == dt.date(2022, 8, 11)
    assert days("23/01/15", ("ymd", "mdy"))[0].date == dt.date(2023, 1, 15)


def test_eight_digits_are_a_date_only_if_asked_for() -> None:
    assert dates("27032018") == []
    assert [day.date for day in without_separators("27032018")] == [dt.date(2018, 3, 27)]


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("TIME:17:53", dt.time(17, 53)),
        ("2:35 PM", dt.time(14, 35)),
        ("12:05 am", dt.time(0, 5)),
        ("21h35", dt.time(21, 35)),
        ("25/12/201814:35:10", dt.time(14, 35, 10)),
        ("Sat Mar 14 14:22:11 2020", dt.time(14, 22, 11)),
        ("2024年3月12日 午後2時5分", dt.time(14, 5)),
        ("2023-05-11 오후 7:22", dt.time(19, 22)),
    ],
)
def test_a_time_is_read(text: str, time: dt.time) -> None:
    assert [clock.time for clock in times(text)] == [time]


def test_a_dotted_time_is_read_only_when_asked_or_named() -> None:
    assert times("14.35") == ()
    assert [clock.time for clock in times("2.5.2024 klo 9.41")] == [dt.time(9, 41)]
    assert [clock.time for clock in times("14.35", dotted=True)] == [dt.time(14, 35)]


def test_hours_of_work_before_their_price_are_not_a_time() -> None:
    assert times("Installation 2 h   57,50   115,00") == ()


@pytest.mark.parametrize("text", ["2 Mar. 5.00   10.00", "2 Mar. 5.20   10.40", "Dec. 6.05"])
def test_a_unit_price_after_a_months_name_is_not_a_date(text: str) -> None:
    assert dates(text) == []
    assert dates("Mar. 12.18") == ["2018-03-12"]
