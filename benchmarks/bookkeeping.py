"""Measures how well the bookkeeping fields are read: `python -m benchmarks.bookkeeping DATA`.

These are the parties, the due date, the details of the amounts and of the line items. The truth is
in `tests/accuracy/bookkeeping.jsonl`, the documents are in a data folder. `--leave-out` reads each
document with weights that were fitted without its source. Generated documents, in a folder that
`python -m training.receipts` wrote, have their own truth.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from benchmarks import accuracy, bookkeeping_truth, measuring
from benchmarks.bookkeeping_truth import (
    FIELDS,
    FILE,
    ITEM_FIELDS,
    LISTS,
    UNKNOWN,
    Truth,
    normalized,
)
from benchmarks.recognition import Recognition
from benchmarks.reliability import percent
from recibo.extract.model import LineItem, Receipt
from training import documents
from training.cross_fit import ByField
from training.documents import Document
from training.fields.registry import FITTERS

RIGHT, WRONG, MISSING, INVENTED, ABSENT = "right", "wrong", "missing", "invented", "absent"
# Items whose names differ more are not the same.
_SIMILAR = 0.6

#: A reading by field: texts, and lists of mappings.
Reading = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mark:
    """The result of one value of a document."""

    document: Document
    field: str
    #: `right`, `wrong`, `missing`, `invented` or `absent`.
    outcome: str
    #: The value and its confidence.
    read: object = None
    confidence: float | None = None


def main() -> None:
    """Measure and print the tables."""
    asked = _arguments()
    if not asked.data.exists():
        print(f"no documents to measure on: {asked.data} does not exist")
        return
    recognition, held_out = Recognition(cache=asked.kept), {}
    if (asked.data / documents.GENERATED_LIST).exists():
        every = documents.load_generated(asked.data, recognition)
        show(measure(every, bookkeeping_truth.of_generated(asked.data), jobs=asked.jobs))
        return
    every = documents.load(asked.data, recognition)
    if asked.leave_out is not None:
        held_out = accuracy.held_out_weights(every, asked.leave_out, jobs=asked.jobs)
    marks = measure(every, bookkeeping_truth.load(asked.truth), held_out=held_out, jobs=asked.jobs)
    show(marks)
    if asked.misses:
        asked.misses.write_text("".join(map(_line, marks)), "utf-8")


def measure(
    every: Sequence[Document],
    truths: Mapping[str, Truth],
    *,
    held_out: Mapping[str, ByField] | None = None,
    jobs: int = 1,
) -> list[Mark]:
    """Read the documents with a truth, with other weights if given, and score the results."""
    known = [document for document in every if name_of(document) in truths]
    return score(known, accuracy.read(known, held_out=held_out, jobs=jobs), truths)


def score(
    documents: Sequence[Document],
    receipts: Sequence[Receipt | None],
    truths: Mapping[str, Truth],
) -> list[Mark]:
    """Score what was read of the documents that have a truth."""
    return [
        mark
        for document, receipt in zip(documents, receipts, strict=True)
        if (truth := truths.get(name_of(document)))
        for mark in judge(document, truth, spelled(receipt) if receipt else {})
    ]


def name_of(document: Document) -> str:
    """Return the key of a document without the kind of its file."""
    return document.key.split(":")[0]


def judge(document: Document, truth: Truth, reading: Reading) -> Iterator[Mark]:
    """Yield the result of each value."""
    sure = reading.get("confidences", {})
    for field in truth.values:
        read = reading.get(field)
        is_printed, is_right = truth.is_printed(field), truth.is_right(field, read)
        outcome = _outcome(is_printed=is_printed, is_right=is_right, is_read=read is not None)
        yield Mark(document, field, outcome, read, sure.get(field))
    for field, expected in truth.lists.items():
        yield from _judge_list(document, field, expected, reading.get(field, ()))
    if truth.items is not None:
        yield from _judge_items(document, truth.items, reading.get("line_items", ()))


def show(marks: Sequence[Mark]) -> None:
    """Print a table of all sets, and one for each set."""
    by_set: dict[str, list[Mark]] = defaultdict(list)
    for mark in marks:
        by_set[set_name(mark.document)].append(mark)
    columns = ("field", "printed", RIGHT, WRONG, MISSING, "not printed", INVENTED)
    for title, own in [("all", list(marks)), *sorted(by_set.items())]:
        rows = [_row(field, figures) for field, figures in counts(own).items()]
        measuring.show(f"{title}: percent of the printed and of the others", columns, rows)


def counts(marks: Sequence[Mark]) -> dict[str, Counter[str]]:
    """Return how often each outcome occurs, by field."""
    names = (*FIELDS, *LISTS, *(f"items.{field}" for field in ITEM_FIELDS))
    by_field: dict[str, Counter[str]] = {name: Counter() for name in names}
    for mark in marks:
        by_field[mark.field][mark.outcome] += 1
    return {field: figures for field, figures in by_field.items() if figures}


def share_right(figures: Counter[str]) -> float:
    """Return the right values in percent of those that are printed."""
    return percent(figures[RIGHT], figures[RIGHT] + figures[WRONG] + figures[MISSING])


def share_invented(figures: Counter[str]) -> float:
    """Return the values that were read in percent of those that are not printed."""
    return percent(figures[INVENTED], figures[INVENTED] + figures[ABSENT])


def set_name(document: Document) -> str:
    """Return the table for a document: its set, and whether it is a text PDF."""
    kind = "text PDFs" if document.kind == "pdf" else "images"
    return f"{document.data_set}: {kind}"


def spelled(receipt: Receipt) -> Reading:
    """Return the bookkeeping fields of a receipt as texts."""
    details = receipt.details
    found = {field: getattr(details, field) for field in FIELDS}
    taxes = [tax.value for tax in details.taxes]
    return {
        **{field: None if one is None else str(one.value) for field, one in found.items()},
        "confidences": {field: one.confidence for field, one in found.items() if one},
        "taxes": [
            {
                "rate": _text(tax.rate),
                "base": _text(tax.base),
                "amount": _text(tax.amount),
                "informational": tax.is_informational,
            }
            for tax in taxes
        ],
        "payments": [
            {
                "method": one.value.method.value,
                "amount": _text(one.value.amount),
                "tendered": _text(one.value.tendered),
                "last4": one.value.last4,
            }
            for one in details.payments
        ],
        "line_items": [_item(found.value) for found in receipt.line_items],
    }


def _outcome(*, is_printed: bool, is_right: bool, is_read: bool) -> str:
    if not is_printed:
        return INVENTED if is_read else ABSENT
    return RIGHT if is_right else WRONG if is_read else MISSING


def _judge_list(
    document: Document,
    field: str,
    expected: Sequence[Mapping[str, Any]],
    read: Sequence[Mapping[str, Any]],
) -> Iterator[Mark]:
    """Yield the result of each entry; further entries are wrong if others are printed."""
    if not expected:
        yield Mark(document, field, INVENTED if read else ABSENT, read)
    for one, other in bookkeeping_truth.matched(field, expected, read) if expected else ():
        if one is None or other is None:
            yield Mark(document, field, WRONG if one is None else MISSING, other)
        else:
            is_right = bookkeeping_truth.agreement(field, one, other) == 1
            yield Mark(document, field, RIGHT if is_right else WRONG, other)


def _judge_items(
    document: Document, expected: Sequence[Mapping[str, str | None]], read: Sequence[Reading]
) -> Iterator[Mark]:
    """Yield the result of the details of each line item; those of unread items are missing."""
    paired = dict(_paired(document.truth["line_items"] or (), read))
    for index, details in enumerate(expected):
        own = paired.get(index, {})
        for field in ITEM_FIELDS:
            value, printed = details[field], own.get(field)
            if value == UNKNOWN:
                continue
            is_right = bookkeeping_truth.is_item_right(field, value, printed)
            outcome = _outcome(
                is_printed=value is not None, is_right=is_right, is_read=printed is not None
            )
            yield Mark(document, f"items.{field}", outcome, f"{index}: {printed}")


def _paired(items: Sequence[Reading], read: Sequence[Reading]) -> Iterator[tuple[int, Reading]]:
    """Yield the index of each line item in the truth, with the one that was read."""
    left = list(read)
    for index, item in enumerate(items):
        best = max(left, key=lambda one: _similarity(item, one), default=None)
        if best is not None and _similarity(item, best) >= _SIMILAR:
            left.remove(best)
            yield index, best


def _similarity(item: Reading, read: Reading) -> float:
    names = normalized(item["name"] or ""), normalized(read["name"] or "")
    is_same_total = item["total"] is not None and item["total"] == read["total"]
    return SequenceMatcher(None, *names, autojunk=False).ratio() + 0.3 * is_same_total


def _item(item: LineItem) -> dict[str, str | None]:
    return {
        "name": item.name,
        "total": _text(item.total),
        "code": item.code,
        "unit": item.unit,
        "tax_rate": _text(item.tax_rate),
        "discount": _text(item.discount),
    }


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _row(field: str, figures: Counter[str]) -> tuple[str, ...]:
    printed = figures[RIGHT] + figures[WRONG] + figures[MISSING]
    others = figures[INVENTED] + figures[ABSENT]
    parts = (figures[RIGHT], figures[WRONG], figures[MISSING])
    shares = [f"{percent(part, printed):.1f}" if printed else "-" for part in parts]
    invented = f"{percent(figures[INVENTED], others):.1f}" if others else "-"
    return field, str(printed), *shares, str(others), invented


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bookkeeping", description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the sets and their scorers")
    parser.add_argument("--kept", type=Path, help="a folder that keeps recognized pages")
    parser.add_argument("--jobs", type=int, default=1, help="processes to read in")
    parser.add_argument("--truth", type=Path, default=FILE, help="another file with the truth")
    parser.add_argument("--misses", type=Path, help="a file for all results, JSON lines")
    parser.add_argument(
        "--leave-out",
        nargs="*",
        metavar="FIELD",
        choices=[fitter.field for fitter in FITTERS],
        help="fit the weights, of all fields or of these, without the source being judged",
    )
    return parser.parse_args()


def _line(mark: Mark) -> str:
    entry = {
        "document": mark.document.key,
        "field": mark.field,
        "outcome": mark.outcome,
        "read": mark.read,
        "confidence": mark.confidence,
    }
    return json.dumps(entry, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
