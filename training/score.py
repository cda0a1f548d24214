"""Scores the library on a folder of documents: `python -m training.score FOLDER`.

A name is right if it is similar, a number if its letters and digits are equal, a date as far as it
is printed; a field that is not printed is right if it is null. `items` are the documents of which
all items are right, `item` the single ones, as the scorer of the real documents counts them.
"""

import argparse
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from difflib import SequenceMatcher
from pathlib import Path
from typing import cast

from benchmarks import measuring
from benchmarks.scoring import spelled
from recibo.extract import errors, pipeline

_FIELDS = (
    *("type", "merchant_name", "merchant_tax_id", "issued_at", "total", "subtotal", "tax"),
    *("currency", "document_number", "document_key"),
)
_FIGURES = ("qty", "unit_price", "total")
_DIGITS_OF = {"date": 10, "minute": 16, "second": 19}
# Names at least this similar are right, as in the scorer of documents.
_SIMILAR = 0.85
_LEAST_PART = 5
# How similar an item that was read must be, and what the same total adds, as in that scorer.
_LEAST_LIKENESS, _SAME_TOTAL = 0.6, 0.3

Item = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Listed:
    """The scored part of an entry of a folder."""

    name: str
    kind: str
    language: str
    layout: str
    precision: str
    truth: Mapping[str, object]
    alternatives: Mapping[str, Sequence[str | None]]
    unassessed: Sequence[str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The value read for a field of a file, and whether it is right."""

    document: Listed
    look: str
    field: str
    is_right: bool
    expected: object
    read: object


def main() -> None:
    """Print the table and write the wrong values."""
    asked = _arguments()
    verdicts = score(asked.folder, jobs=asked.jobs)
    columns = (*_FIELDS, "items", "item")
    rows = [(title, *(_share(of, field) for field in columns)) for title, of in _groups(verdicts)]
    measuring.show("Right values, percent", ("", *(_short(name) for name in columns)), rows)
    if asked.misses:
        lines = [_line(verdict) for verdict in verdicts if not verdict.is_right]
        asked.misses.write_text("".join(lines), "utf-8")


def score(folder: Path, *, jobs: int = 1) -> list[Verdict]:
    """Read every file of the folder and score each field."""
    entries = json.loads((folder / "truth.json").read_text("utf-8"))
    files = [
        (listed(entry), look, folder / path)
        for entry in entries
        for look, path in entry["files"].items()
    ]
    paths = [path for _, _, path in files]
    if jobs == 1:
        readings: Iterable[dict[str, object]] = map(_read, paths)
    else:
        with ProcessPoolExecutor(jobs) as pool:
            readings = list(pool.map(_read, paths))
    judged = zip(files, readings, strict=True)
    return [
        one for (document, look, _), reading in judged for one in judge(document, look, reading)
    ]


def listed(entry: Mapping[str, object]) -> Listed:
    """Return an entry of `truth.json`."""
    return Listed(
        name=str(entry["id"]),
        kind=str(entry["kind"]),
        language=str(entry["language"]),
        layout=str(entry["layout"]),
        precision=str(entry["issued_at_precision"]),
        truth=cast("Mapping[str, object]", entry["truth"]),
        alternatives=cast("Mapping[str, Sequence[str | None]]", entry["alternatives"]),
        unassessed=cast("Sequence[str]", entry["unassessed"]),
    )


def judge(document: Listed, look: str, reading: Mapping[str, object]) -> list[Verdict]:
    """Score the fields of one file."""
    verdicts = []
    for field in _FIELDS:
        if field in document.unassessed:
            continue
        read = cast("str | None", reading.get(field))
        expected = cast("str | None", document.truth[field])
        values = (expected, *document.alternatives.get(field, ()))
        is_right = any(_equal(field, value, read, document.precision) for value in values)
        verdicts.append(Verdict(document, look, field, is_right, expected, read))
    if "line_items" not in document.unassessed:
        expected_items = cast("Sequence[Item]", document.truth["line_items"])
        read_items = cast("Sequence[Item]", reading.get("line_items") or ())
        is_right = _are_equal(expected_items, read_items)
        verdicts.append(Verdict(document, look, "items", is_right, expected_items, read_items))
        verdicts += [
            Verdict(
                document, look, "item", found is not None and _is_right(item, found), item, found
            )
            for item, found in zip(expected_items, _found(expected_items, read_items), strict=True)
        ]
    return verdicts


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.score", description=__doc__)
    parser.add_argument("folder", type=Path, help="what `python -m training.receipts` wrote")
    parser.add_argument("--jobs", type=int, default=1, help="processes to read in")
    parser.add_argument("--misses", type=Path, help="a file for what was read wrongly, JSON lines")
    return parser.parse_args()


def _read(path: Path) -> dict[str, object]:
    """Return the fields of a file; none if it cannot be read."""
    try:
        return dict(spelled(pipeline.extract(path.read_bytes())))
    except errors.ReadingError:
        return {}


def _equal(field: str, expected: str | None, read: str | None, precision: str) -> bool:
    if not expected or not read:
        return not expected and not read
    if field in {"total", "subtotal", "tax"}:
        return _amount(expected) == _amount(read)
    if field == "merchant_name":
        return _is_same_name(expected, read)
    if field in {"merchant_tax_id", "document_key", "document_number"}:
        return _signs(expected).lstrip("0") == _signs(read).lstrip("0")
    if field == "issued_at":
        length = _DIGITS_OF[precision]
        return expected[:length] == read[:length]
    return expected == read


def _are_equal(expected: Sequence[Item], read: Sequence[Item]) -> bool:
    """Return whether all items are right and in order, with every printed number."""
    return len(expected) == len(read) and all(map(_is_right, expected, read))


def _is_right(there: Item, here: Item) -> bool:
    """Return whether the name of an item and every printed number is right."""
    return _is_same_name(there["name"] or "", here["name"] or "") and all(
        _amount(there[figure]) == _amount(here[figure])
        for figure in _FIGURES
        if there[figure] is not None
    )


def _found(expected: Sequence[Item], read: Sequence[Item]) -> list[Item | None]:
    """Return what was read for each item: the most similar one that is left."""
    left, found = list(read), list[Item | None]()
    for item in expected:
        likeness, place = max(
            ((_likeness(item, one), place) for place, one in enumerate(left)), default=(0.0, 0)
        )
        found.append(left.pop(place) if likeness >= _LEAST_LIKENESS else None)
    return found


def _likeness(there: Item, here: Item) -> float:
    one, other = _signs(there["name"] or ""), _signs(here["name"] or "")
    is_same_total = there["total"] and _amount(there["total"]) == _amount(here["total"])
    ratio = SequenceMatcher(None, one, other, autojunk=False).ratio()
    return ratio + (_SAME_TOTAL if is_same_total else 0.0)


def _amount(text: str | None) -> Decimal | None:
    try:
        return Decimal(text or "")
    except InvalidOperation:
        return None


def _is_same_name(expected: str, read: str) -> bool:
    one, other = _signs(expected), _signs(read)
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= _LEAST_PART and shorter in longer:
        return True
    return one == other or SequenceMatcher(None, one, other, autojunk=False).ratio() >= _SIMILAR


def _signs(text: str) -> str:
    """Return the capital letters and the digits, without accents."""
    plain = unicodedata.normalize("NFKD", text)
    return re.sub(r"[^0-9A-Z]", "", plain.upper())


def _groups(verdicts: Sequence[Verdict]) -> list[tuple[str, list[Verdict]]]:
    """Return the verdicts of all, of each look and kind, and of each language."""
    by_title: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_title[f"{verdict.document.kind}, {verdict.look}"].append(verdict)
        by_title[verdict.document.language].append(verdict)
    return [("all", list(verdicts)), *sorted(by_title.items())]


def _share(verdicts: Sequence[Verdict], field: str) -> str:
    asked = [verdict.is_right for verdict in verdicts if verdict.field == field]
    return f"{100 * sum(asked) / len(asked):.0f}" if asked else "-"


def _short(field: str) -> str:
    return field.removeprefix("merchant_").removeprefix("document_").removeprefix("issued_")


def _line(verdict: Verdict) -> str:
    document = verdict.document
    miss = {
        "field": verdict.field,
        "document": document.name,
        "look": verdict.look,
        "layout": document.layout,
        "expected": verdict.expected,
        "read": verdict.read,
    }
    return json.dumps(miss, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
