"""Models are found in the installation, or their lack is told."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from recibo.extract.engines.paddle import detection, direction, recognition, sessions
from recibo.extract.errors import MissingModel


@pytest.mark.parametrize("module", [detection, direction, recognition])
def test_the_models_are_installed(module: ModuleType) -> None:
    assert sessions.model_path(module.MODEL).stat().st_size > 100_000


def test_a_missing_model_is_named() -> None:
    with pytest.raises(MissingModel, match=r"other\.onnx"):
        sessions.open_model("other.onnx")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MODEL_PACKAGE", "a_package_that_is_not_there")

    with pytest.raises(MissingModel, match="a_package_that_is_not_there"):
        sessions.open_model(detection.MODEL)


def test_the_wheel_is_told_to_tell_nobody_before_it_is_imported(tmp_path: Path) -> None:
    told = "import os; print(os.environ.get('ORT_DISABLE_TELEMETRY'))"
    (tmp_path / "onnxruntime.py").write_text(f"class SessionOptions: ...\n{told}\n")
    command = (
        "import sys; sys.path.insert(0, sys.argv[1])\nimport recibo.extract.engines.paddle.sessions"
    )
    done = subprocess.run(
        [sys.executable, "-c", command, str(tmp_path)],
        env={},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "1\n" == done.stdout
