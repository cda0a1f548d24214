"""Pages are set upright where the classifier of directions errs, too."""

import cv2
import numpy as np
import pytest

from recibo.extract.ocr.paddle.engine import PaddleEngine
from tests import drawing
from training.receipts.rolls import Row

ROWS = [
    Row("CORNER SHOP LIMITED", is_centred=True),
    Row("25 High Street, Springfield", is_centred=True),
    Row("Espresso doppio", "6.20"),
    Row("Butter croissant", "4.80"),
    Row("Mineral water", "2.10"),
    Row("TOTAL", "13.10"),
    Row("Thank you for your visit", is_centred=True),
]


@pytest.mark.parametrize("turns", [0, 2])
def test_a_blurred_picture_is_set_upright(turns: int) -> None:
    """The classifier takes these lines for lines on their heads; the text tells."""
    upright = np.asarray(drawing.picture(ROWS))
    blurred = np.asarray(cv2.GaussianBlur(upright, (0, 0), 4), dtype=np.uint8)

    reading = PaddleEngine().read(np.ascontiguousarray(np.rot90(blurred, turns)))

    assert turns == reading.turns
    assert "CORNER SHOP LIMITED" in [word.text for word in reading.words]
