import pytest

from recibo.extract.layout.columns import cells, heading_kinds
from tests.extract.fields.foreign_receipts import rows_of

LEFT = """
Base Imponible     % IVA    Cuota IVA    Total Factura
100,00             21       21,00        121,00
"""
RIGHT = """
      Net          VAT          Total
   120.00        24.00         144.00
"""


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (LEFT, [{"subtotal"}, {"tax"}, {"tax"}, {"payable"}]),
        (RIGHT, [{"subtotal"}, {"tax"}, {"total"}]),
    ],
)
def test_an_amount_belongs_to_the_heading_above_it(text: str, kinds: list[set[str]]) -> None:
    above, row = rows_of(text)

    assert kinds == [set(heading_kinds(amount, row, above)) for amount in row.amounts]


def test_words_far_apart_are_not_one_label() -> None:
    """The heading of the last column is a total, although "VAT total" is a tax."""
    above, row = rows_of(RIGHT)

    assert heading_kinds(row.amounts[-1], row, above) == ("total",)


def test_a_column_without_a_label_has_that_of_the_nearest() -> None:
    above, row = rows_of("Goods    Total\n   4     12.50")

    assert heading_kinds(row.amounts[1], row, above) == ("total",)


def test_a_row_is_split_at_wide_gaps() -> None:
    (row,) = rows_of("Blue Heron Grill        Guest Check")

    assert cells(row) == ["Blue Heron Grill", "Guest Check"]
