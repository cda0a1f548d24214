"""Reading libraries that crash, hang, eat memory and lie: the file's text says what to do.

The functions run in children of the reader, which import this module by its name.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from recibo.adapters.reader_process.child import Handler
from recibo.extract import errors
from recibo.extract.document.formats import Kind
from recibo.extract.model import DocumentType, Extracted, Receipt

JPEG = Kind("image/jpeg", "jpg", 1)

# From the start of the process.
_TOIL_S = 2.0

ERRORS = {
    "format": errors.UnsupportedFormat,
    "empty": errors.EmptyFile,
    "pages": errors.TooManyPages,
    "pixels": errors.TooManyPixels,
    "encrypted": errors.Encrypted,
    "unreadable": errors.Unreadable,
    "model": errors.MissingModel,
    "memory": MemoryError,
    "import": ImportError,
    "exit": SystemExit,
    "interrupt": KeyboardInterrupt,
    "bug": ZeroDivisionError,
    "recursion": RecursionError,
}


class UnspeakableError(Exception):
    """An error that cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError


def crash() -> None:
    """Die as a library does that writes where it may not."""
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    signal.raise_signal(signal.SIGSEGV)


def be_killed() -> None:
    """Die as under the kernel's out-of-memory killer."""
    signal.raise_signal(signal.SIGKILL)


def hang() -> None:
    """Never come back, and listen to no signal that can be refused."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    threading.Event().wait()


def toil() -> None:
    """Work for a second of processor time."""
    while time.process_time() < _TOIL_S:
        pass


def spin() -> None:
    """Run an endless loop."""
    while True:
        pass


def ask_for_memory() -> None:
    """Ask for more addresses than the limit has."""
    bytearray(1 << 40)


def eat_memory() -> None:
    """Fill more memory than there may be."""
    eaten = []
    while True:
        eaten.append(b"x" * (16 << 20))


def shout() -> None:
    """Print as libraries do, native ones past Python."""
    sys.stdout.write("noise of a library\n")
    os.write(1, b"noise of a native library\n")


def flood() -> None:
    """Print more than the parent reads."""
    try:
        while True:
            os.write(2, b"noise " * 10_000)
    except BrokenPipeError:
        return


def cry(what: str) -> None:
    """Print why, and die."""
    os.write(2, what.encode())
    os.abort()


ACTS: Mapping[str, Callable[[], None]] = {
    "segfault": crash,
    "killed": be_killed,
    "hang": hang,
    "spin": spin,
    "toil": toil,
    "ask": ask_for_memory,
    "eat": eat_memory,
    "shout": shout,
    "flood": flood,
}


def _said(what: str) -> object:
    """Return what a file asks about the process."""
    answers: Mapping[str, Callable[[], object]] = {
        "pid": os.getpid,
    }
    return answers[what]() if what in answers else what


def _read(data: bytes, arguments: Mapping[str, Any], step: Callable[[], None]) -> Receipt:
    """Do what the file says; any other text is the merchant's name."""
    step()
    word, rest = _misbehave(data)
    if word == "steps":
        for _ in range(int(rest)):
            step()
    said = f"{arguments['hint']} {arguments['accuracy']}"
    name = said if word == "arguments" else str(_said(rest or word))
    return Receipt(
        Extracted(DocumentType.RECEIPT, 1.0, ""), Extracted(name, 1.0, name), confidence=0.9
    )


def _inspect(data: bytes, _: Mapping[str, Any], __: Callable[[], None]) -> Kind:
    """Do what the file says, or call it a JPEG."""
    _misbehave(data)
    return JPEG


def _misbehave(data: bytes) -> tuple[str, str]:
    """Do what the first word of the file says, and return what it says."""
    word, _, rest = data.decode().partition(" ")
    if word in ERRORS:
        raise ERRORS[word]
    if word == "unspeakable":
        raise UnspeakableError
    if word == "cry":
        cry(rest)
    if word in ACTS:
        ACTS[word]()
    return word, rest


def load() -> Mapping[str, Handler]:
    """Load nothing."""
    return {"read": _read, "inspect": _inspect}


def miss_the_models() -> Mapping[str, Handler]:
    """Find no models."""
    raise errors.MissingModel


def die() -> NoReturn:
    """Die before the first job."""
    os._exit(3)
