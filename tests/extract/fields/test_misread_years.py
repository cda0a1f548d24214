import datetime as dt

import pytest

from recibo.extract.fields.misread_years import earliest, put_right
from recibo.extract.text import tables
from tests.extract.fields.foreign_receipts import rows_of

LAW = dt.date(2014, 6, 1)


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        (dt.date(2013, 5, 4), dt.date(2018, 5, 4)),
        # What could be two years, or none, is left as it was read.
        (dt.date(2010, 5, 4), dt.date(2010, 5, 4)),
        (dt.date(2012, 5, 4), dt.date(2012, 5, 4)),
        (dt.date(2008, 2, 29), dt.date(2008, 2, 29)),
        (dt.date(2017, 5, 4), dt.date(2017, 5, 4)),
    ],
)
def test_only_a_year_that_cannot_be_is_put_right(read: dt.date, meant: dt.date) -> None:
    assert put_right(read, LAW) == meant


def test_only_a_printed_tax_limits_the_date() -> None:
    malaysia = tables.countries()["MY"]

    assert earliest(rows_of("GST 6% 0.28"), malaysia) == LAW
    assert earliest(rows_of("GST 6% 0.28"), tables.countries()["SG"]) == dt.date.min
    assert earliest(rows_of("BUDGST 6% 0.28"), malaysia) == dt.date.min
    assert earliest(rows_of("GST 6% 0.28"), None) == dt.date.min
