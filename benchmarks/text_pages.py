"""Measures how long a PDF page with a text layer takes, stage by stage.

    python -m benchmarks.text_pages FOLDER

Reads each PDF with a text layer once, in a process that has read others before: the caches
of one document do not help another. CPU seconds of one thread, valid on a busy machine.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measuring
from recibo.extract import errors, pipeline
from recibo.extract.document import pages

#: The limit for a page.
LIMIT_S = 0.2

#: The first files load models, tables and patterns.
_WARM_UP = 5

_STAGES = ("load", "lines", "codes", "fields")
_SLOWEST = 5


@dataclass(frozen=True, slots=True)
class Measured:
    """The times of one document, CPU seconds per page."""

    name: str
    cpu: float
    #: By stage.
    stages: Mapping[str, float]


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    paths = [path for path in sorted(parser.parse_args().folder.glob("*.pdf")) if _is_text(path)]
    for path in paths[:_WARM_UP]:
        _measured(path)
    measured = sorted(map(_measured, paths), key=lambda one: -one.cpu)
    cpu = [one.cpu for one in measured]
    rows = [_row(one.name, one) for one in measured[:_SLOWEST]]
    rows.append(_row("median of all", _median(measured)))
    measuring.show(f"{len(paths)} PDFs, CPU seconds a page", ["", "all", *_STAGES], rows)
    p95 = measuring.Times(tuple(cpu)).p95
    print(f"p95 {p95:.3f} s, all under {LIMIT_S} s: {measuring.verdict(cpu[0], LIMIT_S)}")


def _is_text(path: Path) -> bool:
    """Return whether every page of a readable PDF has a text layer."""
    try:
        return all(page.layer for page in pages.pages(path.read_bytes()))
    except errors.ReadingError:
        return False


def _measured(path: Path) -> Measured:
    stages: defaultdict[str, float] = defaultdict(float)
    last = time.process_time()

    def trace(stage: str, _wall: float, /) -> None:
        # Stages are reported when they end, one after another.
        nonlocal last
        now = time.process_time()
        stages[stage] += now - last
        last = now

    data = path.read_bytes()
    start = last = time.process_time()
    receipt = pipeline.extract(data, trace=trace)
    cpu = time.process_time() - start
    count = len(receipt.texts)
    by_page = {stage: stages[stage] / count for stage in _STAGES}
    return Measured(path.name, cpu / count, by_page)


def _median(measured: Sequence[Measured]) -> Measured:
    stages = {stage: statistics.median(one.stages[stage] for one in measured) for stage in _STAGES}
    return Measured("", statistics.median(one.cpu for one in measured), stages)


def _row(name: str, one: Measured) -> list[str]:
    return [name, f"{one.cpu:.3f}", *(f"{one.stages[stage]:.3f}" for stage in _STAGES)]


if __name__ == "__main__":
    main()
