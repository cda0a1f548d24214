"""Chooses the runtime that reads lines."""

import cv2
import numpy as np

from recibo.extract.errors import MissingModel
from recibo.extract.ocr.paddle.onnxruntime_network import OnnxRuntimeNetwork
from recibo.extract.ocr.paddle.recognition import HEIGHT, MODEL, Recognizer
from recibo.extract.ocr.runtime import Runtime

_TEST_TEXT = "TOTAL 123.45"


def recognizer(runtime: Runtime) -> Recognizer:
    """Return the recognizer of lines on a runtime.

    AUTO chooses OpenVINO if the processor has the instructions that make it faster and a test line
    is read correctly. The choice does not depend on a timing: on a busy machine, processes would
    choose differently, and read the same document differently.

    Raises:
        MissingModel: The model, or the requested runtime, is missing.
    """
    on_openvino = None
    if runtime is not Runtime.ONNXRUNTIME:
        on_openvino = _on_openvino(is_requested=runtime is Runtime.OPENVINO)
    return on_openvino or Recognizer(OnnxRuntimeNetwork(MODEL))


def _on_openvino(*, is_requested: bool) -> Recognizer | None:
    try:
        from recibo.extract.ocr.paddle import openvino_network
    except ImportError as e:
        if is_requested:
            raise MissingModel(f"OpenVINO cannot be loaded; install it again: {e}") from e
        return None
    if not (is_requested or openvino_network.is_faster()):
        return None
    found = Recognizer(openvino_network.OpenVinoNetwork(MODEL))
    return found if is_requested or _passes(found) else None


def _passes(tested: Recognizer) -> bool:
    """Return whether a test line is read correctly."""
    line = np.full((HEIGHT, 6 * HEIGHT, 3), 255, np.uint8)
    place, black = (HEIGHT // 6, HEIGHT * 3 // 4), (0, 0, 0)
    cv2.putText(line, _TEST_TEXT, place, cv2.FONT_HERSHEY_SIMPLEX, 1.0, black, 2, cv2.LINE_AA)
    return [piece.text for piece in tested(line)] == [_TEST_TEXT]
