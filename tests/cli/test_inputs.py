"""Inputs that are refused before reading."""

import io
import os
from pathlib import Path

import pytest

from recibo.cli import inputs
from recibo.errors import ServiceError
from recibo.extract.document.limits import MAX_BYTES


class Stdin:
    """Replaces the process's stdin."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def code_of(path: Path) -> str:
    with pytest.raises(ServiceError) as caught:
        inputs.check(path)
    assert caught.value.message.endswith(".")
    return caught.value.code


def file_of(size: int, folder: Path) -> Path:
    path = folder / "large.jpg"
    with path.open("wb") as file:
        file.truncate(size)
    return path


def test_file_of_exactly_the_largest_size_passes(tmp_path: Path) -> None:
    inputs.check(file_of(MAX_BYTES, tmp_path))


def test_larger_file_is_too_large(tmp_path: Path) -> None:
    assert code_of(file_of(MAX_BYTES + 1, tmp_path)) == "file_too_large"


def test_missing_file_folder_and_pipe_are_no_valid_input(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert code_of(tmp_path / "none.jpg") == "validation_error"
    assert code_of(tmp_path) == "validation_error"
    assert code_of(tmp_path / "pipe") == "validation_error"
    assert code_of(Path("/dev/zero")) == "validation_error"
    assert code_of(tmp_path / ("long" * 100)) == "validation_error"


def test_unreadable_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of(10, tmp_path)

    def refuse(*_: object) -> None:
        raise PermissionError

    # Modes do not bind root, under whom tests may run.
    monkeypatch.setattr(Path, "open", refuse)

    assert code_of(path) == "validation_error"


def test_names_are_paths_and_a_hyphen_is_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Stdin(b"a receipt"))

    with inputs.paths(["a.jpg", "-", "-"]) as (first, stdin, again):
        assert first == Path("a.jpg")
        assert stdin.read_bytes() == b"a receipt"
        assert again == stdin
    assert not stdin.exists()


def test_stdin_without_end_is_not_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Stdin(b"\xff" * (MAX_BYTES + 100)))

    with inputs.paths(["-"]) as (stdin,):
        assert code_of(stdin) == "file_too_large"
