import pytest

from recibo.extract.fields.category import categories
from recibo.extract.model import Category


@pytest.mark.parametrize(
    ("merchant", "category"),
    [
        ("AMAN HARDWARE SDN BHD", Category.HOME),
        ("BLUE HERON GRILL", Category.RESTAURANTS),
        ("Farmácia Central", Category.HEALTH),
        ("SUPERMERCADO AURORA", Category.GROCERIES),
        ("Hotel Linde", Category.LODGING),
    ],
)
def test_the_name_tells_the_category(merchant: str, category: Category) -> None:
    assert categories(merchant, [])[0] is category


def test_goods_tell_it_when_the_name_does_not() -> None:
    texts = ["MILK 2.00", "BREAD 3.00", "EGGS 4.00", "CHEESE 5.00"]

    assert categories("AMAN SDN BHD", texts)[0] is Category.GROCERIES


def test_unsure_is_none() -> None:
    assert categories("AMAN SDN BHD", ["THING 2.00"]) == ()
