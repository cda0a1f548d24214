"""The reader process: loads its library, enters the sandbox, then runs one job after another.

Its parent starts it with an empty environment and passes it one end of a socket. A library is a
function, named `module:function`, that loads all it will ever need and returns a handler for each
kind of job.
"""

import dataclasses
import datetime as dt
import decimal
import importlib
import json
import os
import resource
import signal
import socket
import traceback
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from recibo.adapters.reader_process import frames, sandbox
from recibo.adapters.reader_process.failures import CRASHED, OUT_OF_MEMORY, Failure, FailureKind
from recibo.extract import errors

#: Runs a job. Arguments: the document, the job's arguments, a function to call before each page.
Handler = Callable[[bytes, Mapping[str, Any], Callable[[], None]], object]

_BROKEN = "The reading library cannot be loaded; install the package again."

_KINDS = {
    errors.UnsupportedFormat: FailureKind.UNSUPPORTED_FORMAT,
    errors.InvalidDocument: FailureKind.INVALID_DOCUMENT,
    errors.Unreadable: FailureKind.UNREADABLE,
    errors.MissingModel: FailureKind.BROKEN,
}

_TOO_MUCH_TEXT = Failure(
    FailureKind.INVALID_DOCUMENT, "The document holds more text than any receipt; send fewer pages."
)

#: The size of the pieces in which a document is read.
_PIECE = 1 << 20

# A longer traceback says nothing more.
_MAX_DETAIL = 20_000


def main(settings: Mapping[str, Any]) -> NoReturn:
    """Run until the parent is gone."""
    sandbox.die_with(settings["parent"])
    # A terminal's Ctrl-C is for the parent, which then closes this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(settings["niceness"])
    sandbox.limit(resource.RLIMIT_AS, settings["address_space_bytes"])
    # A core file would put a customer's document on the disk.
    sandbox.limit(resource.RLIMIT_CORE, 0)
    channel = socket.socket(fileno=settings["channel"])
    handlers, failure = _loaded(settings["library"], settings["arguments"])
    lacking = sandbox.enter()
    try:
        frames.send(channel.fileno(), frames.Kind.READY, json.dumps(lacking).encode())
        while True:
            _work(channel, handlers, failure)
    except (OSError, frames.ChannelClosedError):
        # Skip the exit handlers of libraries.
        os._exit(0)


def _loaded(
    library: str, arguments: Mapping[str, str]
) -> tuple[Mapping[str, Handler], Failure | None]:
    """Load the library; if that fails, every job returns the failure."""
    try:
        module, _, function = library.partition(":")
        load: Callable[..., Mapping[str, Handler]] = getattr(
            importlib.import_module(module), function
        )
        return load(**arguments), None
    except Exception as error:  # noqa: BLE001 - returned for the first job
        return {}, _failure(error)


def _work(channel: socket.socket, handlers: Mapping[str, Handler], failure: Failure | None) -> None:
    job, document = frames.receive_job(channel)
    frames.send(channel.fileno(), frames.Kind.BEGUN)
    answer = failure or _attempt(handlers, job, _read(document), channel.fileno())
    content = _spell(answer)
    if len(content) > frames.MAX_ANSWER_BYTES:
        content = _spell(_TOO_MUCH_TEXT)
    frames.send(channel.fileno(), frames.Kind.ANSWER, content)


def _read(document: int | None) -> bytes:
    if document is None:
        return b""
    try:
        return b"".join(iter(lambda: os.read(document, _PIECE), b""))
    finally:
        os.close(document)


def _attempt(
    handlers: Mapping[str, Handler], job: Mapping[str, Any], data: bytes, channel: int
) -> object:
    """Run the job; return any error as a failure."""

    def step() -> None:
        frames.send(channel, frames.Kind.STEP)

    try:
        kind: str = job["kind"]
        if kind == frames.PING:
            return None
        return handlers[kind](data, job["arguments"], step)
    except BaseException as error:  # noqa: BLE001 - a document ends nothing but its own reading
        return _failure(error)


def _failure(error: BaseException) -> Failure:
    for cause, kind in _KINDS.items():
        if isinstance(error, cause):
            return Failure(kind, str(error))
    kind, message = FailureKind.CRASHED, CRASHED
    if isinstance(error, ImportError):
        kind, message = FailureKind.BROKEN, _BROKEN
    elif isinstance(error, MemoryError):
        kind, message = FailureKind.OUT_OF_MEMORY, OUT_OF_MEMORY
    detail = "".join(traceback.format_exception(error))
    return Failure(kind, message, detail[-_MAX_DETAIL:])


def _spell(answer: object) -> bytes:
    is_failure = isinstance(answer, Failure)
    spelled = json.dumps({"failure" if is_failure else "result": answer}, default=_plain)
    return spelled.encode()


def _plain(value: object) -> object:
    """Convert a value that JSON cannot represent."""
    match value:
        case decimal.Decimal():
            return str(value)
        case dt.date() | dt.time():
            return value.isoformat()
        case dt.timedelta():
            sign = "-" if value < dt.timedelta(0) else ""
            return f"{sign}PT{abs(value).total_seconds():f}S"
        case _ if dataclasses.is_dataclass(value):
            fields = dataclasses.fields(value)
            return {field.name: getattr(value, field.name) for field in fields}
        case _:
            raise TypeError(f"{type(value)} cannot be sent")
