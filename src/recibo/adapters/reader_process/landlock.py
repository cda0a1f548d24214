"""Landlock: makes the kernel deny this process all files, TCP ports and other processes.

Numbers are those of linux/landlock.h. A thread that is already running when it is applied keeps
its rights on kernels before the eighth version of the interface; the system-call filter holds for
those too.
"""

import ctypes
import os

_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_GET_VERSION = 1

#: The file rights by the version that added them.
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
#: To bind and to connect TCP sockets.
_PORT_RIGHTS, _PORTS_SINCE = 0b11, 4
#: Abstract Unix sockets of, and signals to, processes outside.
_SCOPES, _SCOPES_SINCE = 0b11, 6
#: Applies the rules to every thread.
_ALL_THREADS, _ALL_THREADS_SINCE = 1 << 3, 8


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("ports", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


def restrict() -> bool:
    """Drop every right irrevocably; return False if the kernel has no Landlock.

    Needs `no_new_privs`. Open descriptors stay open.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, 0, _GET_VERSION)
    if version < 1:
        return False
    rules = _Ruleset(
        files=sum(rights for since, rights in _FILE_RIGHTS.items() if since <= version),
        ports=_PORT_RIGHTS if version >= _PORTS_SINCE else 0,
        scopes=_SCOPES if version >= _SCOPES_SINCE else 0,
    )
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(_size(version)), 0)
    if ruleset < 0:
        return False
    try:
        flags = _ALL_THREADS if version >= _ALL_THREADS_SINCE else 0
        return bool(libc.syscall(_RESTRICT_SELF, ruleset, flags) == 0)
    finally:
        os.close(ruleset)


def _size(version: int) -> int:
    """Return the size of the structure in this version: the kernel refuses a larger one."""
    fields = 1 + (version >= _PORTS_SINCE) + (version >= _SCOPES_SINCE)
    return fields * ctypes.sizeof(ctypes.c_uint64)
