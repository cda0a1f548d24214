"""Lines are read by the requested runtime, or else by the best available one."""

import sys

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from recibo.extract.errors import MissingModel
from recibo.extract.ocr import paddle
from recibo.extract.ocr.paddle import openvino_network, runtimes
from recibo.extract.ocr.paddle.networks import Tensor
from recibo.extract.ocr.paddle.openvino_network import OpenVinoNetwork
from recibo.extract.ocr.runtime import Runtime


@pytest.fixture
def with_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor on which OpenVINO is faster."""
    monkeypatch.setattr(openvino_network, "is_faster", lambda: True)


@pytest.mark.parametrize("runtime", [Runtime.ONNXRUNTIME, Runtime.OPENVINO])
def test_a_line_is_read_by_the_requested_runtime(runtime: Runtime) -> None:
    page = Image.new("RGB", (300, 48), "white")
    ImageDraw.Draw(page).text((8, 4), "TOTAL 12.50", "black", ImageFont.load_default(36))
    recognizer = runtimes.recognizer(runtime)

    (piece,) = recognizer(np.asarray(page))

    assert runtime is recognizer.runtime
    assert "TOTAL 12.50" == piece.text
    assert piece.confidence > 0.9


@pytest.mark.usefixtures("with_instructions")
def test_openvino_is_chosen_if_it_is_faster() -> None:
    assert Runtime.OPENVINO is runtimes.recognizer(Runtime.AUTO).runtime


def test_onnx_runtime_is_chosen_if_openvino_is_not_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(openvino_network, "is_faster", lambda: False)

    assert Runtime.ONNXRUNTIME is runtimes.recognizer(Runtime.AUTO).runtime


@pytest.mark.usefixtures("with_instructions")
def test_a_runtime_that_misreads_its_test_is_not_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def turned(network: OpenVinoNetwork, batch: Tensor) -> Tensor:
        return answer(network, batch)[:, ::-1]

    answer = OpenVinoNetwork.__call__
    monkeypatch.setattr(OpenVinoNetwork, "__call__", turned)

    assert Runtime.ONNXRUNTIME is runtimes.recognizer(Runtime.AUTO).runtime


def test_without_its_package_openvino_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    without_the_package(monkeypatch)

    assert Runtime.ONNXRUNTIME is runtimes.recognizer(Runtime.AUTO).runtime


def test_the_error_names_a_missing_requested_runtime(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_the_package(monkeypatch)

    with pytest.raises(MissingModel, match="OpenVINO"):
        runtimes.recognizer(Runtime.OPENVINO)


def without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the import of OpenVINO fail."""
    monkeypatch.delattr(paddle, "openvino_network")
    monkeypatch.delitem(sys.modules, openvino_network.__name__)
    monkeypatch.setitem(sys.modules, "openvino", None)
