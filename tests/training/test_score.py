import json
from pathlib import Path

import pytest

from training import score
from training.receipts import kinds, looks
from training.receipts.faces import Case
from training.receipts.looks import Look

# Documents that must be read correctly, each with another layout.
DOCUMENTS = [
    ("read:1", "till", "en-US"),
    ("read:2", "till", "de-DE"),
    ("read:3", "till", "fr-FR"),
    ("read:16", "till", "nl-NL"),
    ("read:5", "till", "en-IN"),
    ("read:17", "restaurant", "it-IT"),
    ("read:7", "restaurant", "es-ES"),
    ("read:8", "restaurant", "pt-PT"),
    ("read:9", "restaurant", "en-CA"),
    ("read:10", "fuel", "de-AT"),
    ("read:11", "fuel", "en-GB"),
    ("read:12", "invoice", "de-DE"),
    ("read:13", "invoice", "en-AU"),
    ("read:14", "invoice", "fr-BE"),
    ("read:19", "invoice", "en-US"),
]


def written(folder: Path, seed: str, kind: str, language: str, look: Look) -> Path:
    document = kinds.make(seed, kind, language, Case())
    made = looks.file(document.print, look, 1)
    assert made
    name = f"document{made.suffix}"
    (folder / name).write_bytes(made.data)
    entry = document.listed("document", {look.value: name})
    (folder / "truth.json").write_text(json.dumps([entry]), "utf-8")
    return folder


@pytest.mark.parametrize(("seed", "kind", "language"), DOCUMENTS)
def test_a_generated_document_is_read_correctly(
    tmp_path: Path, seed: str, kind: str, language: str
) -> None:
    verdicts = score.score(written(tmp_path, seed, kind, language, Look.PDF))
    wrong = [verdict for verdict in verdicts if not verdict.is_right]

    assert not [(one.field, one.expected, one.read) for one in wrong]


@pytest.mark.parametrize("look", [Look.CLEAN, Look.PHOTO])
def test_a_picture_of_a_document_is_read(tmp_path: Path, look: Look) -> None:
    verdicts = score.score(written(tmp_path, "read:2", "till", "de-DE", look))
    right = {verdict.field for verdict in verdicts if verdict.is_right}

    assert {"type", "issued_at", "total", "currency"} <= right


@pytest.mark.parametrize(
    ("field", "read"),
    [("total", "1.00"), ("issued_at", None), ("merchant_name", "Another Shop"), ("items", [])],
)
def test_wrong_values_are_reported(tmp_path: Path, field: str, read: object) -> None:
    folder = written(tmp_path, "read:2", "till", "de-DE", Look.PDF)
    (entry,) = json.loads((folder / "truth.json").read_text("utf-8"))
    reading = entry["truth"] | {"line_items" if field == "items" else field: read}
    verdicts = score.judge(score.listed(entry), "pdf", reading)

    wrong = {verdict.field for verdict in verdicts if not verdict.is_right}
    assert wrong == ({"items", "item"} if field == "items" else {field})


def test_each_item_is_judged_alone(tmp_path: Path) -> None:
    folder = written(tmp_path, "read:2", "till", "de-DE", Look.PDF)
    (entry,) = json.loads((folder / "truth.json").read_text("utf-8"))
    first, *others = entry["truth"]["line_items"]
    reading = entry["truth"] | {"line_items": [*reversed(others), first | {"total": "0.01"}]}
    verdicts = score.judge(score.listed(entry), "pdf", reading)

    assert [one.is_right for one in verdicts if one.field == "items"] == [False]
    single = [one.is_right for one in verdicts if one.field == "item"]
    assert single == [False, *(True for _ in others)]
