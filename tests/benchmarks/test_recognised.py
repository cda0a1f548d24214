from pathlib import Path

import pytest

from benchmarks.recognised import How
from recibo.extract import pipeline
from recibo.extract.errors import ReadingError
from tests import make_documents


def test_what_is_kept_is_what_is_recognised(tmp_path: Path) -> None:
    file = tmp_path / "invoice.pdf"
    file.write_bytes(make_documents.till_receipt().pdf())
    fresh, keeping = How(), How(kept=tmp_path / "kept")

    first, second = keeping.recognised(file), keeping.recognised(file)

    assert fresh.recognised(file) == first == second
    assert pipeline.extract(file.read_bytes()) == pipeline.understand(second)


def test_what_is_kept_is_not_recognised_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "invoice.pdf"
    file.write_bytes(make_documents.till_receipt().pdf())
    keeping = How(kept=tmp_path / "kept")
    first = keeping.recognised(file)
    monkeypatch.delattr(pipeline, "recognise")

    assert keeping.recognised(file) == first


def test_a_file_that_is_refused_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_bytes(b"no document")
    keeping = How(kept=tmp_path / "kept")

    with pytest.raises(ReadingError):
        keeping.recognised(file)
    assert [] == list((tmp_path / "kept").iterdir())
