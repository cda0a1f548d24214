"""Divides the readers of a process between the orgs that use them.

A process has one reader more than configured. One org alone can keep all configured readers busy,
and the next org still finds a free one. While several orgs are active, none gets more than an
equal share: a reader more than there are cores would slow the others down.
"""

import datetime as dt
import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from recibo.lib import clock
from recibo.schemas.ids import OrgId, ReceiptId
from recibo.services.reading.fair_queue import Job

# An org counts as active this long after a reading, so that it also finds its share with its next
# upload. Longer would leave readers idle after each upload of an org that rarely uploads.
_ACTIVE = dt.timedelta(seconds=2)


class ReaderShares:
    """The readers of this process, and the jobs that wait for one."""

    def __init__(self, readers: int) -> None:
        self._readers = readers
        self._in_use = Counter[OrgId]()
        self._released_at = dict[OrgId, dt.datetime]()
        # Bounded: only orgs with a reading in progress wait, and the queue holds few jobs of each.
        self._waiting = dict[ReceiptId, Job]()
        self._numbers = itertools.count(1)

    @property
    def has_only_reserved(self) -> bool:
        """Whether only the reserved reader is free."""
        return self._in_use.total() >= self._readers

    def acquire(self, org_id: OrgId) -> bool:
        """Take a reader; an org's first is refused to none, further ones only within its share."""
        in_use = self._in_use[org_id]
        if in_use and (self.has_only_reserved or in_use >= self._share(org_id)):
            return False
        self._in_use[org_id] += 1
        return True

    def release(self, org_id: OrgId) -> None:
        """Release a reader of an org."""
        self._released_at[org_id] = clock.now()
        self._in_use[org_id] -= 1
        if not self._in_use[org_id]:
            del self._in_use[org_id]

    def _share(self, org_id: OrgId) -> int:
        """Return how many readers the org may have while the others are active."""
        now = clock.now()
        self._released_at = {
            org: time for org, time in self._released_at.items() if now - time < _ACTIVE
        }
        active = self._in_use.keys() | self._released_at.keys() | {org_id}
        return max(1, self._readers // len(active))

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
