"""A system-call filter: an allow-list of the calls that reading a document needs.

No allowed call opens, names or changes a file, or creates a socket or a process. The filter is
assembled here, because libseccomp is a system library that a Python package cannot require. Numbers
are those of asm/unistd_64.h and asm-generic/unistd.h.
"""

import ctypes
import errno
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass

# linux/seccomp.h
_SET_MODE_FILTER = 1
#: For all threads, and without slowing down the processor's speculation.
_FLAGS = 1 | 4
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000

# linux/bpf_common.h: load a word, jump if equal, mask, return.
_LOAD, _JUMP_IF, _MASK, _RETURN = 0x20, 0x15, 0x54, 0x06
#: Where struct seccomp_data holds the call's number, the architecture, and the low half of the
#: first argument on little-endian machines.
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16

# linux/sched.h: a thread of this process, and none that leaves a namespace.
_CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = 0x7E020000 | 0x00000080

#: Numbers on x86_64 and on aarch64.
_ALLOWED = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "pread64": (17, 67),
    "readv": (19, 65),
    "writev": (20, 66),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "nanosleep": (35, 101),
    "getpid": (39, 172),
    # Takes the next job from the parent's socket; there is no other.
    "recvmsg": (47, 212),
    "exit": (60, 93),
    "gettimeofday": (96, 169),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "set_robust_list": (273, 99),
    "getcpu": (309, 168),
    "getrandom": (318, 278),
    "membarrier": (324, 283),
    "rseq": (334, 293),
}


@dataclass(frozen=True, slots=True)
class _Machine:
    """The numbers of a processor architecture."""

    #: AUDIT_ARCH_* of linux/audit.h.
    audit: int
    column: int
    seccomp: int
    clone: int
    clone3: int
    tgkill: int


_MACHINES = {
    "x86_64": _Machine(0xC000003E, column=0, seccomp=317, clone=56, clone3=435, tgkill=234),
    "aarch64": _Machine(0xC00000B7, column=1, seccomp=277, clone=220, clone3=435, tgkill=131),
}


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("operand", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_uint16),
        ("instructions", ctypes.POINTER(_Instruction)),
    )


def restrict() -> bool:
    """Filter the calls of all threads irrevocably; return False if the kernel cannot.

    Needs `no_new_privs`.
    """
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return False
    instructions = [_Instruction(*one) for one in _filter(machine)]
    array = (_Instruction * len(instructions))(*instructions)
    program = _Program(len(instructions), array)
    libc = ctypes.CDLL(None, use_errno=True)
    done = libc.syscall(machine.seccomp, _SET_MODE_FILTER, _FLAGS, ctypes.byref(program))
    return bool(done == 0)


def _filter(machine: _Machine) -> Iterator[tuple[int, int, int, int]]:
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _JUMP_IF, 1, 0, machine.audit
    yield _RETURN, 0, 0, _KILL_PROCESS
    yield _LOAD, 0, 0, _NUMBER
    for numbers in _ALLOWED.values():
        yield _JUMP_IF, 0, 1, numbers[machine.column]
        yield _RETURN, 0, 0, _ALLOW
    # The C library then makes its threads with clone, whose flags a filter can see.
    yield _JUMP_IF, 0, 1, machine.clone3
    yield _RETURN, 0, 0, _ERRNO | errno.ENOSYS
    # libde265 decodes each HEIC picture on a thread.
    yield _JUMP_IF, 0, 5, machine.clone
    yield _LOAD, 0, 0, _FIRST_ARGUMENT
    yield _MASK, 0, 0, _CLONE_THREAD | _CLONE_NAMESPACES
    yield _JUMP_IF, 0, 1, _CLONE_THREAD
    yield _RETURN, 0, 0, _ALLOW
    yield _RETURN, 0, 0, _ERRNO | errno.EPERM
    # abort(3) signals its own process.
    yield _JUMP_IF, 0, 4, machine.tgkill
    yield _LOAD, 0, 0, _FIRST_ARGUMENT
    yield _JUMP_IF, 0, 1, os.getpid()
    yield _RETURN, 0, 0, _ALLOW
    yield _RETURN, 0, 0, _ERRNO | errno.EPERM
    yield _RETURN, 0, 0, _ERRNO | errno.EPERM
