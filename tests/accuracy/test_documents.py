"""Only missing documents skip the gate; broken ones fail it."""

import json
from pathlib import Path

import pytest

from tests.accuracy import documents


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with just enough documents."""
    folder = tmp_path / "data"
    images, others = folder / "sroie" / "img", folder / "documents"
    images.mkdir(parents=True)
    others.mkdir()
    for number in range(documents.SAMPLE):
        (images / f"{number}.jpg").write_bytes(b"jpeg")
        (others / f"{number}.pdf").write_bytes(b"pdf")
    listed = [{"id": str(n), "files": {"pdf": f"{n}.pdf"}} for n in range(documents.SAMPLE)]
    (others / "brazil.json").write_text(json.dumps(listed))
    (others / "international.json").write_text("[]")
    for name in documents.SCORERS:
        (folder / name).write_text("")
    return folder


def test_folder_that_is_there_is_sampled(folder: Path) -> None:
    assert documents.SAMPLE == len(documents.sample(folder))


def test_folder_that_is_missing_skips(tmp_path: Path) -> None:
    with pytest.raises(pytest.skip.Exception, match="RECIBO_ACCURACY_DATA"):
        documents.sample(tmp_path / "nowhere")


def test_empty_folder_fails(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        documents.sample(tmp_path)


def test_link_to_nowhere_fails(tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(tmp_path / "nowhere")

    with pytest.raises(FileNotFoundError):
        documents.sample(tmp_path / "data")


def test_scorer_that_is_missing_fails(folder: Path) -> None:
    (folder / "score_documents.py").unlink()

    with pytest.raises(FileNotFoundError):
        documents.sample(folder)


def test_document_that_cannot_be_read_fails(folder: Path) -> None:
    (folder / "sroie" / "img" / "0.jpg").unlink()
    (folder / "sroie" / "img" / "0.jpg").mkdir()

    with pytest.raises(IsADirectoryError):
        documents.sample(folder)


def test_too_few_documents_fail(folder: Path) -> None:
    for path in (folder / "sroie" / "img").iterdir():
        path.unlink()

    with pytest.raises(ValueError, match="too few"):
        documents.sample(folder)
