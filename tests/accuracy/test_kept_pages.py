from pathlib import Path

import pytest

from tests.accuracy import kept_pages

RECOGNIZING = ("pipeline.py", "ocr/engine.py", "data/names.toml", "brazil/states.py")
LATER = ("fields/total.py", "resolve/vote.py", "data/weights/total.json")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A library of these files."""
    for name in (*RECOGNIZING, *LATER):
        path = tmp_path / "extract" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("before")
    (tmp_path / "main.txt").write_text("numpy==2.0")
    return tmp_path / "extract"


@pytest.mark.parametrize("name", [*RECOGNIZING, "../main.txt"])
def test_pages_are_recognized_again_after_a_change(library: Path, name: str) -> None:
    before = kept_pages.version(library, library.parent)
    (library / name).write_text("after")

    assert before != kept_pages.version(library, library.parent)


@pytest.mark.parametrize("name", LATER)
def test_pages_are_kept_if_only_later_stages_change(library: Path, name: str) -> None:
    before = kept_pages.version(library, library.parent)
    (library / name).write_text("after")

    assert before == kept_pages.version(library, library.parent)
