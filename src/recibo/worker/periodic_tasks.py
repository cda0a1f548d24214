"""What happens by itself: pending readings are added, what is over is purged, orphans are swept.

Loops, not tasks of the engine: an emptied queue heals by itself. Each is a job of its own.
"""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from recibo.schemas.plans import SOLD, Plans
from recibo.services import audit, org_deletion, orphans
from recibo.services.billing import sandbox, subscriptions
from recibo.services.identity import email_tokens, key_notices, sessions, throttles
from recibo.services.reading import fair_queue, idempotency, pending_counts, readings, receipts
from recibo.services.reading.extraction import Enqueuer
from recibo.services.webhooks import deliveries
from recibo.store.blobs import Blobs
from recibo.store.db import Database
from recibo.worker import metrics
from recibo.worker.jobs import Budget, Job

# What Redis lost is added again in good time for those who wait for their uploads.
_READINGS_SECONDS = 5
_UPKEEP_SECONDS = 30
_ROUND = 1000

_EXPIRING = (
    idempotency.purge_expired,
    sessions.purge_expired,
    email_tokens.purge_expired,
    throttles.purge_expired,
    subscriptions.purge_events,
)

_Purge = Callable[[Database], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class PeriodicTasks:
    """What it looks after."""

    database: Database
    blobs: Blobs
    carrier: Enqueuer
    #: What orgs may use.
    plans: Plans = SOLD
    _place: "_Place" = field(default_factory=lambda: _Place())  # noqa: PLW0108 - it is defined below

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run all jobs, now and then, while the block lasts."""
        async with contextlib.AsyncExitStack() as stack:
            for job in self.jobs:
                await stack.enter_async_context(job.running(self.database))
            yield

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Only end what is overdue, where others work: they may all have died."""
        async with contextlib.AsyncExitStack() as stack:
            for job in self._watch:
                await stack.enter_async_context(job.running(self.database))
            yield

    async def turn(self) -> None:
        """Run all jobs once; one that fails keeps none of the others."""
        for job in self.jobs:
            await job.run_once(self.database)

    async def free_readings(self) -> None:
        """Take up at once what the process before had in hand, where there is no other."""
        async with self.database.write() as session:
            await readings.release_all(session)

    async def free_deliveries(self) -> None:
        """The same of webhooks that it was about to send."""
        async with self.database.write() as session:
            await deliveries.release(session)

    async def fail_overdue_readings(self, budget: Budget | None = None) -> None:
        """Fail what can be read no more, whatever became of the worker that had it."""
        async with self.database.read() as session:
            overdue = await readings.overdue(session, limit=_ROUND)
        for receipt_id in overdue:
            if budget and budget.is_spent:
                return
            async with self.database.write() as session:
                await readings.fail_overdue(session, receipt_id)

    async def add_owed_readings(self, _: Budget | None = None) -> None:
        """Give the engine what is pending; what it carries already stays as it is.

        Of a thousand orgs at a time, and of the next at the next run.
        """
        async with self.database.read() as session:
            owed, self._place.after = await fair_queue.next_batch(
                session, limit=_ROUND, after=self._place.after, plans=self.plans
            )
        await self.carrier.add_readings(owed)

    async def count_owed(self, _: Budget | None = None) -> None:
        """Tell the metrics of this process how many readings and webhooks are pending."""
        async with self.database.read() as session:
            metrics.PENDING_READINGS.set(await pending_counts.total(session))
            metrics.PENDING_DELIVERIES.set(await deliveries.count_pending(session))

    async def owe_key_notices(self, _: Budget | None = None) -> None:
        """Owe mails about the API keys that end soon."""
        await key_notices.enqueue_expiry_mails(self.database)

    async def settle_subscriptions(self, _: Budget | None = None) -> None:
        """Renew or end what was bought in the sandbox; elsewhere the provider does."""
        await sandbox.settle(self.database)

    async def purge(self) -> None:
        """Delete what nobody may keep longer: receipts, sessions, tokens, counts, events, audit."""
        for job in self._purges:
            await job.run_once(self.database)

    async def purge_receipts(self, budget: Budget) -> None:
        """Delete receipts, and then their files, whose retention is over."""
        while not budget.is_spent and (purged := await receipts.purge(self.database)):
            await orphans.discard(self.blobs, purged)

    async def purge_orgs(self, budget: Budget) -> None:
        """Delete what is left of deleted orgs, files after their rows."""
        while not budget.is_spent and (purged := await org_deletion.purge(self.database)):
            await orphans.discard(self.blobs, purged)
        while not budget.is_spent and await org_deletion.finish(self.database):
            pass

    async def purge_expired(self, budget: Budget) -> None:
        """Delete rows that count no more: replays, sessions, tokens, counters, events."""
        for purge in _EXPIRING:
            await self._until_done(purge)(budget)

    async def sweep(self, _: Budget | None = None) -> None:
        """Look for files that no receipt knows, a portion at a time."""
        swept = await orphans.sweep(self.database, self.blobs)
        metrics.TRASHED_FILES.inc(swept.trashed)
        metrics.ABORTED_SWEEPS.inc(swept.is_aborted)

    @property
    def jobs(self) -> Sequence[Job]:
        """All there are."""
        adding = Job("add-readings", _READINGS_SECONDS, self.add_owed_readings)
        return (
            *self._watch,
            adding,
            Job("key-notices", _UPKEEP_SECONDS, self.owe_key_notices),
            Job("subscriptions", _UPKEEP_SECONDS, self.settle_subscriptions),
            *self._purges,
            Job("sweep", _UPKEEP_SECONDS, self.sweep),
        )

    @property
    def _watch(self) -> Sequence[Job]:
        return (
            Job("fail-overdue", _READINGS_SECONDS, self.fail_overdue_readings),
            # Every process tells how much is owed, as each is asked for its own metrics.
            Job("count-owed", _READINGS_SECONDS, self.count_owed, is_shared=False),
        )

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


@dataclass(slots=True)
class _Place:
    """Behind which org the next look at pending readings begins."""

    after: str = ""
