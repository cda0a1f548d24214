"""How long one document takes, stage by stage, compared with its OCR engine.

    python -m benchmarks.latency FOLDER [--only PATTERN] [--a4] [--limit N] [--accuracy high]

Reads each file of a folder with the library, with RapidOCR by default, and with RapidOCR in the
configuration of the library, each in a separate process. The contenders only find
words; the library also finds codes and fields. CPU seconds are valid on a busy machine, too.
"""

import argparse
import multiprocessing
import resource
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from benchmarks import measuring
from recibo.extract import errors, pipeline
from recibo.extract.model import Accuracy

#: The limits for one page on one thread, median and p95, and for the memory of a process.
LIMITS_S = {Accuracy.STANDARD: (0.9, 1.6), Accuracy.HIGH: (2.5, 4.0)}
A4_LIMITS_S = (3.0, 3.0)
RSS_MB = 900

#: The first files warm up caches.
_WARM_UP = 2

#: RapidOCR in the configuration of this library.
_TUNED = {
    "Global.use_cls": False,
    "Global.text_score": 0.3,
    "Det.limit_type": "max",
    "Det.limit_side_len": 1280,
    "Rec.rec_batch_num": 1,
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    "EngineConfig.onnxruntime.enable_cpu_mem_arena": False,
}

How = TypeVar("How")

_PICTURES = frozenset({".jpg", ".jpeg", ".png", ".webp"})


@dataclass(slots=True)
class Measured:
    """The times of one contender, seconds per file."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    #: Seconds per file by stage, only for the library.
    stages: dict[str, list[float]] = field(default_factory=dict)
    rss_mb: int = 0


def main() -> None:
    """Measure the contenders and print one table."""
    options = _options()
    found = options.folder.glob(options.only)
    files = sorted(path for path in found if path.suffix.lower() in _PICTURES)
    files = files[:: max(1, len(files) // options.limit)][: options.limit]
    library = _alone(_library, files, options.accuracy)
    rows = [_row("recibo", library)]
    rows += [_stage_row(stage, seconds) for stage, seconds in library.stages.items()]
    rows.append(_row("RapidOCR, tuned, words only", _alone(_rapid, files, _TUNED)))
    rows.append(_row("RapidOCR as it comes, words only", _alone(_rapid, files, {})))
    columns = ["", "median s", "p95 s", "CPU median", "CPU p95", "RSS MB"]
    measuring.show(f"{len(files)} files, accuracy {options.accuracy}", columns, rows)
    median_s, p95_s = A4_LIMITS_S if options.a4 else LIMITS_S[options.accuracy]
    print(
        f"CPU median under {median_s} s: {_verdict(statistics.median(library.cpu), median_s)}, "
        f"p95 under {p95_s} s: {_verdict(_p95(library.cpu), p95_s)}, "
        f"memory under {RSS_MB} MB: {_verdict(library.rss_mb, RSS_MB)}"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="*", help="a pattern of file names")
    parser.add_argument("--a4", action="store_true", help="the files are full pages")
    parser.add_argument("--limit", type=int, default=60, help="so many files, evenly chosen")
    parser.add_argument("--accuracy", type=Accuracy, default=Accuracy.STANDARD)
    return parser.parse_args()


def _alone(
    measure: Callable[[Sequence[Path], How], Measured], files: Sequence[Path], how: How
) -> Measured:
    """Measure in a separate process, so that its memory is only the contender's."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (files, how))


def _library(files: Sequence[Path], accuracy: Accuracy) -> Measured:
    """Read the files with the library."""
    measured = Measured(stages=defaultdict(list))
    pipeline.warm()

    def read(path: Path) -> None:
        by_stage: defaultdict[str, float] = defaultdict(float)

        def trace(stage: str, seconds: float, /) -> None:
            by_stage[stage] += seconds

        try:
            pipeline.extract(path.read_bytes(), accuracy=accuracy, trace=trace)
        except errors.Unreadable:
            print(f"{path.name} could not be read")
        for stage, seconds in by_stage.items():
            measured.stages[stage].append(seconds)

    return _measure(read, files, measured)


def _rapid(files: Sequence[Path], configuration: dict[str, object]) -> Measured:
    """Find the words of the files with RapidOCR."""
    from rapidocr import RapidOCR

    engine = RapidOCR(params={"Global.log_level": "error", **configuration})

    def read(path: Path) -> None:
        engine(path.read_bytes())

    return _measure(read, files, Measured())


def _measure(read: Callable[[Path], None], files: Sequence[Path], measured: Measured) -> Measured:
    for path in files[:_WARM_UP]:
        read(path)
    for seconds in measured.stages.values():
        seconds.clear()
    for path in files:
        wall, cpu = time.perf_counter(), time.process_time()
        read(path)
        measured.wall.append(time.perf_counter() - wall)
        measured.cpu.append(time.process_time() - cpu)
    measured.rss_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return measured


def _row(name: str, measured: Measured) -> list[str]:
    return [
        name,
        *_figures(measured.wall),
        *_figures(measured.cpu),
        str(measured.rss_mb),
    ]


def _stage_row(stage: str, seconds: Sequence[float]) -> list[str]:
    return [f"  {stage}", *_figures(seconds), "", "", ""]


def _figures(seconds: Sequence[float]) -> tuple[str, str]:
    return f"{statistics.median(seconds):.3f}", f"{_p95(seconds):.3f}"


def _p95(seconds: Sequence[float]) -> float:
    return measuring.Times(tuple(seconds)).p95


def _verdict(figure: float, limit: float) -> str:
    return measuring.verdict(figure, limit)


if __name__ == "__main__":
    main()
