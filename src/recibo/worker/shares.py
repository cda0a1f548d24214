"""Which reading may begin: the last free reader is for an org that has no other in hand.

A process has one reader more than it is set to use. So an org may keep as many busy as are set, and
whoever else comes meanwhile still finds one free.
"""

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from recibo.schemas.ids import OrgId, ReceiptId
from recibo.services.reading.fair_queue import Job


class ReaderShares:
    """The readers of this process, and what had to wait for one."""

    def __init__(self, readers: int) -> None:
        self._readers = readers
        self._at_work = Counter[OrgId]()
        # Bounded: only orgs with a reading in hand are turned away, and the queue carries few of
        # each.
        self._turned_away = dict[ReceiptId, Job]()
        self._numbers = itertools.count(1)

    @property
    def has_only_the_last(self) -> bool:
        """Whether all readers are at work, but for the one more."""
        return self._at_work.total() >= self._readers

    def take(self, org_id: OrgId) -> bool:
        """Take a reader for an org; False when it has one, and only the last is free."""
        if self.has_only_the_last and self._at_work[org_id]:
            return False
        self._at_work[org_id] += 1
        return True

    def free(self, org_id: OrgId) -> None:
        """Give a reader back."""
        self._at_work[org_id] -= 1
        if not self._at_work[org_id]:
            del self._at_work[org_id]

    def turn_away(self, owed: Job) -> None:
        """Note a reading that has to wait until a reader is free."""
        self._turned_away[owed.receipt_id] = owed

    def returned(self, following: Iterable[Job]) -> list[Job]:
        """Return what may be tried again now that a reader is free, before what else follows.

        By new names: the queue takes for the same what it was rid of a moment ago.
        """
        again = {
            receipt_id: replace(owed, repetition=next(self._numbers))
            for receipt_id, owed in self._turned_away.items()
        }
        self._turned_away.clear()
        return list(({one.receipt_id: one for one in following} | again).values())
