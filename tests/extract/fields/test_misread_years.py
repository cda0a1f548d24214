import datetime as dt

import pytest

from recibo.extract.fields.date import earliest_day, with_year_corrected
from recibo.extract.text import tables
from tests.extract.fields.foreign_receipts import rows_of

LAW = dt.date(2014, 6, 1)


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        (dt.date(2013, 5, 4), dt.date(2018, 5, 4)),
        # Without exactly one possible year, the date is not changed.
        (dt.date(2010, 5, 4), dt.date(2010, 5, 4)),
        (dt.date(2012, 5, 4), dt.date(2012, 5, 4)),
        (dt.date(2008, 2, 29), dt.date(2008, 2, 29)),
        (dt.date(2017, 5, 4), dt.date(2017, 5, 4)),
    ],
)
def test_only_an_impossible_year_is_repaired(read: dt.date, meant: dt.date) -> None:
    assert with_year_corrected(read, LAW) == meant


def test_only_a_printed_tax_limits_the_date() -> None:
    malaysia = tables.countries()["MY"]

    assert earliest_day(rows_of("GST 6% 0.28"), malaysia) == LAW
    assert earliest_day(rows_of("GST 6% 0.28"), tables.countries()["SG"]) == dt.date.min
    assert earliest_day(rows_of("BUDGST 6% 0.28"), malaysia) == dt.date.min
    assert earliest_day(rows_of("GST 6% 0.28"), None) == dt.date.min
