"""Pictures are recognized once."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np
import pytest

from recibo.extract.model import Picture
from recibo.extract.ocr.paddle.detection import Detector
from recibo.extract.ocr.paddle.recognition import Piece, Recognizer
from recibo.extract.ocr.paddle.regions import Region


@pytest.fixture(autouse=True, scope="session")
def _same_pictures_have_the_same_answers() -> Iterator[None]:
    """Detect and recognize the same picture once, which took two fifths of the time.

    Many tests change a detail of the same receipt. Each detector and recognizer has its own
    answers, so those with other networks give theirs.
    """
    detect, recognize = Detector.__call__, Recognizer.__call__
    found = dict[tuple[object, ...], Sequence[Region]]()
    read = dict[tuple[object, ...], Sequence[Piece]]()

    def detect_once(self: Detector, picture: Picture, scale_factor: float = 1.0) -> list[Region]:
        key = (self, scale_factor, *_contents(picture))
        if key not in found:
            found[key] = detect(self, picture, scale_factor)
        return list(found[key])

    def recognize_once(self: Recognizer, line: Picture) -> list[Piece]:
        key = (self, *_contents(line))
        if key not in read:
            read[key] = recognize(self, line)
        return list(read[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Detector, "__call__", detect_once)
        patch.setattr(Recognizer, "__call__", recognize_once)
        yield


def _contents(picture: Picture) -> tuple[object, ...]:
    return picture.shape, blake2b(np.ascontiguousarray(picture).data).digest()
