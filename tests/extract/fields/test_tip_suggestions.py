import pytest

from recibo.extract.fields.labelled_amounts import entries, suggestions
from recibo.extract.fields.total import totals
from tests.extract.fields.foreign_receipts import rows_of

HEADED = """
Subtotal 39.50
Total 42.76
Suggested Tip:
18% 7.11   49.87
20% 7.90   50.66
Tip 4.11
Total 46.87
"""


@pytest.mark.parametrize(
    ("row", "is_offer"),
    [
        ("22% (Tip $8.69 Total $51.45)", True),
        ("Propina sugerida 10% 890", True),
        ("Gratuity 18% 7.11", False),
        ("Total 46.87", False),
    ],
)
def test_a_suggested_tip_is_distinguished_from_a_tip_that_was_given(
    row: str, is_offer: bool
) -> None:
    assert bool(suggestions(rows_of(row))) is is_offer


def test_the_shares_below_a_heading_are_offers_up_to_the_next_row_without_one() -> None:
    assert suggestions(rows_of(HEADED)) == {2, 3, 4}


def test_no_total_is_taken_from_an_offer() -> None:
    found = totals(entries(rows_of(HEADED)))

    assert str(found[0].value) == "46.87"
    assert all(total.confidence < found[0].confidence - 0.25 for total in found[1:])


@pytest.mark.parametrize(("paid", "is_offer"), [("203.22", False), ("186.00", True)])
def test_a_voluntary_tip_was_given_if_the_total_with_it_is_paid(
    paid: str, *, is_offer: bool
) -> None:
    printed = f"Total venta 186.00\nPropina voluntaria 17.22\nTotal a pagar 203.22\nTarjeta {paid}"

    assert bool(suggestions(rows_of(printed))) is is_offer
