"""Text is found, also on long pictures."""

import numpy as np
import pytest

from recibo.extract.ocr.paddle.detection import Detector
from tests import drawing
from training.receipts.strips import Row


@pytest.fixture(scope="module")
def detector() -> Detector:
    """The detector with its model loaded."""
    return Detector()


@pytest.mark.parametrize("turns", [0, 1])
def test_each_row_of_a_long_picture_is_found_once(detector: Detector, turns: int) -> None:
    """The picture is seven times as long as wide: shrunk in one, its rows would be too small."""
    strip = np.asarray(drawing.picture([Row(f"Coffee {number}") for number in range(130)]))

    found = detector(np.ascontiguousarray(np.rot90(strip[:, :620], turns)))

    assert 130 == len(found)


def test_nothing_is_found_on_a_blank_page(detector: Detector) -> None:
    assert detector(np.full((300, 300, 3), 255, np.uint8)) == []
