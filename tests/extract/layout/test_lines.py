"""Words are grouped into visual rows, in reading order."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.extract.layout.lines import lines
from recibo.extract.model import Box, Word

HEIGHT = 20
PITCH = 28


def word(text: str, x: float, y: float, *, height: float = HEIGHT, slope: float = 0.0) -> Word:
    """Return a word that begins at `x` with its middle at `y`."""
    box = Box(x, y - height / 2, x + len(text) * height * 0.6, y + height / 2)
    return Word(text, box, 1.0, slope=slope)


def receipt(slope: float = 0.0, curl: float = 0.0, pitch: float = PITCH) -> list[Word]:
    """Return twelve rows of a label at the left and an amount far at the right."""

    def drop(x: float) -> float:
        return slope * x + curl * math.sin(x / 600 * math.pi)

    return [
        word(text, x, number * pitch + drop(x + len(text) * 6), slope=slope)
        for number in range(12)
        for text, x in ((f"LONG LABEL {number}", 20.0), (f"{number}.50", 540.0))
    ]


def texts(words: list[Word]) -> list[str]:
    """Return the text of each line."""
    return [line.text for line in lines(words)]


EXPECTED = [f"LONG LABEL {number} {number}.50" for number in range(12)]


def test_a_row_has_its_words_from_left_to_right() -> None:
    assert ["a b c"] == texts([word("c", 200, 10), word("a", 0, 10), word("b", 100, 11)])


@given(st.permutations(range(24)))
def test_the_order_of_the_words_does_not_matter(order: list[int]) -> None:
    words = receipt()

    assert texts([words[place] for place in order]) == EXPECTED


@pytest.mark.parametrize("degrees", [-10, -5, -2, 2, 5, 10])
def test_slanted_rows_are_followed(degrees: float) -> None:
    """At ten degrees an amount is three rows lower than its label."""
    assert texts(receipt(slope=math.tan(math.radians(degrees)))) == EXPECTED


@pytest.mark.parametrize("curl", [-10, 10])
def test_slightly_curved_rows_are_followed(curl: float) -> None:
    assert texts(receipt(curl=curl)) == EXPECTED


def test_rows_whose_slopes_differ_down_the_page_are_followed() -> None:
    """In a photo taken from the side, the rows diverge."""
    words = [
        word(text, x, number * 40 + slope * (x + len(text) * 6), slope=slope)
        for number in range(12)
        for slope in [0.01 * number]
        for text, x in ((f"LONG LABEL {number}", 20.0), (f"{number}.50", 540.0))
    ]

    assert texts(words) == EXPECTED


def test_rows_of_a_curved_sheet_are_followed() -> None:
    bend = -1.2e-4
    words = [
        word(text, x, number * PITCH + bend * middle**2, slope=2 * bend * middle)
        for number in range(12)
        for text, x in ((f"LONG LABEL {number}", 20.0), (f"{number}.50", 540.0))
        for middle in (x + len(text) * HEIGHT * 0.3,)
    ]

    assert texts(words) == [f"LONG LABEL {number} {number}.50" for number in range(12)]


def test_rows_of_a_folded_sheet_are_followed() -> None:
    """The slope changes in both directions, and short words are too short to show it."""

    def height(x: float, y: float) -> float:
        return y + 14 * math.sin(x / 150 + y / 200)

    words = [
        word(text, x, height(middle, y), slope=0.0 if len(text) < 4 else steep)
        for number in range(16)
        for y in [number * 30.0]
        for text, x in (
            (f"DESCRIPTION {number}", 20.0),
            ("2", 260.0),
            ("12,50", 400.0),
            (f"{number},00", 560.0),
        )
        for middle in [x + len(text) * HEIGHT * 0.3]
        for steep in [height(middle + 0.5, y) - height(middle - 0.5, y)]
    ]

    assert texts(words) == [f"DESCRIPTION {number} 2 12,50 {number},00" for number in range(16)]


#: The rows of a bowed receipt, from the top: text, left and right end, middle and slope of words.
BOWED = (
    (("TPS 812447190RT0001", 202, 578, 245, -0.022),),
    (("TVQ 1219448817TQ0001", 205, 600, 286, -0.011),),
    (("Facture: 20418", 132, 404, 329, 0.0), ("Table: 12", 475, 673, 324, -0.037)),
    (
        ("2026-02-14", 136, 373, 372, 0.0),
        ("Ida", 492, 667, 369, -0.044),
        ("A", 681, 847, 348, -0.107),
    ),
    (("2 Poutine", 139, 500, 415, -0.003), ("27,90", 666, 781, 391, -0.121)),
    (("1 Tartare saumon", 140, 445, 459, 0.0), ("24,50", 666, 785, 429, -0.125)),
    (("2 Cidre brut", 137, 535, 499, -0.014), ("21,00", 668, 789, 470, -0.105)),
    (("SOUS-TOTAL", 137, 338, 542, 0.032), ("73,40", 673, 791, 510, -0.083)),
    (("TPS 5%", 136, 267, 579, 0.083), ("3,67", 700, 793, 545, -0.086)),
    (("TVQ 9,975%", 134, 348, 620, 0.049), ("7,32", 704, 793, 583, -0.071)),
    (("TOTAL", 139, 251, 656, 0.072), ("84,39", 689, 797, 625, -0.056)),
    (("Pourboire", 141, 333, 699, 0.065), ("12,66", 692, 800, 669, -0.04)),
    (("MASTERCARD", 144, 352, 739, 0.048), ("97,05", 696, 805, 715, -0.026)),
    (("MERCI!", 148, 272, 778, 0.04),),
)


def test_amounts_that_are_one_row_off_are_moved_to_their_labels() -> None:
    words = [
        Word(text, Box(x0, y - 19, x1, y + 19), 1.0, slope=slope)
        for row in BOWED
        for text, x0, x1, y, slope in row
    ]

    assert texts(words) == [" ".join(text for text, *_ in row) for row in BOWED]


def test_tight_rows_are_kept_separate() -> None:
    assert texts(receipt(pitch=HEIGHT)) == EXPECTED


def test_a_large_amount_is_in_the_row_of_its_small_label() -> None:
    words = [word("TOTAL", 0, 100), word("12.50", 300, 95, height=48)]

    assert ["TOTAL 12.50"] == texts(words)


def test_words_of_two_sizes_on_one_baseline_share_a_row() -> None:
    assert ["R$ 12.50"] == texts([word("R$", 0, 110, height=20), word("12.50", 60, 96, height=48)])


def test_words_above_each_other_are_never_in_one_row() -> None:
    words = [word("ADDRESS", 0, 10), word("STREET 5", 0, 19), word("TEL 1", 300, 15)]

    assert 2 == len(lines(words))


def test_columns_with_interleaved_rows_are_kept_separate() -> None:
    left = [word(f"left {number}", 0, number * 40) for number in range(5)]
    right = [word(f"right {number}", 400, number * 40 + 20) for number in range(5)]

    assert sorted(word.text for word in left + right) == sorted(texts(left + right))


def test_vertical_words_come_last_in_separate_lines() -> None:
    stub = Word("RECEIVED FROM", Box(5, 0, 20, 300), 1.0, is_vertical=True)

    assert ["a b", "RECEIVED FROM"] == texts([stub, word("a", 100, 10), word("b", 200, 10)])


def test_a_line_spans_its_words_and_keeps_their_page() -> None:
    words = [
        Word("a", Box(0, 0, 10, 10), 1.0, page=3),
        Word("b", Box(50, 1, 60, 12), 1.0, page=3),
    ]

    (line,) = lines(words)

    assert Box(0, 0, 60, 12) == line.box
    assert line.page == 3


def test_words_without_a_height_are_in_a_line() -> None:
    """A text layer may have them; the others of the page are slanted."""
    flat = [Word("flat", Box(x, 5, x + 40, 5), 1.0, slope=0.1) for x in (0, 50)]

    found = lines([*flat, *receipt(slope=0.05)])

    assert {"flat"} <= {word.text for line in found for word in line.words}
    assert len(lines(flat)) == 1


def test_no_words_make_no_lines() -> None:
    assert lines([]) == ()


def test_every_word_is_in_one_line() -> None:
    """Whatever the layout, nothing is lost and nothing doubled."""
    chance = random.Random(7)
    words = [
        word(str(number), chance.uniform(0, 900), chance.uniform(0, 900), slope=0.01)
        for number in range(300)
    ]

    found = [word.text for line in lines(words) for word in line.words]

    assert sorted(found) == sorted(word.text for word in words)
