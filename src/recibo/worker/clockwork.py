"""What happens by itself: owed readings are added, what is over is purged, strays are swept.

Loops, not tasks of the engine: an emptied queue heals by itself. They run at start, then every few
seconds for readings and every half minute for the rest, each in one process at a time.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

import structlog

from recibo.services import audit, org_deletion, orphans
from recibo.services.billing import sandbox, subscriptions
from recibo.services.identity import attempts, key_notices, links, sessions
from recibo.services.reading import readings, receipts, replays, turns
from recibo.services.reading.extraction import Carrier
from recibo.services.webhooks import deliveries
from recibo.shapes.plans import SOLD, Plans
from recibo.store.blobs import Blobs
from recibo.store.db import Database
from recibo.worker import metrics

log = structlog.get_logger(__name__)

# What Redis lost is added again in good time for those who wait for their uploads.
_READINGS_SECONDS = 5
_UPKEEP_SECONDS = 30
# A statement that is cancelled leaves its connection in the middle of it.
_LAST_TURN_SECONDS = 10
_ROUND = 1000

_Duty = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Clockwork:
    """What it looks after."""

    database: Database
    blobs: Blobs
    carrier: Carrier
    #: What orgs may use.
    plans: Plans = SOLD

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Turn while the block lasts; a turn that has begun is ended, if it ends soon."""
        async with contextlib.AsyncExitStack() as stack:
            for beat in self._beats:
                await stack.enter_async_context(self._repeated(beat))
            yield

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Only end what is overdue, where others work: they may all have died."""
        async with self._repeated(self._watch):
            yield

    async def turn(self) -> None:
        """Do all that is due now; one duty that fails keeps none of the others."""
        for beat in self._beats:
            await self._turn(beat)

    async def free_readings(self) -> None:
        """Take up at once what the process before had in hand, where there is no other."""
        async with self.database.write() as session:
            await readings.free(session)

    async def free_deliveries(self) -> None:
        """The same of webhooks that it was about to send."""
        async with self.database.write() as session:
            await deliveries.free(session)

    async def fail_overdue_readings(self) -> None:
        """Fail what can be read no more, whatever became of the worker that had it."""
        async with self.database.read() as session:
            overdue = await readings.overdue(session, limit=_ROUND)
        for receipt_id in overdue:
            async with self.database.write() as session:
                await readings.fail_overdue(session, receipt_id)

    async def add_owed_readings(self) -> None:
        """Give the engine what is owed; what it carries already stays as it is."""
        async with self.database.read() as session:
            owed = await turns.of_all(session, limit=_ROUND, plans=self.plans)
        await self.carrier.add_readings(owed)

    async def count_owed_readings(self) -> None:
        """Tell the metrics of this process how much is owed."""
        async with self.database.read() as session:
            metrics.OWED_READINGS.set(await readings.count_owed(session))

    async def count_owed_deliveries(self) -> None:
        """Tell the metrics of this process how many webhooks are owed."""
        async with self.database.read() as session:
            metrics.OWED_DELIVERIES.set(await deliveries.count_owed(session))

    async def owe_key_notices(self) -> None:
        """Owe mails about the API keys that end soon."""
        await key_notices.owe(self.database)

    async def settle_subscriptions(self) -> None:
        """Renew or end what was bought in the sandbox; elsewhere the provider does."""
        await sandbox.settle(self.database)

    async def purge(self) -> None:
        """Delete what nobody may keep longer: receipts, sessions, tokens, counts, events, audit."""
        while purged := await receipts.purge(self.database):
            await orphans.discard(self.blobs, purged)
        await self._purge_orgs()
        async with self.database.write() as session:
            await replays.purge_expired(session)
            await sessions.purge_expired(session)
            await links.purge_expired(session)
            await attempts.purge_expired(session)
            await subscriptions.purge_events(session)
        while await deliveries.purge(self.database):
            pass
        while await audit.purge(self.database):
            pass

    async def _purge_orgs(self) -> None:
        while purged := await org_deletion.purge(self.database):
            await orphans.discard(self.blobs, purged)
        while await org_deletion.finish(self.database):
            pass

    async def sweep(self) -> None:
        """Look for files that no receipt knows, a portion at a time."""
        swept = await orphans.sweep(self.database, self.blobs)
        metrics.TRASHED_FILES.inc(swept.trashed)
        metrics.ABORTED_SWEEPS.inc(swept.is_aborted)

    @property
    def _beats(self) -> "Sequence[_Beat]":
        adding = _Beat("adding", _READINGS_SECONDS, (self.add_owed_readings,))
        upkeep = (self.owe_key_notices, self.settle_subscriptions, self.purge, self.sweep)
        return self._watch, adding, _Beat("upkeep", _UPKEEP_SECONDS, upkeep)

    @property
    def _watch(self) -> "_Beat":
        # Every process tells how much is owed, as each is asked for its own metrics.
        counting = (self.count_owed_readings, self.count_owed_deliveries)
        return _Beat("watch", _READINGS_SECONDS, (self.fail_overdue_readings,), counting)

    @contextlib.asynccontextmanager
    async def _repeated(self, beat: "_Beat") -> AsyncIterator[None]:
        stopping = asyncio.Event()
        loop = asyncio.create_task(self._run(beat, stopping))
        try:
            yield
        finally:
            stopping.set()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(loop, _LAST_TURN_SECONDS)

    async def _run(self, beat: "_Beat", stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            await self._turn(beat)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), beat.seconds)

    async def _turn(self, beat: "_Beat") -> None:
        try:
            async with self.database.alone(f"clockwork:{beat.name}") as is_alone:
                for duty in (*beat.duties, *beat.own) if is_alone else beat.own:
                    await _tried(duty)
        except Exception:
            log.exception("a turn of the clockwork failed", beat=beat.name)


@dataclass(frozen=True, slots=True)
class _Beat:
    """Duties that are due every so often."""

    name: str
    seconds: float
    #: For one process at a time, whichever comes first.
    duties: Sequence[_Duty]
    #: For every process.
    own: Sequence[_Duty] = ()


async def _tried(duty: _Duty) -> None:
    try:
        await duty()
    except Exception:
        # The next turn tries again, and the other duties are done all the same.
        log.exception("a duty of the clockwork failed", duty=getattr(duty, "__name__", "?"))
