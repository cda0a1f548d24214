"""Periodic jobs: enqueue pending readings, purge expired data, sweep orphaned files.

`upkeep` are tasks of the queue. `watchdog` and `enqueuing` are loops: they must also run while the
queue is unreachable.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from recibo.schemas.plans import SOLD, Plans
from recibo.services import audit, org_deletion, orphans
from recibo.services.billing import sandbox, subscriptions
from recibo.services.identity import email_tokens, key_notices, sessions, throttles
from recibo.services.reading import (
    fair_queue,
    idempotency,
    pending_counts,
    readings,
    receipts,
    stored_readings,
)
from recibo.services.reading.extraction import Enqueuer
from recibo.services.receipt_mail import received_mails
from recibo.services.webhooks import deliveries
from recibo.store.blobs import Blobs
from recibo.store.db import Database
from recibo.worker import metrics
from recibo.worker.jobs import Budget, Job

# Short enough that a client still waits for its upload when Redis has lost the task.
_READINGS_SECONDS = 5
_UPKEEP_SECONDS = 30
_BATCH = 1000

_EXPIRING = (
    idempotency.purge_expired,
    sessions.purge_expired,
    email_tokens.purge_expired,
    throttles.purge_expired,
    subscriptions.purge_events,
    received_mails.purge_expired,
)

_Purge = Callable[[Database], Awaitable[int]]


@dataclass(slots=True)
class _State:
    #: The org after which the next batch of pending readings starts.
    after: str = ""
    next_count_at: float = 0.0
    #: The last receipt of an older release that was judged.
    judged_up_to: str = ""


@dataclass(frozen=True, slots=True)
class PeriodicTasks:
    """All periodic jobs of a process."""

    database: Database
    blobs: Blobs
    enqueuer: Enqueuer
    #: What orgs may use.
    plans: Plans = SOLD
    _state: _State = field(default_factory=_State)

    async def refresh_counts(self) -> None:
        """Count pending work for the metrics, at most once in five seconds."""
        if time.monotonic() >= self._state.next_count_at:
            self._state.next_count_at = time.monotonic() + _READINGS_SECONDS
            await self._counting.run_once(self.database)

    async def run_once(self) -> None:
        """Run all jobs once; a job that fails does not stop the others."""
        for job in self.jobs:
            await job.run_once(self.database)

    async def release_readings(self) -> None:
        """Release the leases of a previous process; only for a process that works alone."""
        async with self.database.write() as session:
            await readings.release_all(session)

    async def release_deliveries(self) -> None:
        """Release the webhook leases of a previous process; only for one that works alone."""
        async with self.database.write() as session:
            await deliveries.release_all(session)

    async def fail_overdue_readings(self, budget: Budget | None = None) -> None:
        """Fail receipts whose attempts or time are used up, whichever worker had them."""
        async with self.database.read() as session:
            overdue = await readings.overdue(session, limit=_BATCH)
        for receipt_id in overdue:
            if budget and budget.is_spent:
                return
            async with self.database.write() as session:
                await readings.fail_overdue(session, receipt_id)

    async def enqueue_pending_readings(self, _: Budget | None = None) -> None:
        """Enqueue the pending readings of the next thousand orgs; queued ones do not change."""
        async with self.database.read() as session:
            batch, self._state.after = await fair_queue.next_batch(
                session, limit=_BATCH, after=self._state.after, plans=self.plans
            )
        await self.enqueuer.add_readings(batch)

    async def count_pending(self, _: Budget | None = None) -> None:
        """Set the metrics of pending readings and webhooks."""
        async with self.database.read() as session:
            metrics.PENDING_READINGS.set(await pending_counts.total(session))
            metrics.PENDING_DELIVERIES.set(await deliveries.count_pending(session))

    async def enqueue_key_notices(self, _: Budget | None = None) -> None:
        """Enqueue mails about API keys that expire soon."""
        await key_notices.enqueue_expiry_mails(self.database)

    async def settle_subscriptions(self, _: Budget | None = None) -> None:
        """Renew or end sandbox subscriptions; the payment provider does it for all others."""
        await sandbox.settle(self.database)

    async def purge(self) -> None:
        """Run all purge jobs: receipts, orgs, expired rows, events, audit entries."""
        for job in self._purges:
            await job.run_once(self.database)

    async def purge_receipts(self, budget: Budget) -> None:
        """Delete receipts whose retention has ended, then their files."""
        while not budget.is_spent and (purged := await receipts.purge(self.database)):
            await orphans.discard(self.blobs, purged)

    async def purge_orgs(self, budget: Budget) -> None:
        """Delete the rows and then the files of deleted orgs."""
        while not budget.is_spent and (purged := await org_deletion.purge(self.database)):
            await orphans.discard(self.blobs, purged)
        while not budget.is_spent and await org_deletion.finish(self.database):
            pass

    async def purge_expired(self, budget: Budget) -> None:
        """Delete expired rows: replays, sessions, tokens, counters, provider events."""
        for purge in _EXPIRING:
            await self._until_done(purge)(budget)

    async def judge_older_receipts(self, budget: Budget) -> None:
        """Find doubts, duplicates and words of receipts that an older release read."""
        state = self._state
        while not budget.is_spent:
            judged = await stored_readings.judge_older(self.database, state.judged_up_to)
            state.judged_up_to = judged or ""
            if judged is None:
                return

    async def sweep(self, _: Budget | None = None) -> None:
        """Look for files without a receipt, one batch per run."""
        swept = await orphans.sweep(self.database, self.blobs)
        metrics.TRASHED_FILES.inc(swept.trashed)
        metrics.ABORTED_SWEEPS.inc(swept.is_aborted)

    @property
    def jobs(self) -> Sequence[Job]:
        """All periodic jobs."""
        return (self.watchdog, self._counting, self.enqueuing, *self.upkeep)

    @property
    def upkeep(self) -> Sequence[Job]:
        """The jobs that are tasks of the queue."""
        return (
            Job("key-notices", _UPKEEP_SECONDS, self.enqueue_key_notices),
            Job("subscriptions", _UPKEEP_SECONDS, self.settle_subscriptions),
            *self._purges,
            Job("judge-older-receipts", _UPKEEP_SECONDS, self.judge_older_receipts),
            Job("sweep", _UPKEEP_SECONDS, self.sweep),
        )

    @property
    def watchdog(self) -> Job:
        """The job that fails overdue readings, in every process: all workers may be dead."""
        return Job("fail-overdue", _READINGS_SECONDS, self.fail_overdue_readings)

    @property
    def enqueuing(self) -> Job:
        """The job that enqueues pending readings."""
        return Job("add-readings", _READINGS_SECONDS, self.enqueue_pending_readings)

    @property
    def _counting(self) -> Job:
        # In every process, because metrics are scraped from each.
        return Job("count-pending", _READINGS_SECONDS, self.count_pending, is_shared=False)

    @property
    def _purges(self) -> Sequence[Job]:
        return (
            Job("purge-receipts", _UPKEEP_SECONDS, self.purge_receipts),
            Job("purge-orgs", _UPKEEP_SECONDS, self.purge_orgs),
            Job("purge-expired", _UPKEEP_SECONDS, self.purge_expired),
            Job("purge-events", _UPKEEP_SECONDS, self._until_done(deliveries.purge)),
            Job("purge-audit", _UPKEEP_SECONDS, self._until_done(audit.purge)),
        )

    def _until_done(self, purge: _Purge) -> Callable[[Budget], Awaitable[None]]:
        async def work(budget: Budget) -> None:
            while not budget.is_spent and await purge(self.database):
                pass

        return work
