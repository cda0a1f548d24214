"""What happens by itself: owed readings are added, what is over is purged, strays are swept.

A loop, not a task of the engine: an emptied queue heals by itself. It runs at start and then every
half minute.
"""

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import structlog

from recibo.kit import clock
from recibo.services import audit
from recibo.services.billing import sandbox, subscriptions
from recibo.services.identity import attempts, key_notices, links, sessions
from recibo.services.reading import readings, receipts, replays
from recibo.services.reading.extraction import Carrier
from recibo.store.blobs import Blobs
from recibo.store.db import Database
from recibo.worker import metrics

log = structlog.get_logger(__name__)

_PERIOD_SECONDS = 30
# A statement that is cancelled leaves its connection in the middle of it.
_LAST_TURN_SECONDS = 10
_ROUND = 1000
# An upload writes its file before its row; nobody takes longer between the two.
_STRAY_AGE = dt.timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Clockwork:
    """What it looks after."""

    database: Database
    blobs: Blobs
    carrier: Carrier

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Turn while the block lasts; a turn that has begun is ended, if it ends soon."""
        stopping = asyncio.Event()
        loop = asyncio.create_task(self._run(stopping))
        try:
            yield
        finally:
            stopping.set()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(loop, _LAST_TURN_SECONDS)

    async def turn(self) -> None:
        """Do all that is due now; one duty that fails keeps none of the others."""
        for duty in (
            self.add_owed_readings,
            self.owe_key_notices,
            self.settle_subscriptions,
            self.purge,
            self.sweep,
        ):
            await _tried(duty)

    async def add_owed_readings(self) -> None:
        """Give the engine what is owed; what it carries already stays as it is."""
        async with self.database.read() as session:
            owed = await readings.owed(session, limit=_ROUND)
            metrics.OWED_READINGS.set(await readings.count_owed(session))
        for receipt_id in owed:
            await self.carrier.add_reading(receipt_id)

    async def owe_key_notices(self) -> None:
        """Owe mails about the API keys that end soon."""
        await key_notices.owe(self.database)

    async def settle_subscriptions(self) -> None:
        """Renew or end what was bought in the sandbox; elsewhere the provider does."""
        await sandbox.settle(self.database)

    async def purge(self) -> None:
        """Delete what nobody may keep longer: receipts, sessions, tokens, counts, audit entries."""
        while purged := await receipts.purge(self.database):
            for receipt_id in purged:
                await self.blobs.discard(receipt_id)
        async with self.database.write() as session:
            await replays.purge_expired(session)
            await sessions.purge_expired(session)
            await links.purge_expired(session)
            await attempts.purge_expired(session)
            await subscriptions.purge_events(session)
        while await audit.purge(self.database):
            pass

    async def sweep(self, *, older_than: dt.timedelta = _STRAY_AGE) -> None:
        """Delete files that no row knows: their upload broke off between the two."""
        old = await self.blobs.older_than((clock.now() - older_than).timestamp())
        for start in range(0, len(old), _ROUND):
            batch = old[start : start + _ROUND]
            async with self.database.read() as session:
                known = await receipts.existing(session, batch)
            for receipt_id in set(batch) - known:
                await self.blobs.discard(receipt_id)

    async def _run(self, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            await self.turn()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), _PERIOD_SECONDS)


async def _tried(duty: Callable[[], Awaitable[None]]) -> None:
    try:
        await duty()
    except Exception:
        # The next turn tries again, and the other duties are done all the same.
        log.exception("a duty of the clockwork failed", duty=getattr(duty, "__name__", "?"))
