"""`recibo extract`: reads local files and prints, stores or renames by what they say."""

import asyncio
import errno
import os
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from recibo.adapters.reader import PoolReader
from recibo.cli import inputs, outputs, readings
from recibo.cli.inputs import Document
from recibo.cli.outputs import Folder, Format, InFile, Output, Silent
from recibo.cli.progress import Bar
from recibo.cli.readings import Line, Options
from recibo.cli.renaming import NotRenamedError, Renaming
from recibo.lib import printable

# As in a shell: 128 plus the signal's number.
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


@dataclass(frozen=True, slots=True)
class Results:
    """Where results go."""

    #: None is the usual format of the destination.
    format: Format | None = None
    #: None is stdout.
    folder: Path | None = None
    renaming: Renaming | None = None

    def open(self) -> Output:
        """Return what writes them."""
        if self.folder is not None:
            if self.format in {None, Format.JSON}:
                return Folder(self.folder)
            form = self.format or Format.JSON
            return InFile(self.folder / f"receipts.{form}", form)
        if self.format is None and self.renaming is not None:
            return Silent()
        return outputs.on_stdout(self.format or Format.JSONL)

    @property
    def is_on_stdout(self) -> bool:
        """Return whether stdout has a line for each file."""
        return self.folder is None and (self.renaming is None or self.format is not None)


@dataclass(slots=True)
class _Run:
    documents: Sequence[Document]
    options: Options
    results: Results
    counts: Counter[str] = field(default_factory=Counter)

    async def run(self) -> int:
        bar = Bar(len(self.documents))
        output = self.results.open()
        processes = min(len(self.documents), len(os.sched_getaffinity(0)))
        async with aclosing(
            PoolReader(processes=processes, runtime=self.options.runtime)
        ) as reader:
            with bar.shown():
                files = [(one.name, one.path) for one in self.documents]
                done = 0
                bar.name(files[0][0])
                async for line in readings.lines(files, self.options, reader):
                    with bar.hidden():
                        self._finish(self.documents[done], line, output)
                    done += 1
                    bar.name(files[min(done, len(files) - 1)][0])
        output.end()
        # Where stdout has the results and no person watches, stderr is for errors only.
        if not self.results.is_on_stdout or bar.is_shown:
            sys.stderr.write(summary(self.counts) + "\n")
        return int(self.counts["failed"] > 0)

    def _finish(self, document: Document, line: Line, output: Output) -> None:
        try:
            output.add(document, line)
        except OSError as e:
            if e.errno != errno.ENAMETOOLONG:
                raise
            outputs.report(document, "its result would have too long a name; rename it")
            self.counts["failed"] += 1
            return
        self.counts["failed" if line.is_error else "read"] += 1
        self.counts["need review"] += bool(line.doubts)
        if line.warning:
            outputs.report(document, line.warning)
        if line.reading is None or self.results.renaming is None or document.is_stdin:
            return
        try:
            renamed = self.results.renaming.apply(document, line.reading)
        except NotRenamedError as e:
            outputs.report(document, f"keeps its name: {e}")
            self.counts["kept"] += 1
        except OSError as e:
            outputs.report(document, f"cannot be renamed: {e.strerror}")
            self.counts["failed"] += 1
        else:
            if renamed is not None:
                self.counts[self.results.renaming.verb] += 1
                self._announce(document, renamed)

    def _announce(self, document: Document, renamed: Path) -> None:
        old, new = (
            printable.line(printable.file_name(str(one))) for one in (document.path, renamed)
        )
        # Results on stdout stay what a program can parse.
        stream = sys.stderr if self.results.is_on_stdout else sys.stdout
        stream.write(f"{old} -> {new}\n")


def run(names: Sequence[str], options: Options, results: Results) -> int:
    """Read the files, write their results and return the exit status."""
    try:
        with inputs.documents(names) as found:
            # A file that is named twice has its new name when its turn comes again.
            chosen = list({one.path: one for one in found}.values()) if results.renaming else found
            return asyncio.run(_Run(chosen, options, results).run())
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except OSError as e:
        return exit_status(e)


def summary(counts: Counter[str]) -> str:
    """Return what became of the files in one line: `23 read, 2 need review, 1 failed`."""
    parts = [f"{counts['read']} read"]
    if review := counts["need review"]:
        parts.append(f"{review} need{'s' if review == 1 else ''} review")
    for what in ("renamed", "copied", "to rename", "to copy", "kept", "failed"):
        if counts[what]:
            label = "not renamed" if what == "kept" else what
            parts.append(f"{counts[what]} {label}")
    return ", ".join(parts)


def exit_status(error: OSError) -> int:
    """Report an error that ends the command, and return its exit status."""
    # The unwritten output is still buffered, and Python would try to write it at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):  # The reader has closed the pipe.
        return EXIT_BROKEN_PIPE
    sys.stderr.write(f"recibo: cannot go on: {_reason(error)}\n")
    return 1


def _reason(error: OSError) -> str:
    name = error.filename2 or error.filename
    # Those that libraries raise may have only a text.
    reason = error.strerror or str(error)
    if not isinstance(name, str):
        return printable.line(reason)
    return printable.line(f"{printable.file_name(name)}: {reason}")
