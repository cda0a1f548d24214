"""Networks that run once for each picture."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np
import pytest

from recibo.extract.model import Picture
from recibo.extract.ocr.paddle.detection import Detector
from recibo.extract.ocr.paddle.onnxruntime_network import OnnxRuntimeNetwork
from recibo.extract.ocr.paddle.recognition import Piece, Recognizer
from recibo.extract.ocr.paddle.regions import Region


@pytest.fixture(autouse=True, scope="session")
def _same_pictures_have_the_same_answers() -> Iterator[None]:
    """Run no network of ONNX Runtime twice on the same picture, which took a quarter of the time.

    Many tests change a detail of the same receipt. Networks that a test replaces always run.
    """
    detect, recognize = Detector._detect, Recognizer.__call__  # noqa: SLF001
    found = dict[tuple[object, ...], Sequence[Region]]()
    read = dict[tuple[object, ...], Sequence[Piece]]()

    def detect_once(self: Detector, picture: Picture, scale: float) -> list[Region]:
        if type(self._network) is not OnnxRuntimeNetwork:
            return detect(self, picture, scale)
        if (key := (*_key(picture), scale)) not in found:
            found[key] = detect(self, picture, scale)
        return list(found[key])

    def recognize_once(self: Recognizer, line: Picture) -> list[Piece]:
        if type(self._network) is not OnnxRuntimeNetwork:
            return recognize(self, line)
        if (key := _key(line)) not in read:
            read[key] = recognize(self, line)
        return list(read[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Detector, "_detect", detect_once)
        patch.setattr(Recognizer, "__call__", recognize_once)
        yield


def _key(picture: Picture) -> tuple[object, ...]:
    return picture.shape, blake2b(np.ascontiguousarray(picture).data).digest()
