"""Reading libraries that crash, hang, eat memory and lie: the file's text says what to do.

The functions run in children of the reader, which import this module by its name.
"""

import os
import resource
import signal
import sys
import threading
from pathlib import Path

from recibo.extract import errors
from recibo.extract.load.pages import Kind
from recibo.extract.model import Accuracy, DocumentType, Found, Receipt
from recibo.outside.reader import Library

JPEG = Kind("image/jpeg", "jpg", 1)

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


class Garbage:
    """An answer that cannot be unpickled."""

    def __reduce__(self) -> tuple[type[int], tuple[str, str]]:
        return int, ("no", "number")


class UnspeakableError(Exception):
    """An error that cannot be pickled, nor even printed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __str__(self) -> str:
        raise RuntimeError


def crash() -> None:
    """Die as a library does that writes where it may not."""
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGSEGV)


def be_killed() -> None:
    """Die as under the kernel's out-of-memory killer."""
    os.kill(os.getpid(), signal.SIGKILL)


def hang() -> None:
    """Never come back, and listen to no signal that can be refused."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    threading.Event().wait()


def hang_after_telling(fifo: Path) -> None:
    """Tell whoever reads the FIFO which process this is, then hang."""
    fifo.write_text(str(os.getpid()))
    hang()


def eat_memory() -> None:
    """Ask for more addresses than the limit has."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    bytearray(most)


def warm() -> None:
    """Load nothing."""


def fail_to_warm() -> None:
    """Miss the models."""
    raise errors.MissingModel


def exit_while_warming() -> None:
    """Die before the first task."""
    os._exit(3)


def shout() -> None:
    """Print as libraries do, native ones past Python."""
    sys.stdout.write("noise of a library\n")
    os.write(1, b"noise of a native library\n")


ACTS = {"segfault": crash, "killed": be_killed, "eat": eat_memory, "shout": shout}


def read(path: Path, hint: DocumentType | None, accuracy: Accuracy, budget_s: float) -> Receipt:
    """Do what the file says; any other text is the merchant's name."""
    word, _, rest = misbehave(path)
    names = {"pid": str(os.getpid()), "told": f"{hint} {accuracy} {budget_s:g}"}
    if word == "garbage":
        return Garbage()  # type: ignore[return-value]  # it lies
    name = names.get(word) or rest or word
    return Receipt(Found(DocumentType.RECEIPT, 1.0, ""), Found(name, 1.0, name), confidence=0.9)


def inspect(path: Path) -> Kind:
    """Do what the file says, or call it a JPEG."""
    misbehave(path)
    return JPEG


def misbehave(path: Path) -> tuple[str, str, str]:
    """Do what the first word of the file says, and return what it says."""
    word, blank, rest = path.read_text().partition(" ")
    if word in ERRORS:
        raise ERRORS[word]
    if word == "unspeakable":
        raise UnspeakableError
    if word == "hang":
        hang_after_telling(Path(rest))
    ACTS.get(word, warm)()
    return word, blank, rest


LIBRARY = Library(warm=warm, read=read, inspect=inspect)
BROKEN = Library(warm=fail_to_warm, read=read, inspect=inspect)
DYING = Library(warm=exit_while_warming, read=read, inspect=inspect)
