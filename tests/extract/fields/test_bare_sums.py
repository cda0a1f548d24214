"""A sum without a label between the items and the tax."""

from decimal import Decimal

import pytest

from recibo.extract import pipeline
from tests.extract.typesetting import text_page

LUNCH = """
   HARBOUR CAFE
 26/11/2026 13:15
 Lunch plate              12.00
 Flat white                3.50
 Carrot cake               4.50
                          {bare}
 {below}                   4.00
 Total                    24.00
"""


@pytest.mark.parametrize(
    ("bare", "below", "subtotal"),
    [
        ("20.00", "VAT 20%", Decimal(20)),
        # Of no row, and with no tax below.
        ("21.00", "VAT 20%", None),
        ("20.00", "Parking", None),
    ],
)
def test_a_bare_sum_of_the_rows_above_a_tax_is_the_subtotal(
    bare: str, below: str, subtotal: Decimal | None
) -> None:
    receipt = pipeline.understand([[text_page(LUNCH.format(bare=bare, below=below))]])

    assert (receipt.subtotal and receipt.subtotal.value) == subtotal
