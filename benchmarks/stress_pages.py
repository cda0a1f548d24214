"""How long documents take that are slow to process on purpose, stage by stage.

    python -m benchmarks.stress_pages [--words 2000 8000] [--content items ...]

Prints CPU seconds of one thread, the growth of the slowest stage from the fewest words to the most,
and the most memory so far. No growth is above that of n log n.
"""

import argparse
import resource
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from benchmarks import measuring
from recibo.extract.fields import collect
from recibo.extract.layout import lines
from recibo.extract.model import TextPage
from recibo.extract.resolve import assemble, confidence
from tests.extract import stress_pages
from tests.extract.stress_pages import Setting

T = TypeVar("T")

_STAGES = ("lines", "fields", "assemble")
# Shorter times are too noisy.
_LEAST_S = 0.05


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--words", type=int, nargs="+", default=[2_000, 8_000])
    parser.add_argument("--content", nargs="+", default=list(stress_pages.CONTENTS))
    asked = parser.parse_args()
    rows = []
    for name in asked.content:
        for setting in stress_pages.SETTINGS:
            measured = [_measured(name, count, setting) for count in asked.words]
            rows.append(_row(f"{name}, {setting.__name__}", measured))
    columns = ["", *_STAGES, "growth", "MiB"]
    sizes = " and ".join(map(str, asked.words))
    measuring.show(f"{sizes} words, CPU seconds", columns, rows)


def _measured(name: str, count: int, setting: Setting) -> Sequence[float]:
    """Return the CPU seconds of each stage for a page of this many words."""
    words = list(setting(stress_pages.contents(name, count)))
    rows, placed = _timed(lambda: lines.lines(words))
    text_pages = [TextPage(1, stress_pages.WIDTH, stress_pages.HEIGHT, rows, is_exact=True)]
    candidates, collected = _timed(lambda: collect.collect(text_pages))
    _, assembled = _timed(
        lambda: confidence.with_confidence(assemble.assemble(candidates), candidates, text_pages)
    )
    return placed, collected, assembled


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def _row(name: str, measured: Sequence[Sequence[float]]) -> list[str]:
    stages = [
        " > ".join(f"{seconds:.2f}" for seconds in stage) for stage in zip(*measured, strict=True)
    ]
    growth = max(
        most / max(fewest, _LEAST_S) for fewest, most in zip(measured[0], measured[-1], strict=True)
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return [name, *stages, f"{growth:.1f}", str(memory)]


if __name__ == "__main__":
    main()
