"""The meter: tells the payment provider of the credits that were used, in every process that works.

An event is taken by a lease, told outside any transaction, and only then its row is deleted; so a
crash between any two of these has it told again, and the provider knows it by its id.
"""

import asyncio
import datetime as dt
from collections import defaultdict, deque
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import structlog

from recibo.adapters.payments import MeterError, UsageMeter, Used, UseRefusedError
from recibo.lib import clock
from recibo.services import meter_events
from recibo.services.meter_events import Due, Lease
from recibo.store.db import Database
from recibo.worker import metrics, poll_loop

log = structlog.get_logger(__name__)

_ROUND = 50
# Checkouts go the same way to the provider, and need some of it.
_AT_ONCE = 4
# Stripe takes none that is older: https://docs.stripe.com/api/billing/meter-event/create
_TOO_OLD = dt.timedelta(days=35)


@dataclass(frozen=True, slots=True)
class UsageReporter:
    """What is told, and to whom."""

    database: Database
    provider: UsageMeter

    def running(self) -> AbstractAsyncContextManager[None]:
        """Tell while the block lasts."""
        return poll_loop.poll("the meter", self._round)

    async def round(self, stopping: asyncio.Event | None = None) -> int:
        """Try the events that are due, of some customers at once; return how many there were."""
        async with self.database.read() as session:
            seen = await meter_events.due(session, limit=_ROUND)
        waiting = deque(_by_customer(seen))

        async def work() -> None:
            while waiting:
                for one in waiting.popleft():
                    if stopping and stopping.is_set():
                        return
                    await self._tried(one)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(_AT_ONCE, len(waiting))):
                group.create_task(work())
        return len(seen)

    async def tell(self, seen: Due) -> None:
        """Tell of a use unless another does; one that fails is tried again later."""
        async with self.database.write() as session:
            lease = await meter_events.lease(session, seen)
        if lease is None:
            return
        with structlog.contextvars.bound_contextvars(usage_event=lease.used.id):
            metrics.METER_EVENTS.labels(await self._outcome(lease)).inc()

    async def _round(self, stopping: asyncio.Event) -> bool:
        return await self.round(stopping) == _ROUND

    async def _tried(self, seen: Due) -> None:
        try:
            await self.tell(seen)
        except Exception:
            # The others under way are not broken off; this one comes again when its lease is over.
            log.exception("what became of a meter event could not be noted", usage_event=seen.id)

    async def _outcome(self, lease: Lease) -> str:
        failure = await self._failure(lease.used)
        if failure is None:
            outcome = "sent"
        elif isinstance(failure, UseRefusedError):
            used = lease.used
            log.error("a meter event is dropped", detail=str(failure), credits=used.credits)
            outcome = "refused"
        else:
            log.warning("a meter event was not taken", detail=str(failure), attempt=lease.attempt)
            async with self.database.write() as session:
                await meter_events.defer(session, lease)
            return "put_off"
        async with self.database.write() as session:
            await meter_events.remove(session, lease)
        return outcome

    async def _failure(self, used: Used) -> MeterError | None:
        if clock.now() - used.used_at >= _TOO_OLD:
            return UseRefusedError("it is too old")
        try:
            await self.provider.measure(used)
        except MeterError as e:
            return e
        except Exception as e:
            # It is put off like any other, and given up when it is too old.
            log.exception("a meter event could not be sent")
            return MeterError(type(e).__name__)
        return None


def _by_customer(seen: Sequence[Due]) -> list[list[Due]]:
    """Group events: Stripe refuses two at once of the same customer."""
    found = defaultdict[str, list[Due]](list)
    for one in seen:
        found[one.customer].append(one)
    return list(found.values())
