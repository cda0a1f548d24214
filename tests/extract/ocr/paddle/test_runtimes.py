"""Lines are read by the runtime that was asked for, or else by the best that the machine has."""

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
    """A processor that gains from OpenVINO."""
    monkeypatch.setattr(openvino_network, "gains", lambda: True)


@pytest.mark.parametrize("runtime", [Runtime.ONNXRUNTIME, Runtime.OPENVINO])
def test_a_line_is_read_by_the_runtime_that_was_asked_for(runtime: Runtime) -> None:
    page = Image.new("RGB", (300, 48), "white")
    ImageDraw.Draw(page).text((8, 4), "TOTAL 12.50", "black", ImageFont.load_default(36))
    recogniser = runtimes.recogniser(runtime)

    (piece,) = recogniser(np.asarray(page))

    assert runtime is recogniser.runtime
    assert "TOTAL 12.50" == piece.text
    assert piece.confidence > 0.9


@pytest.mark.usefixtures("with_instructions")
def test_the_faster_runtime_is_taken_where_the_processor_gains() -> None:
    assert Runtime.OPENVINO is runtimes.recogniser(Runtime.AUTO).runtime


def test_the_portable_runtime_is_taken_where_the_processor_gains_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(openvino_network, "gains", lambda: False)

    assert Runtime.ONNXRUNTIME is runtimes.recogniser(Runtime.AUTO).runtime


@pytest.mark.usefixtures("with_instructions")
def test_a_runtime_that_reads_its_test_wrongly_is_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def turned(network: OpenVinoNetwork, batch: Tensor) -> Tensor:
        return answer(network, batch)[:, ::-1]

    answer = OpenVinoNetwork.__call__
    monkeypatch.setattr(OpenVinoNetwork, "__call__", turned)

    assert Runtime.ONNXRUNTIME is runtimes.recogniser(Runtime.AUTO).runtime


def test_without_the_package_the_portable_runtime_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    without_the_package(monkeypatch)

    assert Runtime.ONNXRUNTIME is runtimes.recogniser(Runtime.AUTO).runtime


def test_a_runtime_that_was_asked_for_and_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_the_package(monkeypatch)

    with pytest.raises(MissingModel, match="OpenVINO"):
        runtimes.recogniser(Runtime.OPENVINO)


def without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the import of OpenVINO fail."""
    monkeypatch.delattr(paddle, "openvino_network")
    monkeypatch.delitem(sys.modules, openvino_network.__name__)
    monkeypatch.setitem(sys.modules, "openvino", None)
