"""Bent lines: they are found along their curve, and become straight pictures."""

import math

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.extract.ocr.paddle import curves, regions
from recibo.extract.ocr.paddle.regions import Region


def drawn(region: Region) -> npt.NDArray[np.int32]:
    """Return the contour of a region drawn on a picture."""
    mask = np.zeros((400, 700), np.uint8)
    cv2.fillPoly(mask, [region.outline().astype(np.int32)], 1)
    return contour(mask)


def contour(mask: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
    """Return the contour of the only spot on a picture."""
    (found,), _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    return np.asarray(found, dtype=np.int32)


@given(
    angle=st.floats(min_value=-0.3, max_value=0.3),
    bow=st.floats(min_value=12, max_value=60),
    is_down=st.booleans(),
)
def test_a_bent_line_is_found_along_its_curve(angle: float, bow: float, is_down: bool) -> None:
    bow *= 1 if is_down else -1
    line = Region(350, 200, 500, 14, angle, curve=(bow / 250**2, 0.0))
    outline = drawn(line)

    found = curves.bent(outline, regions.around(outline))

    assert found.is_bent
    assert found.height == pytest.approx(14, abs=3)
    for share in (0.1, 0.5, 0.9):
        one, other = line.part(share, share + 0.05), found.part(share, share + 0.05)
        assert math.dist((one.x, one.y), (other.x, other.y)) < 14
        assert one.angle == pytest.approx(other.angle, abs=0.05)


@pytest.mark.parametrize("bow", [0, 5])
def test_a_straight_line_stays_a_rectangle(bow: float) -> None:
    outline = drawn(Region(350, 200, 500, 14, 0.1, curve=(bow / 250**2, 0.0)))
    core = regions.around(outline)

    assert curves.bent(outline, core) == core


def test_two_lines_that_touch_are_no_curve() -> None:
    mask = np.zeros((400, 700), np.uint8)
    mask[100:114, 100:400] = 1
    mask[130:144, 100:600] = 1
    mask[100:144, 240:260] = 1
    outline = contour(mask)
    core = regions.around(outline)

    assert curves.bent(outline, core) == core


def test_a_bent_line_is_cut_out_straight() -> None:
    """It is red at its left half, and blue at its right."""
    line = Region(350, 200, 500, 30, 0.1, curve=(60 / 250**2, 0.0))
    picture = np.full((400, 700, 3), 255, np.uint8)
    cv2.fillPoly(picture, [line.outline().astype(np.int32)], (200, 0, 0))
    picture[:, 350:][picture[:, 350:, 1] == 0] = (0, 0, 200)

    cut = regions.cut(picture, Region(350, 200, 480, 20, 0.1, curve=line.curve), 48)

    assert (48, 1152, 3) == cut.shape
    assert [200, 0, 0] == cut[24, 20].tolist()
    assert [0, 0, 200] == cut[24, -20].tolist()
    assert int(cut.min(axis=2).max()) < 60


def test_a_curve_stays_in_place_when_its_picture_is_resized() -> None:
    line = Region(350, 200, 500, 30, 0.1, curve=(60 / 250**2, 20 / 250**3))

    assert line.scaled(2, 2).outline() == pytest.approx(2 * line.outline())
