"""Only missing documents skip the gate; broken ones fail it."""

from pathlib import Path

import pytest

from tests.accuracy import sample
from tests.training import scored
from training.documents import Document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an image of each set, and text PDFs."""
    return scored.folder(tmp_path)


@pytest.fixture(autouse=True)
def _one_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "IMAGES", dict.fromkeys(sample.IMAGES, 1))


def chosen(folder: Path) -> list[Document]:
    return sample.sample(sample.load(folder))


def test_folder_that_is_there_is_sampled(folder: Path) -> None:
    found = [(document.data_set, document.kind) for document in chosen(folder)]

    listed = [(name, kind) for name in ("documents", "real-documents") for kind in ("scan", "pdf")]
    assert [("sroie", "scan"), *listed] == found


def test_folder_that_is_missing_skips(tmp_path: Path) -> None:
    with pytest.raises(pytest.skip.Exception, match="RECIBO_ACCURACY_DATA"):
        sample.load(tmp_path / "nowhere")


def test_empty_folder_fails(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sample.load(tmp_path)


def test_link_to_nowhere_fails(tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(tmp_path / "nowhere")

    with pytest.raises(FileNotFoundError):
        sample.load(tmp_path / "data")


@pytest.mark.parametrize("name", ["score_sroie.py", "real-documents/receipt.pdf"])
def test_scorer_or_document_that_is_missing_fails(folder: Path, name: str) -> None:
    (folder / name).unlink()

    with pytest.raises(FileNotFoundError):
        sample.measured(sample.load(folder), folder)


@pytest.mark.parametrize("name", ["sroie", "real-documents"])
def test_set_without_documents_fails(folder: Path, name: str) -> None:
    if name == "sroie":
        (folder / "sroie" / "img" / "001.jpg").unlink()
    else:
        (folder / name / "international.json").write_text("[]")

    with pytest.raises(ValueError, match=f"{name} has 0"):
        chosen(folder)
