"""Waiting for processes to be gone: on the kernel's word, not on the clock."""

import asyncio
import os
import select

# Far beyond what any ending takes; a test that needs it fails.
PATIENCE_S = 30


def wait_until_gone(pid: int) -> bool:
    """Wait until the process has ended, and tell whether it has."""
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
    """Do the same beside an event loop."""
    return await asyncio.to_thread(wait_until_gone, pid)
