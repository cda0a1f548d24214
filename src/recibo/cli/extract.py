"""`recibo extract`: reads local files and prints one JSON object per line."""

import asyncio
import json
import os
import re
import sys
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from recibo.adapters.reader import Failure, PoolReader, Reader
from recibo.cli import inputs
from recibo.cli.progress import Bar
from recibo.errors import ServiceError
from recibo.extract.model import Accuracy, DocumentType
from recibo.extract.ocr.runtime import Runtime
from recibo.schemas import receipts

T = TypeVar("T")

# As in the service.
TIME_LIMIT_S = 240.0

# Lines are printed in the order of the files, so a slow file delays those after it. This many are
# read ahead before the run waits.
_AHEAD = 256

# As in a shell: 128 plus the signal's number.
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141

# JSON allows these characters unescaped, but some programs break lines there.
_LINE_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Options:
    """How to read the files."""

    hint: DocumentType | None = None
    accuracy: Accuracy = Accuracy.STANDARD
    runtime: Runtime = Runtime.AUTO


@dataclass(frozen=True, slots=True)
class Line:
    """The output line of one file."""

    fields: dict[str, object]
    is_error: bool = False


def run(names: Sequence[str], options: Options) -> int:
    """Read the files, print their lines to stdout and return the exit status."""
    try:
        with inputs.paths(names) as paths:
            return asyncio.run(_print(list(zip(names, paths, strict=True)), options))
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except OSError as e:
        return _exit_status(e)


async def lines(
    files: Iterable[tuple[str, Path]], options: Options, reader: Reader
) -> AsyncIterator[Line]:
    """Read files, given as names and paths, in parallel; yield their lines in order."""
    async for line in _in_order(_line(name, path, options, reader) for name, path in files):
        yield line


def to_json_line(fields: dict[str, object]) -> bytes:
    """Return the fields as one line of JSON, in UTF-8."""
    text = json.dumps(fields, ensure_ascii=False)
    text = _LINE_BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.encode("utf-8", "replace") + b"\n"


async def _print(files: Sequence[tuple[str, Path]], options: Options) -> int:
    status = 0
    bar = Bar(len(files))
    processes = min(len(files), len(os.sched_getaffinity(0)))
    async with aclosing(PoolReader(processes=processes, runtime=options.runtime)) as reader:
        with bar.shown():
            async for line in lines(files, options, reader):
                with bar.hidden():
                    _write(sys.stdout.buffer, to_json_line(line.fields))
                status |= line.is_error
    return status


def _write(out: BinaryIO, line: bytes) -> None:
    out.write(line)
    out.flush()


def _exit_status(error: OSError) -> int:
    # The unwritten output is still buffered, and Python would try to write it at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):  # The reader has closed the pipe.
        return EXIT_BROKEN_PIPE
    sys.stderr.write(f"recibo: cannot go on: {error.strerror}\n")
    return 1


async def _line(name: str, path: Path, options: Options, reader: Reader) -> Line:
    file = {"file": _printable(name)}
    try:
        inputs.check(path)
    except ServiceError as e:
        return _error_line(file, e.code, e.message)
    outcome = await reader.read(
        path, hint=options.hint, accuracy=options.accuracy, time_limit_s=TIME_LIMIT_S
    )
    if isinstance(outcome, Failure):
        return _error_line(file, outcome.kind.code, outcome.message)
    return Line({**file, **receipts.reading(outcome).model_dump(mode="json")})


def _error_line(file: dict[str, str], code: str, message: str) -> Line:
    return Line({**file, "error": {"code": code, "message": message}}, is_error=True)


def _printable(name: str) -> str:
    """Return the name with bytes that are not UTF-8 replaced."""
    return os.fsencode(name).decode("utf-8", "replace")


async def _in_order(calls: Iterable[Coroutine[None, None, T]]) -> AsyncIterator[T]:
    """Run the calls concurrently and yield their results in order."""
    started: deque[asyncio.Task[T]] = deque()
    for call in calls:
        started.append(asyncio.create_task(call))
        if len(started) >= _AHEAD:
            yield await started.popleft()
    while started:
        yield await started.popleft()
