"""Chooses the runtime that reads lines."""

import cv2
import numpy as np

from recibo.extract.errors import MissingModel
from recibo.extract.ocr.paddle.onnxruntime_network import OnnxRuntimeNetwork
from recibo.extract.ocr.paddle.recognition import HEIGHT, MODEL, Recogniser
from recibo.extract.ocr.runtime import Runtime

_TEST_TEXT = "TOTAL 123.45"


def recogniser(runtime: Runtime) -> Recogniser:
    """Return what reads lines.

    Left to itself it takes OpenVINO where the processor has the instructions that make it faster
    and a line drawn for the purpose is read rightly. No stopwatch decides: processes that start on
    a busy machine would choose differently, and read one paper in two ways.

    Raises:
        MissingModel: The model is missing, or the runtime that was asked for.
    """
    on_openvino = None
    if runtime is not Runtime.ONNXRUNTIME:
        on_openvino = _on_openvino(is_asked_for=runtime is Runtime.OPENVINO)
    return on_openvino or Recogniser(OnnxRuntimeNetwork(MODEL))


def _on_openvino(*, is_asked_for: bool) -> Recogniser | None:
    try:
        from recibo.extract.ocr.paddle import openvino_network
    except ImportError as e:
        if is_asked_for:
            raise MissingModel(f"OpenVINO cannot be loaded; install it again: {e}") from e
        return None
    if not (is_asked_for or openvino_network.gains()):
        return None
    found = Recogniser(openvino_network.OpenVinoNetwork(MODEL))
    return found if is_asked_for or _passes(found) else None


def _passes(tested: Recogniser) -> bool:
    """Tell whether a line drawn for the purpose is read rightly."""
    line = np.full((HEIGHT, 6 * HEIGHT, 3), 255, np.uint8)
    place, black = (HEIGHT // 6, HEIGHT * 3 // 4), (0, 0, 0)
    cv2.putText(line, _TEST_TEXT, place, cv2.FONT_HERSHEY_SIMPLEX, 1.0, black, 2, cv2.LINE_AA)
    return [piece.text for piece in tested(line)] == [_TEST_TEXT]
