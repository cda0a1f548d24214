"""Readings to learn from: what spoke for each value, and whether it was right."""

import hashlib
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import accuracy, scoring
from benchmarks.recognised import How
from benchmarks.scoring import Task
from recibo.extract import errors, pipeline
from recibo.extract.fields import collect
from recibo.extract.model import Receipt, TextPage
from recibo.extract.resolve import assemble, confidence
from recibo.extract.resolve.confidence import Features
from training.confidence import damage

# How much each kind of sample counts: real damage as much as none, words misread on purpose less.
_SHARES = {"letters": 0.3, "more letters": 0.15, "lost words": 0.15, "cut off": 0.1}
_PICTURES = (".jpg", ".jpeg", ".png")
# A4 pages of these kinds take many seconds each, and no phone takes them.
_SHEETS = ("nfe", "nfse")
# Companies are told apart by so many letters of their names: branches and misprints stay together.
_LETTERS = 9


@dataclass(frozen=True, slots=True)
class Sample:
    """One value that was read."""

    #: The seller: no fold is tested on one that it learned from.
    group: str
    #: "clean", "damaged", or how its words were damaged.
    kind: str
    share: float
    features: Features
    #: How sure the finder was by itself.
    score: float
    is_right: bool


@dataclass(frozen=True, slots=True)
class _Reading:
    """A document as it was read."""

    receipt: Receipt
    features: Mapping[str, Features]


def samples(data: Path, kept: Path) -> dict[str, list[Sample]]:
    """Return the samples of each field that has weights.

    Args:
        data: The folder with both sets and their scorers.
        kept: A folder that keeps recognised pages, damaged and not; the first run takes an hour.
    """
    files = accuracy.tasks(data)
    groups = _groups(files, data)
    by_field: dict[str, list[Sample]] = {}
    for kind in ("clean", "damaged", *damage.WORD_DAMAGES):
        readings = {task.key: _read(text_pages) for task, text_pages in _sheets(files, kind, kept)}
        for field, sample in _judged(files, readings, data, kind, groups):
            by_field.setdefault(field, []).append(sample)
    return by_field


def _sheets(files: Sequence[Task], kind: str, kept: Path) -> Iterator[tuple[Task, list[TextPage]]]:
    """Yield the pages of the files that can be damaged in such a way."""
    for task in files:
        if kind == "damaged":
            if task.path.suffix.lower() in _PICTURES and not task.key.startswith(_SHEETS):
                yield task, _of_damaged(task, kept)
            continue
        text_pages = [looks[0] for looks in How(kept=kept).recognised(task.path)]
        if kind == "clean":
            yield task, text_pages
        elif not text_pages[0].is_exact or kind in ("lost words", "cut off"):
            # The words of a text layer are never misread.
            yield task, damage.words(text_pages, kind, task.key + kind)


def _of_damaged(task: Task, kept: Path) -> list[TextPage]:
    """Return what is recognised of a damaged picture; nothing where it is refused."""
    data = damage.picture(task.path.read_bytes(), "x" + task.key)
    file = kept / f"{hashlib.sha256(data).hexdigest()}.damaged"
    if not file.exists():
        try:
            pages = pipeline.recognise(data)
        except errors.ReadingError:
            pages = []
        file.write_bytes(pickle.dumps(pages))
    return [looks[0] for looks in pickle.loads(file.read_bytes())]  # noqa: S301  # our own


def _read(text_pages: Sequence[TextPage]) -> _Reading:
    candidates = collect.collect(text_pages)
    receipt = assemble.assemble(candidates)
    return _Reading(receipt, confidence.features(receipt, candidates, text_pages))


def _judged(
    files: Sequence[Task],
    readings: Mapping[str, _Reading],
    data: Path,
    kind: str,
    groups: Mapping[str, str],
) -> Iterator[tuple[str, Sample]]:
    """Yield the values that the scorers of `data` judge, with their fields."""
    read = [task for task in files if task.key in readings]
    spelled = {key: accuracy.spelled(reading.receipt) for key, reading in readings.items()}
    judgement = scoring.judgement(read, spelled, data)
    for key, reading in readings.items():
        for field, features in reading.features.items():
            if field in judgement.asked[key]:
                score = scoring.confidences(spelled[key])[field]
                is_right = (key, field) not in judgement.missed
                share = _SHARES.get(kind, 1.0)
                yield field, Sample(groups[key], kind, share, features, score, is_right)


def _groups(files: Sequence[Task], data: Path) -> dict[str, str]:
    names = scoring.sellers(data)
    squeezed = partial(re.sub, r"[\W_]+", "")
    return {task.key: squeezed(names[task.key].upper())[:_LETTERS] for task in files}
