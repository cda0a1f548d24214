"""A later pass finds the words of an earlier one in its regions."""

import math

import pytest

from recibo.extract.model import Word
from recibo.extract.ocr.paddle.engine import KnownWords
from recibo.extract.ocr.paddle.regions import Region


def word(part: Region, *, is_vertical: bool = False) -> Word:
    """Return a word at the place of a region."""
    return Word("text", part.box, 0.99, slope=math.tan(part.angle), is_vertical=is_vertical)


@pytest.mark.parametrize("angle", [0.0, 0.26, -0.26])
def test_words_are_found_along_a_slanted_line(angle: float) -> None:
    line = Region(400, 300, 500, 24, angle)
    words = [word(line.part(0, 0.4)), word(line.part(0.5, 1))]

    assert words == KnownWords(words).inside(line)


@pytest.mark.parametrize("angle", [0.0, 0.26])
def test_words_of_the_next_lines_are_not(angle: float) -> None:
    line = Region(400, 300, 500, 24, angle)
    down = (-math.sin(angle) * 30, math.cos(angle) * 30)
    here, above, below = (
        word(line.moved(down[0] * rows, down[1] * rows).part(0.0, 1.0)) for rows in (0, -1, 1)
    )

    assert [here] == KnownWords([above, here, below]).inside(line)


@pytest.mark.parametrize(
    "other",
    [
        Region(400, 300, 300, 24, 0),
        Region(450, 300, 600, 24, 0),
        Region(400, 300, 500, 60, 0),
        Region(400, 300, 500, 12, 0),
    ],
    ids=["a part of it", "more than it", "larger print", "smaller print"],
)
def test_words_that_do_not_cover_a_region_are_not_known(other: Region) -> None:
    assert not KnownWords([word(other)]).inside(Region(400, 300, 500, 24, 0))


def test_vertical_words_are_never_known() -> None:
    vertical = Region(400, 300, 24, 500, 0, is_vertical=True)

    assert not KnownWords([word(vertical, is_vertical=True)]).inside(vertical)


def test_nothing_is_known_without_words() -> None:
    assert not KnownWords([]).inside(Region(400, 300, 500, 24, 0))
