"""Reads local files, and says for each what was found or why nothing was."""

import asyncio
import json
import re
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from recibo.adapters.reader import Failure, Reader
from recibo.cli import inputs
from recibo.errors import ServiceError
from recibo.extract.model import Accuracy, DocumentType, Hint
from recibo.extract.ocr.runtime import Runtime
from recibo.lib import printable
from recibo.schemas import doubts, receipts
from recibo.schemas.receipts import Reading, ReviewReason

T = TypeVar("T")

# As in the service.
TIME_LIMIT_S = 240.0

# Lines are printed in the order of the files, so a slow file delays those after it. This many are
# read ahead before the run waits.
_AHEAD = 256

_UNSUPPORTED_SCRIPT = (
    "most of its text is in a script that is not supported; it is left out, names too"
)

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
    """The outcome of one file."""

    #: `file`, then the fields of the reading or `error`.
    fields: dict[str, object]
    reading: Reading | None = None
    #: Why a person should look at the reading.
    doubts: tuple[ReviewReason, ...] = ()
    #: Why there is no reading.
    error: str = ""
    #: What the reading leaves out.
    warning: str = ""

    @property
    def is_error(self) -> bool:
        """Return whether the file could not be read."""
        return self.reading is None


async def lines(
    files: Iterable[tuple[str, Path]], options: Options, reader: Reader
) -> AsyncIterator[Line]:
    """Read files, given as names and paths, in parallel; yield their lines in order."""
    async for one in _in_order(line(name, path, options, reader) for name, path in files):
        yield one


async def line(name: str, path: Path, options: Options, reader: Reader) -> Line:
    """Read one file."""
    file: dict[str, object] = {"file": printable.file_name(name)}
    try:
        inputs.check(path)
    except ServiceError as e:
        return _error_line(file, e.code, e.message)
    outcome = await reader.read(
        path, hint=options.hint, accuracy=options.accuracy, time_limit_s=TIME_LIMIT_S
    )
    if isinstance(outcome, Failure):
        return _error_line(file, outcome.kind.code, outcome.message)
    reading = receipts.reading(outcome)
    found = doubts.find(reading, receipts.evidence(outcome), ())
    hints = {hint for page in outcome.pages if page.quality for hint in page.quality.hints}
    return Line(
        {**file, **reading.model_dump(mode="json")},
        reading,
        tuple(found),
        warning=_UNSUPPORTED_SCRIPT if Hint.UNSUPPORTED_SCRIPT in hints else "",
    )


def to_json_line(fields: dict[str, object]) -> bytes:
    """Return the fields as one line of JSON, in UTF-8."""
    return _escaped(json.dumps(fields, ensure_ascii=False)) + b"\n"


def to_json(fields: dict[str, object]) -> bytes:
    """Return the fields as JSON for people, in UTF-8."""
    return _escaped(json.dumps(fields, ensure_ascii=False, indent=2))


def _escaped(text: str) -> bytes:
    text = _LINE_BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.encode("utf-8", "replace")


def _error_line(file: dict[str, object], code: str, message: str) -> Line:
    return Line({**file, "error": {"code": code, "message": message}}, error=message)


async def _in_order(calls: Iterable[Coroutine[None, None, T]]) -> AsyncIterator[T]:
    """Run the calls concurrently and yield their results in order."""
    started: deque[asyncio.Task[T]] = deque()
    for call in calls:
        started.append(asyncio.create_task(call))
        if len(started) >= _AHEAD:
            yield await started.popleft()
    while started:
        yield await started.popleft()
