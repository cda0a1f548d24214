"""Times of many calls, and the table that they are printed in."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

_WIDTH = 140
# A call that is slow shows so after a few rounds, too.
_MOST_S = 10.0
_LEAST_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Times:
    """How long calls took, milliseconds."""

    ms: tuple[float, ...]

    @property
    def median(self) -> float:
        """Half of the calls took no longer."""
        return statistics.median(self.ms)

    @property
    def p95(self) -> float:
        """95 of 100 calls took no longer."""
        return sorted(self.ms)[math.ceil(0.95 * len(self.ms)) - 1]


def timed(call: Callable[[], object]) -> float:
    """Return how long a call takes, milliseconds."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def times(call: Callable[[], object], *, rounds: int) -> Times:
    """Return how long a call takes, again and again; the first one, which warms up, left out."""
    call()
    ms: list[float] = []
    while len(ms) < rounds and (sum(ms) < _MOST_S * 1000 or len(ms) < _LEAST_ROUNDS):
        ms.append(timed(call))
    return Times(tuple(ms))


def alternated(calls: Sequence[Callable[[], object]], *, rounds: int) -> list[Times]:
    """Return how long each of some calls takes; they take turns, so that load meets all of them."""
    for call in calls:
        call()
    ms: list[list[float]] = [[] for _ in calls]
    while len(ms[0]) < rounds and (
        sum(map(sum, ms)) < _MOST_S * 1000 or len(ms[0]) < _LEAST_ROUNDS
    ):
        for call, took in zip(calls, ms, strict=True):
            took.append(timed(call))
    return [Times(tuple(took)) for took in ms]


def cpu_seconds(pid: int) -> float:
    """Return how long all threads of a process have been on a processor."""
    # What clock_getcpuclockid(3) returns on Linux; /proc counts in hundredths of a second.
    return time.clock_gettime((~pid << 3) | 2)


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print one table: the first column is text, the others are figures."""
    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    Console(width=_WIDTH).print(table)


def verdict(figure: float, limit: float) -> str:
    """Say whether a figure keeps its limit."""
    return "yes" if figure <= limit else "NO"
