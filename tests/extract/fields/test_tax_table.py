from decimal import Decimal

from recibo.extract.fields.tax_table import splits
from tests.extract.fields.papers_abroad import rows_of

TOTAL = [Decimal("11.50")]


def test_a_row_that_adds_up_to_the_total_splits_it_in_any_order() -> None:
    (split,) = splits(rows_of("MWST BRUTTO NETTO\nB 7,0% 0,75 11,50 10,75"), TOTAL)

    assert (str(split.net.value), str(split.tax.value)) == ("10.75", "0.75")


def test_goods_that_happen_to_add_up_split_nothing() -> None:
    assert splits(rows_of("APPLES 10,75 0,75\nTOTAL 11,50"), TOTAL) == ()
