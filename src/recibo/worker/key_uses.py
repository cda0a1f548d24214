"""Writes down, now and then, when API keys were used; in every process that serves them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import structlog

from recibo.services.identity.key_uses import KeyUses
from recibo.store.db import Database

log = structlog.get_logger(__name__)

_PERIOD_SECONDS = 30
# A statement that is cancelled leaves its connection in the middle of it.
_LAST_FLUSH_SECONDS = 10


@contextlib.asynccontextmanager
async def written_down(uses: KeyUses, database: Database) -> AsyncIterator[None]:
    """Flush every half minute while the block lasts, and once more at its end."""
    stopping = asyncio.Event()
    loop = asyncio.create_task(_run(uses, database, stopping))
    try:
        yield
    finally:
        stopping.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(loop, _LAST_FLUSH_SECONDS)


async def _run(uses: KeyUses, database: Database, stopping: asyncio.Event) -> None:
    is_last = False
    while not is_last:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), _PERIOD_SECONDS)
        is_last = stopping.is_set()
        try:
            await uses.flush(database)
        except Exception:
            # What was not written is kept, and tried again.
            log.exception("the uses of API keys could not be written down")
