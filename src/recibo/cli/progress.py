"""The progress bar of a run over several files."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich import progress
from rich.console import Console

from recibo.lib import printable

# Long names would push the bar off the terminal.
_NAME_LENGTH = 32


class Bar:
    """A bar on stderr if that is a terminal and there are several files."""

    def __init__(self, total: int) -> None:
        self.is_shown = total > 1 and sys.stderr.isatty()
        self._bar = progress.Progress(
            progress.TextColumn("reading {task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left", markup=False),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            # Else it would redirect our output on stdout to stderr.
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("", total=total)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the bar while the block lasts."""
        if not self.is_shown:
            yield
            return
        with self._bar:
            yield

    def name(self, file: str) -> None:
        """Show the name of a file whose reading begins."""
        name = printable.line(Path(file).name)[:_NAME_LENGTH]
        self._bar.update(self._task, description=name)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Hide the bar during the block, which may print to the terminal; then advance it."""
        if not self.is_shown:
            yield
            return
        self._bar.stop()
        yield
        self._bar.advance(self._task)
        self._bar.start()
