"""A reader under an attacker's control: it tries attacks and returns their outcome.

Each function is run in the child by its name, which is what the document says, with what follows
the name as its argument.
"""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from recibo.adapters.reader_process import frames
from recibo.adapters.reader_process.child import Handler
from recibo.extract.model import DocumentType, Extracted, Receipt

# Read before the sandbox filters the call.
_ON_ARM = os.uname().machine == "aarch64"

#: Numbers on x86_64 and on aarch64, as the attacks need them.
_SYSCALLS = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "pidfd_open": (434, 434),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "userfaultfd": (323, 282),
    "mount": (165, 40),
    "keyctl": (250, 219),
    "perf_event_open": (298, 241),
    "setns": (308, 268),
    "unshare": (272, 97),
    "memfd_create": (319, 279),
    "execveat": (322, 281),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "prlimit64": (302, 261),
    "clone3": (435, 435),
}


def environment(_: str) -> object:
    """Look for secrets."""
    return sorted(os.environ)  # noqa: TID251 - it is what a thief reads


def descriptors(_: str) -> object:
    """Look for descriptors that the parent left open."""
    return [number for number in range(64) if _is_open(number)]


def read_file(path: str) -> object:
    """Read a file, such as the database."""
    return Path(path).read_bytes()[:20].hex()


def write_file(path: str) -> object:
    """Leave a file behind."""
    return Path(path).write_text("was here")


def list_folder(path: str) -> object:
    """Look what there is."""
    return [entry.name for entry in Path(path).iterdir()]


def change(path: str) -> object:
    """Change what Landlock does not cover."""
    return [
        _outcome(lambda: os.chmod(path, 0o777)),  # noqa: PTH101, S103
        _outcome(lambda: os.chown(path, 1, 1)),
        _outcome(lambda: os.utime(path)),
        _outcome(lambda: os.setxattr(path, "user.x", b"1")),
        _outcome(lambda: os.link(path, path + "2")),
        _outcome(lambda: os.rename(path, path + "3")),  # noqa: PTH104
        _outcome(lambda: os.unlink(path)),  # noqa: PTH108
        _outcome(lambda: os.truncate(path, 0)),
        _outcome(lambda: os.mkdir(path + "4")),  # noqa: PTH102
    ]


def connect(port: str) -> object:
    """Send what was read to a server."""
    with socket.socket(socket.AF_INET) as there:
        there.connect(("127.0.0.1", int(port)))
    return "connected"


def connect_unix(path: str) -> object:
    """Talk to a daemon of the machine."""
    with socket.socket(socket.AF_UNIX) as there:
        there.connect(path)
    return "connected"


def pair(_: str) -> object:
    """Make a pair of sockets."""
    return [one.fileno() for one in socket.socketpair()]


def execute(_: str) -> object:
    """Run a program."""
    return os.execv("/bin/true", ["true"])  # noqa: S606


def spawn(_: str) -> object:
    """Run another program."""
    return subprocess.run(["/bin/true"], check=False).returncode


def fork(_: str) -> object:
    """Bomb the machine with processes, or at least make one."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return pid


def kill(pid: str) -> object:
    """Kill another process."""
    os.kill(int(pid), signal.SIGKILL)
    return "killed"


def kill_with_threads_call(pid: str) -> object:
    """Kill another process by the call that is for threads."""
    return _syscall((234, 131)[_ON_ARM], int(pid), int(pid), signal.SIGKILL)


def memory_of(pid: str) -> object:
    """Read the memory of another process."""
    with Path(f"/proc/{pid}/mem").open("rb") as memory:
        return len(memory.read(1))


def calls(_: str) -> object:
    """Try the calls that have no function in Python."""
    column = _ON_ARM
    return {
        name: _outcome(partial(_syscall, numbers[column], 1, 0, 0, 0, 0))
        for name, numbers in _SYSCALLS.items()
    }


def pickle(path: str) -> object:
    """Answer with a pickle that touches a file where it is loaded, as multiprocessing would."""
    forged = b"cos\nsystem\n(S'touch " + path.encode() + b"'\ntR."
    return _send(frames.Kind.ANSWER, forged)


def forge(text: str) -> object:
    """Answer with chosen bytes."""
    return _send(frames.Kind.ANSWER, text.encode())


def huge(_: str) -> object:
    """Announce an answer that would fill the parent's memory."""
    return os.write(_channel(), frames.HEADER.pack(frames.Kind.ANSWER, (1 << 32) - 1))


def unknown_kind(_: str) -> object:
    """Say what the protocol has no word for."""
    return os.write(_channel(), frames.HEADER.pack(77, 0))


def steps(_: str) -> object:
    """Claim to begin pages, without end, to be given time without end."""
    while True:
        _send(frames.Kind.STEP, b"")


def nothing(_: str) -> object:
    """Do nothing bad."""
    return "fine"


def sleep(_: str) -> object:
    """Hold the reader without using the processor."""
    time.sleep(3600)
    return "slept"


def spin(_: str) -> object:
    """Hold the reader and a processor."""
    while True:
        pass


def eat(_: str) -> object:
    """Eat memory."""
    eaten = []
    while True:
        eaten.append(b"x" * (16 << 20))


def threads(_: str) -> object:
    """Bomb the machine with threads."""
    stop = threading.Event()
    count = 0
    try:
        while count < 100_000:
            threading.Thread(target=stop.wait, daemon=True).start()
            count += 1
    except RuntimeError:
        pass
    stop.set()
    return count < 100_000


def _outcome(attempt: Callable[[], object]) -> object:
    try:
        return attempt()
    except OSError as error:
        return type(error).__name__


def _syscall(*arguments: int) -> object:
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(*(ctypes.c_long(one) for one in arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def _is_open(number: int) -> bool:
    try:
        os.lseek(number, 0, os.SEEK_CUR)
    except OSError as error:
        return error.errno != 9
    return True


def _channel() -> int:
    found: int = json.loads(sys.argv[1])["channel"]
    return found


def _send(kind: frames.Kind, content: bytes) -> object:
    frames.send(_channel(), kind, content)
    return "sent"


def _read(data: bytes, _: Mapping[str, Any], __: Callable[[], None]) -> Receipt:
    name, _blank, argument = data.decode().partition(" ")
    found = str(_outcome(lambda: globals()[name](argument)))
    return Receipt(
        Extracted(DocumentType.RECEIPT, 1.0, ""), Extracted(found, 1.0, ""), confidence=0.9
    )


def load() -> Mapping[str, Handler]:
    """Load nothing."""
    return {"read": _read}
