"""Saves periodically when API keys were last used, in every process that serves requests."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import structlog

from recibo.services.identity.key_uses import KeyUses
from recibo.store.db import Database

log = structlog.get_logger(__name__)

_PERIOD_SECONDS = 30
# The last flush may finish: cancelling a statement leaves its connection in an unknown state.
_LAST_FLUSH_SECONDS = 10


@contextlib.asynccontextmanager
async def flushing(uses: KeyUses, database: Database) -> AsyncIterator[None]:
    """Flush every 30 seconds while the block runs, and once more at its end."""
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
            # Unsaved uses stay in memory and are flushed again.
            log.exception("failed to save when API keys were used")
