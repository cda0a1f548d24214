"""Measures the accuracy of the library on all sets of a data folder, with their scorers.

The folder contains the scanned receipts `sroie/`, the sets `documents/` and `real-documents/`, and
the scorers `score_sroie.py` and `score_documents.py`. Nothing of it is copied. `--leave-out` reads
each document with weights fitted without its source, instead of those of the package.
"""

import argparse
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks import measuring, reliability, scoring
from benchmarks.recognition import Pages, Recognition
from benchmarks.reliability import Verdict
from benchmarks.scoring import Report
from recibo.extract import errors, pipeline, weights
from recibo.extract.model import Accuracy, Receipt
from training import documents
from training.cross_fit import ByField, cross_fit, fold_of
from training.documents import Document
from training.fields.confidence import damaged_passes, is_damaged
from training.fields.registry import FITTERS

#: Returns the pages of a document, each once per pass.
Recognize = Callable[[Document], Pages]

_WHOLE = "the whole"
_PLOTTED = ("total", "issued_at", "merchant_name")
_SHORT = {
    scoring.HEADER: "header",
    "total": "total",
    "issued_at": "date",
    "merchant_name": "seller",
    "merchant_tax_id": "tax id",
    "subtotal": "subtotal",
    "tax": "tax",
    "currency": "currency",
    "document_number": "number",
    "document_key": "key",
    "type": "type",
    scoring.ITEMS: "items",
}


def main() -> None:
    """Measure, print the tables and draw the reliability plot."""
    asked = _arguments()
    every = documents.load(asked.data, Recognition(Accuracy(asked.accuracy), asked.kept))
    held_out = {}
    if asked.leave_out is not None:
        held_out = held_out_weights(every, asked.leave_out, jobs=asked.jobs)
    chosen = spread(every, asked.sample or len(every))
    report = measure(chosen, held_out=held_out, jobs=asked.jobs)
    _print(report)
    plotted = _by_name(report, _PLOTTED)
    if asked.damaged:
        damaged = [document for document in chosen if is_damaged(document)]
        receipts = read(damaged, held_out=held_out, jobs=asked.jobs, recognize=damaged_passes)
        plotted = _with_damaged(report, score(damaged, receipts))
        _print_confidence("Confidence, originals and damaged pictures", plotted)
    reliability.draw(plotted, asked.plot)
    print(f"reliability plot: {asked.plot}")


def held_out_weights(
    every: Sequence[Document], fields: Sequence[str] = (), *, jobs: int = 1
) -> dict[str, ByField]:
    """Return the weights fitted without its source for each document."""
    fitters = [fitter for fitter in FITTERS if not fields or fitter.field in fields]
    fitted = cross_fit(every, fitters, jobs=jobs)
    return {key: fitted.without[fold] for key, fold in fold_of(every).items()}


def measure(
    chosen: Sequence[Document],
    *,
    held_out: Mapping[str, ByField] | None = None,
    jobs: int = 1,
) -> Report:
    """Read the documents, with other weights if given, and score the results."""
    return score(chosen, read(chosen, held_out=held_out, jobs=jobs))


def read(
    chosen: Sequence[Document],
    *,
    held_out: Mapping[str, ByField] | None = None,
    jobs: int = 1,
    recognize: Recognize = Document.passes,
) -> list[Receipt | None]:
    """Read the documents, with other weights if given; None is one that is unreadable."""
    replaced = [(held_out or {}).get(document.key, {}) for document in chosen]
    one = partial(_read, recognize)
    if jobs == 1:
        return list(map(one, chosen, replaced))
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(one, chosen, replaced))


def score(chosen: Sequence[Document], receipts: Sequence[Receipt | None]) -> Report:
    """Score what was read of the documents."""
    return scoring.report(chosen, [scoring.spelled(one) if one else {} for one in receipts])


def spread(files: Sequence[Document], count: int) -> list[Document]:
    """Return a fixed sample of the documents, evenly spread over the list."""
    count = min(count, len(files))
    return [files[index * len(files) // count] for index in range(count)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the sets and their scorers")
    parser.add_argument("--accuracy", choices=[mode.value for mode in Accuracy], default="standard")
    parser.add_argument("--jobs", type=int, default=1, help="processes to read in")
    parser.add_argument(
        "--kept", type=Path, help="a folder that keeps recognized pages, to measure fields alone"
    )
    parser.add_argument(
        "--leave-out",
        nargs="*",
        metavar="FIELD",
        choices=[fitter.field for fitter in FITTERS],
        help="fit the weights, of all fields or of these, without the source being judged",
    )
    parser.add_argument(
        "--damaged", action="store_true", help="read the pictures damaged as well, for the plot"
    )
    parser.add_argument("--sample", type=int, help="read only so many files, always the same")
    default = Path(tempfile.gettempdir()) / "reliability.png"
    parser.add_argument("--plot", type=Path, default=default, help="where the plot goes")
    return parser.parse_args()


def _read(recognize: Recognize, document: Document, replaced: ByField) -> Receipt | None:
    with weights.replaced(replaced):
        try:
            return pipeline.understand(recognize(document))
        except errors.ReadingError:
            return None


def _print(report: Report) -> None:
    rows = [(name, *_cells(figures)) for name, figures in report.rows.items()]
    measuring.show("Right values, percent", ("set", *_SHORT.values()), rows)
    for name, figures in report.rows.items():
        if scoring.ALL_THREE in figures:
            print(f"all three fields of {name} right: {figures[scoring.ALL_THREE]:.1f} %")
    print(f"values invented: {report.invented} for {report.absent} fields that are not printed")
    print(
        f"receipts at {reliability.SURE} or more: {report.sure:.1f} %, "
        f"of these the total is right: {report.right_when_sure:.1f} %"
    )
    _print_confidence("Confidence, percent", _by_name(report, scoring.FIELDS))


def _print_confidence(title: str, by_name: Mapping[str, Sequence[Verdict]]) -> None:
    rows = [reliability.row(*named) for named in by_name.items()]
    measuring.show(title, reliability.HEADINGS, rows)


def _cells(figures: Mapping[str, float]) -> list[str]:
    return [f"{figures[field]:.1f}" if field in figures else "-" for field in _SHORT]


def _by_name(report: Report, fields: Sequence[str]) -> dict[str, Sequence[Verdict]]:
    """Return the verdicts on whole receipts, right if their total is, and on some fields."""
    by_field = report.by_field
    return {_WHOLE: report.verdicts} | {
        field: by_field[field] for field in fields if field in by_field
    }


def _with_damaged(original: Report, damaged: Report) -> dict[str, Sequence[Verdict]]:
    """Return the verdicts on values of pictures, original and damaged."""
    pictures = Report(
        [mark for mark in original.marks if mark.document.kind != "pdf"], original.verdicts
    )
    return {
        f"{field}, {name}": report.by_field[field]
        for field in _PLOTTED
        for name, report in (("original", pictures), ("damaged", damaged))
        if field in report.by_field
    }


if __name__ == "__main__":
    main()
