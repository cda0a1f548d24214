from decimal import Decimal

import pytest

from recibo.extract.fields.items import details, item_name
from recibo.extract.layout import rows
from recibo.extract.layout.rows import Row
from tests.extract.typesetting import text_page


def _row(text: str) -> Row:
    (row,) = rows.of_pages([text_page(text)])
    return row


@pytest.mark.parametrize(
    ("text", "total", "qty_and_price"),
    [
        ("2 x 1,29", "2.58", ("2", "1.29")),
        ("0,535 kg x 18,90 EUR/kg", "10.11", ("0.535", "18.90")),
        ("0.812 kg NET @ $3.50/kg", "2.84", ("0.812", "3.50")),
        ("Qty 2 @ $3.00 each", "6.00", ("2", "3.00")),
        ("2 AT  1 FOR 1.98", "3.96", ("2", "1.98")),
        ("* 42,18 l    1,799 EUR/l", "75.88", ("42.18", "1.799")),
        ("38,42 Liter  1,729 EUR/L", "66.43", ("38.42", "1.729")),
        ("045643021 2@ 4.97", "9.94", ("2", "4.97")),
        ("2 X 1.250", "2500", ("2", "1250")),
        ("3 db x 249 Ft/db", "747", ("3", "249")),
        ("Qty 2 · $68.00 each", "136.00", ("2", "68.00")),
        ("Qty: 2    $68.00 each", "136.00", ("2", "68.00")),
        ("$68.00 each, quantity 2", "136.00", ("2", "68.00")),
        ("$68.00 × 2", "136.00", ("2", "68.00")),
        ("2 at $68.00", "136.00", ("2", "68.00")),
        ("Size: M | Qty: 2 | $68.00", "136.00", ("2", "68.00")),
        ("Menge: 2 · 34,00 € je Stück", "68.00", ("2", "34.00")),
        ("Qtd: 2 · R$ 34,00 cada", "68.00", ("2", "34.00")),
    ],
)
def test_quantity_and_price_of_a_total_are_read(
    text: str, total: str, qty_and_price: tuple[str, str]
) -> None:
    detail = details.read(_row(text))

    assert detail is not None
    assert tuple(map(Decimal, qty_and_price)) == detail.qty_and_price(Decimal(total))


def test_a_unit_price_alone_implies_the_quantity() -> None:
    detail = details.read(_row("@ 3.78"))

    assert detail is not None
    assert (Decimal(3), Decimal("3.78")) == detail.qty_and_price(Decimal("11.34"))
    assert detail.qty_and_price(Decimal("11.50")) is None


def test_a_labelled_quantity_and_price_are_a_detail() -> None:
    litres, price = (
        details.read_labelled(_row(text)) for text in ("Menge  16,39 L", "Preis/L 1,659")
    )

    assert litres is not None
    assert price is not None
    assert details.joined(litres, litres) is None
    detail = details.joined(litres, price)
    assert detail is not None
    assert (Decimal("16.39"), Decimal("1.659")) == detail.qty_and_price(Decimal("27.19"))


def test_a_row_that_disagrees_with_the_total_is_not_its_detail() -> None:
    detail = details.read(_row("2 x 1,29"))

    assert detail is not None
    assert detail.qty_and_price(Decimal("3.00")) is None


@pytest.mark.parametrize("text", ["COLA 2 x 1,29", "14.03.2026 19:02", "Table 4 Covers 2"])
def test_other_rows_are_not_details(text: str) -> None:
    assert details.read(_row(text)) is None


@pytest.mark.parametrize(
    ("text", "qty"), [("3 @ 3/$6.97   $6.97", 3), ("3 @ 2/$6.97   $6.97", None)]
)
def test_the_count_of_an_offer_is_proven_by_its_price(text: str, qty: int | None) -> None:
    row = _row(text)

    assert qty == details.count_of_offer(row, row.numbers[-1])


@pytest.mark.parametrize(
    ("text", "is_unit"), [("KG X", True), ("L x", True), ("BOX", False), ("AGUA X", False)]
)
def test_a_unit_before_a_sign_is_not_a_name(text: str, *, is_unit: bool) -> None:
    assert is_unit == item_name.is_unit_and_sign(text)
