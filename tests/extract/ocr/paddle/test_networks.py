"""Models are found in the installation and loaded by either runtime, or the error says why not."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from recibo.extract.errors import MissingModel
from recibo.extract.ocr.paddle import detection, networks, recognition
from recibo.extract.ocr.paddle.networks import Network
from recibo.extract.ocr.paddle.onnxruntime_network import OnnxRuntimeNetwork
from recibo.extract.ocr.paddle.openvino_network import OpenVinoNetwork

RUNTIMES = pytest.mark.parametrize("network_type", [OnnxRuntimeNetwork, OpenVinoNetwork])


@pytest.mark.parametrize("module", [detection, recognition])
def test_the_models_are_installed(module: ModuleType) -> None:
    assert networks.model_path(module.MODEL).stat().st_size > 100_000


@RUNTIMES
def test_the_error_names_a_missing_model(network_type: Callable[[str], Network]) -> None:
    with pytest.raises(MissingModel, match=r"other\.onnx"):
        network_type("other.onnx")


def test_the_error_names_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "MODEL_PACKAGE", "a_package_that_is_not_there")

    with pytest.raises(MissingModel, match="a_package_that_is_not_there"):
        OnnxRuntimeNetwork(detection.MODEL)


def test_runtimes_differ_only_by_rounding() -> None:
    batch = np.random.default_rng(3).uniform(-1, 1, (1, 3, 48, 192)).astype(np.float32)
    exact, fast = OnnxRuntimeNetwork(recognition.MODEL), OpenVinoNetwork(recognition.MODEL)

    np.testing.assert_allclose(fast(batch), exact(batch), atol=0.15)
    assert exact.metadata("character") == fast.metadata("character")


def test_telemetry_is_disabled_before_the_wheel_is_imported(tmp_path: Path) -> None:
    code = "import os; print(os.environ.get('ORT_DISABLE_TELEMETRY'))"
    (tmp_path / "onnxruntime.py").write_text(f"class SessionOptions: ...\n{code}\n")
    command = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import recibo.extract.ocr.paddle.onnxruntime_network"
    )
    done = subprocess.run(
        [sys.executable, "-c", command, str(tmp_path)],
        env={},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "1\n" == done.stdout
