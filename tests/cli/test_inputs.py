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

    with inputs.documents(["a.jpg", "-", "-"]) as (first, stdin, again):
        assert first.path == Path("a.jpg")
        assert stdin.path.read_bytes() == b"a receipt"
        assert again == stdin
    assert not stdin.path.exists()


def test_stdin_without_end_is_not_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Stdin(b"\xff" * (MAX_BYTES + 100)))

    with inputs.documents(["-"]) as (stdin,):
        assert code_of(stdin.path) == "file_too_large"


def names(*given: str | Path) -> list[str]:
    with inputs.documents([str(one) for one in given]) as found:
        return [one.name for one in found]


def test_folder_is_its_documents_by_name(tmp_path: Path) -> None:
    for name in ("b.PDF", "a.jpg", "notes.txt", ".hidden.jpg", "in/c.heic", ".git/d.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    assert [f"{tmp_path}/{name}" for name in ("a.jpg", "b.PDF", "in/c.heic")] == names(tmp_path)


def test_results_of_a_folder_have_its_shape(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jpg").touch()

    with inputs.documents([str(tmp_path)]) as (found,):
        assert Path("in/a.jpg") == found.place


def test_links_in_a_folder_do_not_make_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").touch()
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "self.jpg").symlink_to("self.jpg")

    assert [f"{tmp_path}/a.jpg", f"{tmp_path}/self.jpg"] == names(tmp_path)
    assert "validation_error" == code_of(tmp_path / "self.jpg")


def test_pattern_is_what_it_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("a.pdf", "deep/er/b.pdf", ".c.pdf", "deep/[1].pdf", "new\nline.pdf"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)

    assert ["a.pdf", "new\nline.pdf"] == names("*.pdf")
    assert [f"{tmp_path}/a.pdf"] == names(f"{tmp_path}/a*.pdf")
    assert ["deep/[1].pdf", "deep/er/b.pdf"] == names("deep/**/*.pdf")
    assert ["deep/[1].pdf"] == names("deep/[1].pdf")
    assert ["none*.pdf"] == names("none*.pdf")
    assert ["**none"] == names("**none")


def test_pattern_names_each_file_once_and_hidden_ones_only_by_their_dot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.pdf", "in/deep/b.pdf", ".cache/c.pdf", "in/.cache/d.pdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)

    assert ["a.pdf", "in/deep/b.pdf"] == names("**/*")
    assert ["a.pdf", "in/deep/b.pdf"] == names("**/*.pdf")
    assert ["in/deep/b.pdf"] == names("in/**")
    assert [".cache/c.pdf"] == names(".c*/*.pdf")
    assert ["../" + tmp_path.name + "/a.pdf"] == names(f"../{tmp_path.name}/*.pdf")


def test_folder_without_documents_is_an_error(tmp_path: Path) -> None:
    assert [str(tmp_path)] == names(tmp_path)
    assert "validation_error" == code_of(tmp_path)
