"""Text is found, also on long pictures."""

import cv2
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


@pytest.mark.parametrize("share", [0.4, 0.5])
def test_a_small_receipt_on_a_large_picture_is_found(detector: Detector, share: float) -> None:
    """It is on a rough table; on the input of the network its lines are 4 and 5 pixels thick."""
    rows = [Row(f"Coffee and cake {number}", "6.20") for number in range(9)]
    receipt = np.asarray(drawing.picture(rows))
    height, width = (round(side * share) for side in receipt.shape[:2])
    stains = np.random.default_rng(0).normal(size=(2600, 3400, 3)).astype(np.float32)
    table = np.clip(100 + 400 * cv2.GaussianBlur(stains, (0, 0), 5), 0, 255).astype(np.uint8)
    table[1200 : 1200 + height, 1500 : 1500 + width] = cv2.resize(
        receipt, (width, height), interpolation=cv2.INTER_AREA
    )

    found = detector(table)

    assert 2 * len(rows) == len(found)
    assert all(1500 < region.x < 1500 + width for region in found)
    assert all(1200 < region.y < 1200 + height for region in found)


def test_nothing_is_found_on_a_blank_page(detector: Detector) -> None:
    assert detector(np.full((300, 300, 3), 255, np.uint8)) == []
