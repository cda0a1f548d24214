import pytest

from recibo.extract.fields.date import moments
from recibo.extract.fields.locale_detection import locate
from tests.extract.fields.foreign_receipts import GERMAN, rows_of


def issued(text: str) -> str:
    rows = rows_of(text)
    return moments(rows, locate(rows))[0].value.isoformat()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2025-07-14T12:41:00+05:30", "2025-07-14T12:41:00+05:30"),
        ("2025-07-14T12:41+05:30", "2025-07-14T12:41:00+05:30"),
        ("2025-07-14T12:41:00.250-0300", "2025-07-14T12:41:00-03:00"),
        ("Date: 2025-07-14 12:41:00 -03:00", "2025-07-14T12:41:00-03:00"),
        ("Date: 2025-07-14 12:41 UTC+5:30", "2025-07-14T12:41:00+05:30"),
        ("14/07/2025 12:41 (GMT+2)", "2025-07-14T12:41:00+02:00"),
        ("14/07/2025 02:41 PM UTC-4", "2025-07-14T14:41:00-04:00"),
    ],
)
def test_a_printed_offset_is_kept(text: str, moment: str) -> None:
    assert issued(f"NET SHOP LTD\n{text}\nTotal 44.00") == moment


def test_a_printed_offset_outranks_that_of_the_place() -> None:
    text = GERMAN.replace("03.04.2019     Uhrzeit 14:35", "2019-04-03T14:35:00Z")

    assert issued(GERMAN) == "2019-04-03T14:35:00+02:00"
    assert issued(text) == "2019-04-03T14:35:00+00:00"


@pytest.mark.parametrize(
    "text",
    [
        "14/07/2025 09:00-12:00",
        "14/07/2025 09:00:00 - 12:00:00",
        "14/07/2025 09:00:00 Z 12",
        "14/07/2025 09:00:00-30:00",
        "14/07/2025 09:00 GMTEL",
    ],
)
def test_a_range_of_hours_is_not_an_offset(text: str) -> None:
    assert issued(f"NET SHOP LTD\n{text}\nTotal 44.00") == "2025-07-14T09:00:00+00:00"
