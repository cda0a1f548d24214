"""Reserves the last free reader for an org that has no other reading in progress.

A process has one reader more than configured. One org can keep all configured readers busy, and
the next org still finds a free one.
"""

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from recibo.schemas.ids import OrgId, ReceiptId
from recibo.services.reading.fair_queue import Job


class ReaderShares:
    """The readers of this process, and the jobs that wait for one."""

    def __init__(self, readers: int) -> None:
        self._readers = readers
        self._in_use = Counter[OrgId]()
        # Bounded: only orgs with a reading in progress wait, and the queue holds few jobs of each.
        self._waiting = dict[ReceiptId, Job]()
        self._numbers = itertools.count(1)

    @property
    def has_only_reserved(self) -> bool:
        """Whether only the reserved reader is free."""
        return self._in_use.total() >= self._readers

    def acquire(self, org_id: OrgId) -> bool:
        """Take a reader; False if only the reserved one is free and the org has another."""
        if self.has_only_reserved and self._in_use[org_id]:
            return False
        self._in_use[org_id] += 1
        return True

    def release(self, org_id: OrgId) -> None:
        """Release a reader of an org."""
        self._in_use[org_id] -= 1
        if not self._in_use[org_id]:
            del self._in_use[org_id]

    def postpone(self, job: Job) -> None:
        """Remember a job that must wait for a free reader."""
        self._waiting[job.receipt_id] = job

    def take_waiting(self, following: Iterable[Job]) -> list[Job]:
        """Return and forget the postponed jobs, merged with `following`.

        Each gets a new repetition number: the queue would ignore a key that it has just dropped.
        """
        again = {
            receipt_id: replace(job, repetition=next(self._numbers))
            for receipt_id, job in self._waiting.items()
        }
        self._waiting.clear()
        return list(({one.receipt_id: one for one in following} | again).values())
