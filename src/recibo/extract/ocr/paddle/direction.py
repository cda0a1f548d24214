"""Tells whether a line stands on its head."""

from collections.abc import Sequence

import cv2
import numpy as np

from recibo.extract.model import Picture
from recibo.extract.ocr.paddle.onnxruntime_network import OnnxRuntimeNetwork

MODEL = "ch_ppocr_mobile_v2.0_cls_mobile.onnx"

#: The input that the network was trained on.
HEIGHT, WIDTH = 48, 192


class DirectionClassifier:
    """Tells lines from lines turned by 180 degrees."""

    def __init__(self) -> None:
        self._network = OnnxRuntimeNetwork(MODEL)

    def __call__(self, lines: Sequence[Picture]) -> list[float]:
        """Return for each line of `HEIGHT` rows how likely it stands on its head."""
        batch = np.zeros((len(lines), 3, HEIGHT, WIDTH), dtype=np.float32)
        for slot, line in zip(batch, lines, strict=True):
            fitted = line if line.shape[1] <= WIDTH else cv2.resize(line, (WIDTH, HEIGHT))
            planes = fitted[:, :, ::-1].transpose(2, 0, 1) / np.float32(127.5) - 1
            slot[:, :, : fitted.shape[1]] = planes
        return [float(chance) for chance in self._network(batch)[:, 1]]
