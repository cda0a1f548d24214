"""Has the scorers of a data folder judge what was read, and gathers their figures."""

import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from benchmarks.reliability import SURE, Verdict, percent
from recibo.extract.model import Extracted, LineItem, Receipt

#: The fields of a receipt that are scored, except its line items.
FIELDS = (
    *("total", "issued_at", "merchant_name", "merchant_tax_id", "subtotal", "tax", "currency"),
    *("document_number", "document_key", "type"),
)
# What the scorer of the scanned receipts calls the fields.
_SROIE_FIELDS = {"total": "total", "date": "issued_at", "merchant": "merchant_name"}

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
class Judgement:
    """What the scorers say: their figures, and what was missed."""

    sroie: Mapping[str, float]
    documents: Mapping[str, Mapping[str, float]]
    invented: int
    #: Files and fields.
    missed: frozenset[tuple[str, str]]
    #: By file the fields whose truth is known.
    asked: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Report:
    """What was measured, in percent."""

    #: total, date, merchant, all, and all_three: F1 on the scanned receipts.
    sroie: Mapping[str, float]
    #: By set of documents the share of right values by field, header for all of them.
    documents: Mapping[str, Mapping[str, float]]
    #: Fields that were given a value although the document has none.
    invented: int
    #: How sure the readings were as a whole, and whether their totals are right.
    verdicts: Sequence[Verdict]
    #: How sure they were of each field that was read and judged.
    by_field: Mapping[str, Sequence[Verdict]]

    @property
    def sure(self) -> float:
        """The part of the receipts that claim to be sure."""
        sure = sum(verdict.confidence >= SURE for verdict in self.verdicts)
        return percent(sure, len(self.verdicts))

    @property
    def right_when_sure(self) -> float:
        """The part of those whose total is right."""
        claims = [verdict for verdict in self.verdicts if verdict.confidence >= SURE]
        return percent(sum(verdict.is_right for verdict in claims), len(claims))


def spelled(receipt: Receipt) -> Reading:
    """Return a receipt as the scorers take it."""
    return {
        "type": receipt.type.value.value,
        "merchant_name": _text(receipt.merchant_name),
        "merchant_tax_id": _text(receipt.merchant_tax_id),
        "issued_at": receipt.issued_at.value.isoformat() if receipt.issued_at else None,
        "total": _text(receipt.total),
        "subtotal": _text(receipt.subtotal),
        "tax": _text(receipt.tax),
        "currency": _text(receipt.currency),
        "document_number": _text(receipt.document_number),
        "document_key": _text(receipt.document_key),
        "line_items": [_item(found.value) for found in receipt.line_items],
        "confidence": receipt.confidence,
        "confidences": {
            field: getattr(receipt, field).confidence for field in FIELDS if getattr(receipt, field)
        },
    }


def _text(found: Extracted[str] | Extracted[Decimal] | None) -> str | None:
    return str(found.value) if found else None


def _item(item: LineItem) -> dict[str, str | None]:
    figures = {"qty": item.qty, "unit_price": item.unit_price, "total": item.total}
    return {"name": item.name} | {
        name: None if figure is None else str(figure) for name, figure in figures.items()
    }


def judge(files: Sequence[Task], readings: Mapping[str, Reading], data: Path) -> Report:
    """Return what the scorers of `data` say of the readings, by key."""
    said = judgement(files, readings, data)
    read = {key: reading for key, reading in readings.items() if reading}
    verdicts = [
        Verdict(float(str(reading["confidence"])), is_right=(key, "total") not in said.missed)
        for key, reading in read.items()
    ]
    by_field: defaultdict[str, list[Verdict]] = defaultdict(list)
    for key, reading in read.items():
        for field, sure in confidences(reading).items():
            if field in said.asked[key]:
                verdict = Verdict(sure, is_right=(key, field) not in said.missed)
                by_field[field].append(verdict)
    return Report(said.sroie, said.documents, said.invented, verdicts, dict(by_field))


def judgement(files: Sequence[Task], readings: Mapping[str, Reading], data: Path) -> Judgement:
    """Return the figures of the scorers of `data`, and what they count as missed."""
    # The scorers work in a folder of their own.
    data = data.resolve()
    with tempfile.TemporaryDirectory() as folder:
        sroie, missed = _score_sroie(files, readings, data, Path(folder))
        documents, invented, others = _score_documents(files, readings, data, Path(folder))
    asked = {task.key: frozenset(_SROIE_FIELDS.values()) for task in files if task.is_sroie}
    asked |= {
        key: frozenset(set(document["truth"]) - set(document.get("unassessed") or []))
        for key, document in _documents(data).items()
    }
    return Judgement(sroie, documents, invented, frozenset(missed | others), asked)


def sellers(data: Path) -> dict[str, str]:
    """Return whom each file is from, as far as it is known."""
    names = {key: str(one["truth"]["merchant_name"]) for key, one in _documents(data).items()}
    for path in (data / "sroie" / "key").glob("*.json"):
        names[path.stem] = json.loads(path.read_text("utf-8", "replace"))["company"]
    return names


def confidences(reading: Reading) -> Mapping[str, float]:
    """Return how sure a reading is of each field that it gives."""
    return cast("Mapping[str, float]", reading["confidences"])


def _score_sroie(
    files: Sequence[Task], readings: Mapping[str, Reading], data: Path, folder: Path
) -> tuple[dict[str, float], set[tuple[str, str]]]:
    """Return the F1 of each field, and the images and fields that were missed."""
    images = [task.key for task in files if task.is_sroie]
    if not images:
        return {}, set()
    (folder / "split.txt").write_text("\n".join(images))
    lines = [json.dumps({"image": image, **readings[image]}) for image in images]
    (folder / "receipts.jsonl").write_text("\n".join(lines))
    scorer = [str(data / "score_sroie.py"), "--pred", "receipts.jsonl", "--split", "split.txt"]
    scorer += ["--keys", str(data / "sroie" / "key"), "--json", "--errors"]
    missed: set[tuple[str, str]] = set()
    figures = {}
    for name, field in _SROIE_FIELDS.items():
        done = _run([*scorer, name], folder)
        figures = json.loads(done.stdout)
        missed |= {(line.split()[0], field) for line in done.stderr.splitlines()}
    scores = {field: 100 * row["f1"] for field, row in figures["fields"].items()}
    scores["all_three"] = 100 * figures["all_three_right"]
    return scores, missed


def _score_documents(
    files: Sequence[Task], readings: Mapping[str, Reading], data: Path, folder: Path
) -> tuple[dict[str, dict[str, float]], int, set[tuple[str, str]]]:
    """Return the share of right values by set and field, those invented, and what was missed."""
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
    missed = {(f"{document}:{kind}", field) for document, kind, field, *_ in misses}
    return scores, int(invented[1]) if invented else 0, missed


def _documents(data: Path) -> dict[str, dict[str, Any]]:
    """Return the truth of each file of the documents."""
    return {
        f"{document['id']}:{kind}": document
        for name in ("brazil.json", "international.json")
        for document in json.loads((data / "documents" / name).read_text("utf-8"))
        for kind in document["files"]
    }


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
