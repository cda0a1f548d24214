"""Regions: rotated rectangles, and the pictures cut from them."""

import math

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.extract.model import Picture
from recibo.extract.ocr.paddle import regions
from recibo.extract.ocr.paddle.regions import Region

lengths = st.floats(min_value=30, max_value=120)
leans = st.floats(min_value=-0.7, max_value=0.7)


def corners(region: Region) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Return the corners of a region."""
    degrees = math.degrees(region.angle)
    points = cv2.boxPoints(((region.x, region.y), (region.width, region.height), degrees))
    return np.asarray(points, dtype=np.float32)


@given(lengths, lengths, leans)
def test_a_region_is_found_again_around_its_corners(
    width: float, height: float, angle: float
) -> None:
    region = Region(200, 150, width, height, angle)

    found = regions.around(np.rint(corners(region)).astype(np.int32))

    assert abs(found.angle) <= math.pi / 4 + 1e-6
    assert (found.x, found.y) == pytest.approx((200, 150), abs=2)
    assert sorted((found.width, found.height)) == pytest.approx(sorted((width, height)), abs=4)


def striped(angle: float) -> Picture:
    """Return a picture with a slanted bar, red at its left half and blue at its right."""
    picture = np.full((200, 300, 3), 255, np.uint8)
    bar = Region(150, 100, 160, 30, angle)
    cv2.fillPoly(picture, [corners(bar).astype(np.int32)], (200, 0, 0))
    right = bar.part(0.5, 1)
    cv2.fillPoly(picture, [corners(right).astype(np.int32)], (0, 0, 200))
    return picture


@pytest.mark.parametrize("degrees", [-30, -5, 0, 5, 30])
def test_a_slanted_line_is_cut_out_straight(degrees: float) -> None:
    angle = math.radians(degrees)

    line = regions.cut(striped(angle), Region(150, 100, 150, 20, angle), 48)

    assert (48, 360, 3) == line.shape
    assert [200, 0, 0] == line[24, 20].tolist()
    assert [0, 0, 200] == line[24, -20].tolist()
    assert int(line.min(axis=2).max()) < 60


def test_vertical_text_becomes_horizontal() -> None:
    """The text runs down: its start, at the top, is on the left afterwards."""
    picture = np.full((300, 200, 3), 255, np.uint8)
    picture[:150] = (200, 0, 0)

    line = regions.cut(picture, Region(100, 150, 20, 280, 0.0, is_vertical=True), 48)

    assert (48, 672, 3) == line.shape
    assert [200, 0, 0] == line[24, 10].tolist()
    assert [255, 255, 255] == line[24, -10].tolist()


def test_a_region_beyond_the_edge_is_cut_with_the_edge_repeated() -> None:
    picture = np.full((50, 50, 3), 90, np.uint8)

    assert np.all(regions.cut(picture, Region(48, 48, 40, 20, 0.1), 48) == 90)


def test_parts_of_a_region_are_next_to_each_other() -> None:
    whole = Region(100, 100, 80, 10, 0.3)
    left, right = whole.part(0, 0.25), whole.part(0.25, 1)

    assert (20, 60) == (left.width, right.width)
    assert math.dist((left.x, left.y), (right.x, right.y)) == pytest.approx(40)
    assert left.x < whole.x < right.x


def test_only_runs_longer_than_a_line_is_thick_are_vertical() -> None:
    lines = [Region(100, 20 * number, 90, 12, 0.0) for number in range(5)]
    digit, stub = Region(10, 10, 7, 13, 0.0), Region(5, 100, 12, 150, 0.0)

    marked = regions.with_vertical([*lines, digit, stub])

    assert [stub.height] == [region.height for region in marked if region.is_vertical]
