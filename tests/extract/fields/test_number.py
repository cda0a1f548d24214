import pytest

from recibo.extract.fields.number import numbers
from tests.extract.fields.papers_abroad import AMERICAN, GERMAN, MALAYSIAN, rows_of


def best(text: str) -> str | None:
    found = numbers(rows_of(text))
    return found[0].value if found else None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (MALAYSIAN, "CS00123"),
        (AMERICAN, "20417"),
        (GERMAN, "4711"),
        ("Rcpt#:A11000028385", "A11000028385"),
        ("Factura No. 2018/00042", "2018/00042"),
        ("BOLETA ELECTRONICA N 123456", "123456"),
        ("Facture n° F-2018-77", "F-2018-77"),
        ("Invoice No\nINV-7788", "INV-7788"),
        ("Invoice #: INV-2026-0042", "INV-2026-0042"),
        ("ADDITION #43O638", "430638"),
    ],
)
def test_the_number_beside_its_label_is_taken_as_printed(text: str, number: str) -> None:
    assert best(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "Tel No: 40069190",
        "Table No 12",
        "Invoice Date: 12/03/2018",
        "Receipt 14:35",
        "Receipt\nMar 14, 2026",
        "Ticket 2",
        "Invoice 12.50",
        "Member No: 123456",
    ],
)
def test_numbers_of_other_things_are_not(text: str) -> None:
    assert best(text) is None
