"""Has the scorers of a data folder judge what was read, and gathers their figures."""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# Of the receipts that claim to be this sure, nearly all must have the right total.
SURE = 0.9

#: The fields of a reading by name, as the scorers take them; empty when it could not be read.
Reading = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Task:
    """One file to read."""

    #: What the scorer calls it: an image of SROIE, or a document and its kind.
    key: str
    path: Path
    is_sroie: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """How sure a reading was, and whether its total is right."""

    confidence: float
    is_total_right: bool


@dataclass(frozen=True, slots=True)
class Report:
    """What was measured, in percent."""

    #: total, date, merchant, all, and all_three: F1 on the scanned receipts.
    sroie: Mapping[str, float]
    #: By set of documents the share of right values by field, header for all of them.
    documents: Mapping[str, Mapping[str, float]]
    #: Fields that were given a value though the paper has none.
    invented: int
    verdicts: Sequence[Verdict]

    @property
    def sure(self) -> float:
        """The part of the receipts that claim to be sure."""
        return percent(verdict.confidence >= SURE for verdict in self.verdicts)

    @property
    def right_when_sure(self) -> float:
        """The part of those whose total is right."""
        claims = [verdict for verdict in self.verdicts if verdict.confidence >= SURE]
        return percent(verdict.is_total_right for verdict in claims)


def judge(files: Sequence[Task], readings: Mapping[str, Reading], data: Path) -> Report:
    """Return what the scorers of `data` say of the readings, by key."""
    # The scorers work in a folder of their own.
    data = data.resolve()
    with tempfile.TemporaryDirectory() as folder:
        sroie, missed_receipts = _score_sroie(files, readings, data, Path(folder))
        documents, invented, missed_documents = _score_documents(
            files, readings, data, Path(folder)
        )
    missed = missed_receipts | missed_documents
    verdicts = [
        Verdict(float(str(reading["confidence"])), is_total_right=key not in missed)
        for key, reading in readings.items()
        if reading
    ]
    return Report(sroie, documents, invented, verdicts)


def _score_sroie(
    files: Sequence[Task], readings: Mapping[str, Reading], data: Path, folder: Path
) -> tuple[dict[str, float], set[str]]:
    """Return the F1 of each field, and the images whose total was missed."""
    images = [task.key for task in files if task.is_sroie]
    if not images:
        return {}, set()
    (folder / "split.txt").write_text("\n".join(images))
    lines = [json.dumps({"image": image, **readings[image]}) for image in images]
    (folder / "receipts.jsonl").write_text("\n".join(lines))
    scorer = [str(data / "score_sroie.py"), "--pred", "receipts.jsonl", "--split", "split.txt"]
    done = _run(
        [*scorer, "--keys", str(data / "sroie" / "key"), "--json", "--errors", "total"], folder
    )
    figures = json.loads(done.stdout)
    scores = {field: 100 * row["f1"] for field, row in figures["fields"].items()}
    scores["all_three"] = 100 * figures["all_three_right"]
    return scores, {line.split()[0] for line in done.stderr.splitlines()}


def _score_documents(
    files: Sequence[Task], readings: Mapping[str, Reading], data: Path, folder: Path
) -> tuple[dict[str, dict[str, float]], int, set[str]]:
    """Return the share of right values by set and field, those invented, the missed totals."""
    keys = {task.key for task in files if not task.is_sroie}
    if not keys:
        return {}, 0, set()
    chosen = _documents_alone(data, keys, folder)
    (folder / "readings.json").write_text(json.dumps({key: readings[key] for key in keys}))
    done = _run([str(data / "score_documents.py"), str(chosen), "readings.json"], folder)
    sets = dict(
        re.findall(r"^(text PDFs|Brazil, images|foreign, images): (.*)$", done.stdout, re.MULTILINE)
    )
    scores = {
        name: {
            field.strip(): float(value)
            for field, value in re.findall(r"([a-z_ ]+?) ([\d.]+)(?![\d.])", row)
        }
        for name, row in sets.items()
    }
    invented = re.search(r"invented in all: (\d+)", done.stdout)
    misses = json.loads((folder / "misses.json").read_text("utf-8"))
    missed = {f"{document}:{kind}" for document, kind, field, *_ in misses if field == "total"}
    return scores, int(invented[1]) if invented else 0, missed


def _documents_alone(data: Path, keys: set[str], folder: Path) -> Path:
    """Write the truth of the chosen documents alone, since the scorer counts all it is shown."""
    chosen = folder / "chosen"
    chosen.mkdir()
    for name in ("brazil.json", "international.json"):
        documents = json.loads((data / "documents" / name).read_text("utf-8"))
        for document in documents:
            document["files"] = {
                kind: path
                for kind, path in document["files"].items()
                if f"{document['id']}:{kind}" in keys
            }
        (chosen / name).write_text(json.dumps(documents))
    return chosen


def _run(arguments: Sequence[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603  # a scorer of the data folder
        [sys.executable, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )


def percent(verdicts: Iterable[bool]) -> float:
    """Return how many of the verdicts are good."""
    counted = list(verdicts)
    return 100 * sum(counted) / len(counted) if counted else 0.0
