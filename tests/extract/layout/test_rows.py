from recibo.extract.layout.rows import rows
from tests.extract.typesetting import text_page


def test_a_part_of_a_line_has_its_own_box() -> None:
    (row,) = rows([text_page("TOTAL     12.50", exact=False)])

    total, amount = row.box(0, 5), row.box(6, 11)

    assert total.x1 < amount.x0
    assert row.line.box.x1 == amount.x1


def test_a_row_is_split_at_wide_gaps() -> None:
    (row,) = rows([text_page("Blue Heron Grill        Guest Check")])

    assert [cell.text for cell in row.cells()] == ["Blue Heron Grill", "Guest Check"]


def test_very_long_documents_are_read_at_both_ends() -> None:
    page = text_page("\n".join(f"ITEM {index:05d} OF AN ENDLESS PRINT" for index in range(3000)))

    kept = rows([page])

    assert len(kept) < 1500
    assert (kept[0].text[:10], kept[-1].text[:10]) == ("ITEM 00000", "ITEM 02999")
    assert [row.index for row in kept] == list(range(len(kept)))
