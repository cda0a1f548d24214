import pytest

from recibo.extract.layout.columns import cells, kinds_over
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
    ("paper", "kinds"),
    [
        (LEFT, [{"subtotal"}, {"tax"}, {"tax"}, {"payable"}]),
        (RIGHT, [{"subtotal"}, {"tax"}, {"total"}]),
    ],
)
def test_an_amount_belongs_to_the_heading_over_it(paper: str, kinds: list[set[str]]) -> None:
    above, row = rows_of(paper)

    assert kinds == [set(kinds_over(amount, row, above)) for amount in row.amounts]


def test_words_apart_make_no_label_together() -> None:
    """What stands over the last column is a total, though "VAT total" is a tax."""
    above, row = rows_of(RIGHT)

    assert kinds_over(row.amounts[-1], row, above) == ("total",)


def test_a_column_without_a_label_takes_that_of_the_nearest() -> None:
    above, row = rows_of("Goods    Total\n   4     12.50")

    assert kinds_over(row.amounts[1], row, above) == ("total",)


def test_a_row_parts_at_its_wide_gaps() -> None:
    (row,) = rows_of("Blue Heron Grill        Guest Check")

    assert cells(row) == ["Blue Heron Grill", "Guest Check"]
