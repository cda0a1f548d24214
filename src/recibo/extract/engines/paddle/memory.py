"""Gives memory back that was freed."""

import ctypes
import ctypes.util

_NAME = ctypes.util.find_library("c")
_TRIM = getattr(ctypes.CDLL(_NAME), "malloc_trim", None) if _NAME else None


def give_back() -> None:
    """Have the C library return to the system what it holds of freed memory (malloc_trim(3)).

    Networks take and free buffers of every size that pictures have, and the GNU library keeps
    them in pieces: without this a process holds 840 MB where it uses 480. Others need no telling.
    """
    if _TRIM:
        _TRIM(0)
