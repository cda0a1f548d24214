from pathlib import Path

import pytest

from benchmarks.recognition import Recognition
from recibo.extract import pipeline
from recibo.extract.errors import ReadingError
from tests import make_documents


def test_cached_pages_are_the_recognized_ones(tmp_path: Path) -> None:
    file = tmp_path / "invoice.pdf"
    file.write_bytes(make_documents.till_receipt().pdf())
    fresh, caching = Recognition(), Recognition(cache=tmp_path / "cache")

    first, second = caching.pages(file), caching.pages(file)

    assert fresh.pages(file) == first == second
    assert pipeline.extract(file.read_bytes()) == pipeline.understand(second)


def test_cached_pages_are_not_recognized_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "invoice.pdf"
    file.write_bytes(make_documents.till_receipt().pdf())
    caching = Recognition(cache=tmp_path / "cache")
    first = caching.pages(file)
    monkeypatch.delattr(pipeline, "recognize")

    assert caching.pages(file) == first


def test_a_refused_file_is_not_cached(tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_bytes(b"no document")
    caching = Recognition(cache=tmp_path / "cache")

    with pytest.raises(ReadingError):
        caching.pages(file)
    assert [] == list((tmp_path / "cache").iterdir())
