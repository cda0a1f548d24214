import pytest

from training.receipts.faces import COURIER, HELVETICA
from training.receipts.prints import Rule, Text
from training.receipts.strips import RULE, Cell, CodeRow, Row, Strip, set_rows


def test_a_row_of_fixed_columns_is_one_text_with_its_ends_at_the_margins() -> None:
    assert ["Milk" + " " * 34 + "1.15"] == list(set_rows([Row("Milk", "1.15")]).texts())


def test_a_row_in_a_proportional_face_has_one_text_per_end() -> None:
    strip = Strip(face=HELVETICA)
    left, right = (
        mark for mark in set_rows([Row("Milk", "1.15")], strip).marks() if isinstance(mark, Text)
    )

    assert ("Milk", strip.margin) == (left.text, left.left)
    assert strip.margin + strip.width == pytest.approx(right.left + right.width)


def test_ends_that_would_overlap_are_put_into_two_rows() -> None:
    long = "A name that takes nearly all of the room"

    assert [long, " " * 36 + "123.45"] == list(set_rows([Row(long, "123.45")]).texts())


def test_cells_that_would_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="has no room"):
        set_rows([Row("Quantity", cells=(Cell("12", 8, "right"),))])


@pytest.mark.parametrize(("face", "kind"), [(COURIER, Text), (HELVETICA, Rule)])
def test_a_rule_consists_of_characters_only_in_a_fixed_face(face: object, kind: type) -> None:
    strip = Strip(face=HELVETICA if face is HELVETICA else COURIER)
    (mark,) = set_rows([RULE], strip).marks()

    assert isinstance(mark, kind)


def test_a_strip_is_as_long_as_its_rows_and_codes() -> None:
    strip = Strip()
    (page,) = set_rows([Row("a"), CodeRow("QRCode", "b"), Row("c")], strip).pages
    height = 2 * strip.margin + 3 * strip.size * strip.pitch + strip.width / 2

    assert height == pytest.approx(page.height)
