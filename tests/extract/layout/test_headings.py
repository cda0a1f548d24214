import pytest

from recibo.extract.layout import headings, rows
from tests.extract.typesetting import text_page


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        (
            "Description    Total    Qty    Price    Total incl. VAT",
            ["Description", "Total", "Qty", "Price", "Total incl. VAT"],
        ),
        (
            "Subtotal    Description    total incl. VAT",
            ["Subtotal", "Description", "total incl. VAT"],
        ),
    ],
)
def test_a_qualifier_belongs_to_the_heading_before_it(text: str, texts: list[str]) -> None:
    (row,) = rows.of_pages([text_page(text)])

    found = headings.read(row)

    assert [heading.text for heading in found] == texts
    assert found[-1].x0 == row.x_at(row.text.rindex(texts[-1]))
