"""Pages are prepared for OCR."""

import numpy as np
import pytest

from recibo.extract.model import Page, Picture
from recibo.extract.ocr import preprocessing


def page(width: int, height: int) -> Page:
    """Return a page of this size whose pixels depend on their position."""
    picture = np.zeros((height, width, 3), np.uint8)
    picture[0, 0] = 255

    def draw(scale: float) -> Picture:
        assert scale == 1
        return picture

    return Page(1, width, height, draw)


@pytest.mark.parametrize(
    ("width", "height", "scale"),
    [
        (1000, 2000, 1.0),
        (1414, 2000, 1.0),
        (3000, 4000, 1414 / 3000),
        (4000, 3000, 1414 / 3000),
        (700, 9000, 800 / 700),
        (450, 900, 800 / 450),
        (100, 900, 2.0),
    ],
)
def test_pages_are_read_at_a_suitable_size(width: int, height: int, scale: float) -> None:
    assert preprocessing.reading_scale(page(width, height)) == pytest.approx(scale)


@pytest.mark.parametrize(
    ("turns", "size", "corner"),
    [
        (0, (30, 20), (0, 0)),
        (1, (20, 30), (0, 19)),
        (2, (30, 20), (19, 29)),
        (3, (20, 30), (29, 0)),
        (4, (30, 20), (0, 0)),
    ],
)
def test_a_page_is_rotated_clockwise(
    turns: int, size: tuple[int, int], corner: tuple[int, int]
) -> None:
    turned = preprocessing.turned(page(30, 20), turns)

    assert size == (turned.width, turned.height)
    assert turned.draw(1)[corner].tolist() == [255, 255, 255]


def test_even_lighting_removes_shadows_but_not_text() -> None:
    light = np.linspace(60, 250, 800).astype(np.uint8)
    text_page = np.repeat(np.repeat(light[np.newaxis, :, np.newaxis], 600, axis=0), 3, axis=2)
    text_page[::20, ::7] = text_page[::20, ::7] // 4

    flat = preprocessing.evenly_lit(text_page)

    assert flat[10:590, 10:790][5::20].min() > 230
    assert flat[20, 14:780:7].max() < 120
