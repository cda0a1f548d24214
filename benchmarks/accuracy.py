"""How much of the truth the library reads, on both sets of a data folder, by their own scorers.

The folder holds `sroie/img`, `sroie/key`, `documents/*.json` and the scorers `score_sroie.py` and
`score_documents.py`. Nothing of it is copied; predictions live in a temporary folder.
"""

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks import measuring, reliability, scoring
from benchmarks.recognised import How
from benchmarks.reliability import Verdict
from benchmarks.scoring import Reading, Report, Task
from recibo.extract import errors, pipeline
from recibo.extract.model import Accuracy

_SAMPLE_OF_DOCUMENTS = 0.4
_WHOLE = "the whole"
_PLOTTED = ("total", "issued_at", "merchant_name")


def main() -> None:
    """Measure, print the tables and draw the reliability plot."""
    asked = _arguments()
    report = measure(
        tasks(asked.data, sample=asked.sample),
        asked.data,
        how=How(Accuracy(asked.accuracy), asked.kept),
        jobs=asked.jobs,
    )
    _print(report)
    reliability.draw(_by_name(report, _PLOTTED), asked.plot)
    print(f"reliability plot: {asked.plot}")


def tasks(data: Path, *, sample: int | None = None) -> list[Task]:
    """Return the files to read; of a sample, the same ones every time, spread over the sets."""
    images = sorted((data / "sroie" / "img").iterdir())
    receipts = [Task(path.stem, path, is_sroie=True) for path in images]
    documents = sorted(_documents(data), key=lambda task: task.key.split(":")[::-1])
    if sample is None:
        return [*receipts, *documents]
    others = round(sample * _SAMPLE_OF_DOCUMENTS)
    return [*_spread(receipts, sample - others), *_spread(documents, others)]


def measure(files: Sequence[Task], data: Path, *, how: How | None = None, jobs: int = 1) -> Report:
    """Read the files and have the scorers of `data` judge what was read."""
    found = _read_all(files, how or How(), jobs)
    readings = dict(zip((task.key for task in files), found, strict=True))
    return scoring.judge(files, readings, data)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with both sets and their scorers")
    parser.add_argument("--accuracy", choices=[mode.value for mode in Accuracy], default="standard")
    parser.add_argument("--jobs", type=int, default=1, help="processes to read in")
    parser.add_argument(
        "--kept", type=Path, help="a folder that keeps recognised pages, to measure fields alone"
    )
    parser.add_argument("--sample", type=int, help="read only so many files, always the same")
    default = Path(tempfile.gettempdir()) / "reliability.png"
    parser.add_argument("--plot", type=Path, default=default, help="where the plot goes")
    return parser.parse_args()


def _documents(data: Path) -> Iterator[Task]:
    for name in ("brazil.json", "international.json"):
        for document in json.loads((data / "documents" / name).read_text("utf-8")):
            for kind, path in document["files"].items():
                key = f"{document['id']}:{kind}"
                yield Task(key, data / "documents" / path, is_sroie=False)


def _spread(files: Sequence[Task], count: int) -> list[Task]:
    count = min(count, len(files))
    return [files[index * len(files) // count] for index in range(count)]


def _read_all(files: Sequence[Task], how: How, jobs: int) -> Iterable[Reading]:
    paths = [task.path for task in files]
    if jobs == 1:
        return [_read(path, how) for path in paths]
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(_read, paths, [how] * len(paths)))


def _read(path: Path, how: How) -> Reading:
    """Return the fields of one file as the scorers take them; none when it cannot be read."""
    try:
        return scoring.spelled(pipeline.understand(how.recognised(path)))
    except errors.ReadingError:
        return {}


def _print(report: Report) -> None:
    columns = ("header", "total", "date", "merchant", "tax id", "currency", "number", "items")
    names = ("header fields", "total", "issued_at", "merchant_name", "merchant_tax_id", "currency")
    rows = [_row("scanned receipts (F1)", report.sroie, ("all", "total", "date", "merchant"))]
    fields = (*names, "document_number", "wholly right")
    rows += [_row(name, scores, fields) for name, scores in report.documents.items()]
    measuring.show("Right values, percent", ("set", *columns), rows)
    print(f"all three fields of a scanned receipt right: {report.sroie.get('all_three', 0):.1f} %")
    print(f"values invented: {report.invented}")
    print(
        f"receipts at {reliability.SURE} or more: {report.sure:.1f} %, "
        f"of these the total is right: {report.right_when_sure:.1f} %"
    )
    rows = [reliability.row(*named) for named in _by_name(report, scoring.FIELDS).items()]
    measuring.show("Confidence, percent", reliability.HEADINGS, rows)


def _by_name(report: Report, fields: Sequence[str]) -> dict[str, Sequence[Verdict]]:
    """Return the verdicts on the whole, which its total makes right, and on some fields."""
    return {_WHOLE: report.verdicts} | {
        field: report.by_field[field] for field in fields if field in report.by_field
    }


def _row(name: str, scores: Mapping[str, float], fields: Sequence[str]) -> tuple[str, ...]:
    figures = [f"{scores[field]:.1f}" if field in scores else "-" for field in fields]
    return (name, *figures, *["-"] * (8 - len(figures)))


if __name__ == "__main__":
    main()
