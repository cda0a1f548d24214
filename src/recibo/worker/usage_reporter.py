"""Reports used credits to the payment provider, in every worker process.

The reporter leases an event, sends it outside any transaction and then deletes its row. A crash at
any point only means that it is sent again, and the provider recognizes it by its id.
"""

import asyncio
import datetime as dt
from collections import defaultdict, deque
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import structlog

from recibo.adapters.payments import CreditUsage, MeterError, UsageMeter, UseRefusedError
from recibo.lib import clock
from recibo.services import meter_events
from recibo.services.meter_events import Due, Lease
from recibo.store.db import Database
from recibo.worker import metrics, poll_loop

log = structlog.get_logger(__name__)

_BATCH = 50
# Few, because checkouts share the provider's rate limit.
_CONCURRENCY = 4
# Stripe refuses older events: https://docs.stripe.com/api/billing/meter-event/create
_MAX_AGE = dt.timedelta(days=35)


@dataclass(frozen=True, slots=True)
class UsageReporter:
    """Sends meter events to a payment provider."""

    database: Database
    provider: UsageMeter

    def running(self) -> AbstractAsyncContextManager[None]:
        """Report usage while the block runs."""
        return poll_loop.poll("usage", self._poll)

    async def run_once(self, stopping: asyncio.Event | None = None) -> int:
        """Try to report all due events, several customers at once; return how many were due."""
        async with self.database.read() as session:
            due = await meter_events.due(session, limit=_BATCH)
        waiting = deque(_by_customer(due))

        async def work() -> None:
            while waiting:
                for one in waiting.popleft():
                    if stopping and stopping.is_set():
                        return
                    await self._try_report(one)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(_CONCURRENCY, len(waiting))):
                group.create_task(work())
        return len(due)

    async def report(self, due: Due) -> None:
        """Report an event unless another worker leased it; retry a failed one later."""
        async with self.database.write() as session:
            lease = await meter_events.lease(session, due)
        if lease is None:
            return
        with structlog.contextvars.bound_contextvars(usage_event=lease.used.id):
            metrics.METER_EVENTS.labels(await self._attempt(lease)).inc()

    async def _poll(self, stopping: asyncio.Event) -> bool:
        return await self.run_once(stopping) == _BATCH

    async def _try_report(self, due: Due) -> None:
        try:
            await self.report(due)
        except Exception:
            # Raising would cancel the other events. This one is retried when its lease expires.
            log.exception("failed to record the outcome of a meter event", usage_event=due.id)

    async def _attempt(self, lease: Lease) -> str:
        """Report the event and remove or defer its row; return the outcome for the metric."""
        failure = await self._send(lease.used)
        if failure is None:
            outcome = "sent"
        elif isinstance(failure, UseRefusedError):
            used = lease.used
            log.error("meter event dropped", detail=str(failure), credits=used.credits)
            outcome = "refused"
        else:
            log.warning("failed to report usage", detail=str(failure), attempt=lease.attempt)
            async with self.database.write() as session:
                await meter_events.defer(session, lease)
            return "deferred"
        async with self.database.write() as session:
            await meter_events.remove(session, lease)
        return outcome

    async def _send(self, used: CreditUsage) -> MeterError | None:
        """Send the event; return the error if that fails."""
        if clock.now() - used.used_at >= _MAX_AGE:
            return UseRefusedError("it is too old")
        try:
            await self.provider.measure(used)
        except MeterError as e:
            return e
        except Exception as e:
            # Retried like any other failure, until the event is too old.
            log.exception("failed to send a meter event")
            return MeterError(type(e).__name__)
        return None


def _by_customer(due: Sequence[Due]) -> list[list[Due]]:
    """Group events by customer: Stripe refuses concurrent events of the same customer."""
    groups = defaultdict[str, list[Due]](list)
    for one in due:
        groups[one.customer].append(one)
    return list(groups.values())
