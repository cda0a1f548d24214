"""The sandbox of a reader process: drops every right that reading a document does not need.

It is entered when everything is loaded. Afterwards the process cannot open files, create sockets or
processes, or reach anything except its parent, through the socket that it has.
"""

import ctypes
import os
import resource
import signal
from pathlib import Path

from recibo.adapters.reader_process import landlock, seccomp

# linux/prctl.h
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38

#: Standard streams, the socket, a document, and what libraries hold open.
_DESCRIPTORS = 64

# More than the service and its readers run at once under one user. Libraries start a few threads.
# The limit is for kernels without seccomp, whose filter lets no process start at all.
_MORE_TASKS = 1024

# linux/capability.h: version 3 of the interface, which has two words for each of three sets.
_CAPABILITY_VERSION = 0x20080522


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends for any reason.

    Strictly, when the thread that started it ends: the one that runs the parent's event loop.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # The parent ended before the line above.
        os._exit(1)


def limit(what: int, most: int) -> None:
    """Lower a limit of this process, soft and hard."""
    _, ceiling = resource.getrlimit(what)
    if ceiling != resource.RLIM_INFINITY:
        most = min(most, ceiling)
    resource.setrlimit(what, (most, most))


def enter() -> list[str]:
    """Enter the sandbox; return the names of the protections that this kernel lacks."""
    limit(resource.RLIMIT_FSIZE, 0)
    limit(resource.RLIMIT_NOFILE, _DESCRIPTORS)
    limit(resource.RLIMIT_NPROC, _tasks_of_user() + _MORE_TASKS)
    # Hide documents from debuggers of the same user and from core file handlers.
    _prctl(_PR_SET_DUMPABLE, 0)
    steps = {
        "no_new_privs": lambda: _prctl(_PR_SET_NO_NEW_PRIVS, 1),
        "Landlock": landlock.restrict,
        "capabilities": _drop_capabilities,
        # Last, because it blocks the calls of the others.
        "seccomp": seccomp.restrict,
    }
    return [name for name, step in steps.items() if not step()]


def _prctl(option: int, value: int) -> bool:
    zero = ctypes.c_ulong(0)
    done = ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), zero, zero, zero)
    return bool(done == 0)


def _drop_capabilities() -> bool:
    """Drop all capabilities, for services that run as root in their container."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    return bool(ctypes.CDLL(None).capset(header, (ctypes.c_uint32 * 6)()) == 0)


def _tasks_of_user() -> int:
    """Count the threads of this user in all processes, as the limit does."""
    user, count = os.getuid(), 0
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                if process.stat().st_uid == user:
                    count += len(list((process / "task").iterdir()))
            except OSError:  # It ended meanwhile.
                continue
    return count
