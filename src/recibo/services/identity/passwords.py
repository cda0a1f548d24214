"""Passwords: Argon2id, off the event loop, a bounded number at once and in the queue."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from recibo.errors import Overloaded, ValidationFailed
from recibo.lib.fair_queue import FairQueue, QueueFullError

T = TypeVar("T")

MIN_LENGTH = 8
MAX_LENGTH = 128

# RFC 9106 leaves the figures open; these are OWASP's for Argon2id: about 30 ms a hash.
_MEMORY_KIB = 19 * 1024
_PASSES = 2
# What a hash takes until it is measured.
_ASSUMED_SECONDS = 0.03
# 300 wrong passwords at once once made a right one take 14 s.
_LONGEST_WAIT_SECONDS = 3.0
# Hashing runs at a lower priority, so that sign-ins do not slow down other requests.
_NICENESS = 10


class Passwords:
    """Hashes and verifies.

    One core is left to the event loop, whose thread has priority: sign-ins wait for one another,
    and other requests do not wait for them. The queue is fair between addresses, and no request
    waits longer than three seconds.
    """

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=_PASSES, memory_cost=_MEMORY_KIB, parallelism=1)
        threads = max(1, len(os.sched_getaffinity(0)) - 1)
        self._threads = ThreadPoolExecutor(
            threads, thread_name_prefix="argon2", initializer=_give_way
        )
        self._queue = FairQueue(
            threads, longest_wait_s=_LONGEST_WAIT_SECONDS, assumed_s=_ASSUMED_SECONDS
        )
        # Verified against where there is no password, so that its absence takes as long.
        self._nobodys = self._hasher.hash("")

    @property
    def waiting(self) -> int:
        """How many passwords wait to be hashed or verified."""
        return self._queue.waiting

    @asynccontextmanager
    async def place(self, client: str = "") -> AsyncIterator[None]:
        """Hold one of the few places of those that hash, while the block lasts.

        Raises:
            Overloaded: too many passwords are being hashed or verified.
        """
        try:
            async with self._queue.slot(client):
                yield
        except QueueFullError as e:
            raise too_busy(e.retry_after_s) from None

    async def hash(self, password: str, *, client: str = "") -> str:
        """Return the hash to store, for a client that waits with others.

        Raises:
            Overloaded: too many passwords are being hashed or verified.
        """
        async with self.place(client):
            return await self._run(partial(self._hasher.hash, password))

    async def verify(self, stored: str | None, password: str) -> bool:
        """Return whether a password is the stored one; takes as long when none is stored.

        Call it in a `place`, with what leads to the hash looked up there: under a flood, those that
        are refused then cost no query.
        """
        work = partial(self._is_right, stored or self._nobodys, password)
        return await self._run(work) and stored is not None

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _is_right(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except (VerificationError, InvalidHashError):
            return False


def _give_way() -> None:
    # Linux holds priorities by threads.
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def too_busy(retry_after_s: int = 1) -> Overloaded:
    """Return the refusal of a try that would have to wait too long."""
    message = "Too many passwords are being checked at once; try again in a moment."
    return Overloaded(message, retry_after=retry_after_s)


def require_valid(password: str, *, field: str = "password") -> None:
    """Refuse a new password that is too short or too long; there is no other rule.

    Raises:
        ValidationFailed: it has fewer than 8 or more than 128 characters.
    """
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise ValidationFailed.of(field, f"has {MIN_LENGTH} to {MAX_LENGTH} characters")
