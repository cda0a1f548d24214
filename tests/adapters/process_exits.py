"""Waiting for processes to hang or to be gone: on the kernel's word, not on the clock."""

import asyncio
import os
import select
import signal
import time
from pathlib import Path

# Far beyond what any ending takes; a test that needs it fails.
PATIENCE_S = 60
LOWEST_PRIORITY = 19


def wait_until_gone(pid: int) -> bool:
    """Wait until the process has ended; return whether it has."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        gone, _, _ = select.select([watch], [], [], PATIENCE_S)
        return bool(gone)
    finally:
        os.close(watch)


async def gone(pid: int) -> bool:
    """Do the same without blocking the event loop."""
    return await asyncio.to_thread(wait_until_gone, pid)


def wait_until_deaf(pid: int) -> None:
    """Wait until the process blocks its signals, as one that hangs does."""
    while signal.SIGUSR1 not in _blocked(pid):
        time.sleep(0.01)


async def deaf(pid: int) -> None:
    """Do the same without blocking the event loop."""
    await asyncio.to_thread(wait_until_deaf, pid)


def wait_for_lowest_priority(pid: int) -> None:
    """Wait until the process has the lowest priority."""
    while os.getpriority(os.PRIO_PROCESS, pid) < LOWEST_PRIORITY:
        time.sleep(0.01)


def _blocked(pid: int) -> set[int]:
    """Return the signals that a process blocks."""
    status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
    mask = int(status.partition("SigBlk:")[2].split()[0], 16)
    return {number + 1 for number in range(64) if mask & 1 << number}


def wait_until_child_is_deaf(parent: int) -> int:
    """Wait until a child of a process blocks its signals, and return the child."""
    while True:
        for child in children(parent):
            if signal.SIGUSR1 in _blocked(child):
                return child
        time.sleep(0.01)


def children(parent: int) -> set[int]:
    """Return the processes that a process started, zombies included."""
    # Each is listed with the thread that started it.
    threads = Path(f"/proc/{parent}/task").glob("*/children")
    return {int(child) for path in threads for child in path.read_text().split()}


def is_zombie(pid: int) -> bool:
    """Return whether a process has ended, and may already be reaped."""
    try:
        # A zombie has no command line any more.
        return not Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True
