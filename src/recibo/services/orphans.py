"""Orphans, files without a receipt: found in batches, moved to the trash, deleted 30 days later.

An upload writes its file before its row, so a crash between the two leaves an orphan. No file is
moved before all files are counted: if too many are orphans, the database probably belongs to
other files.
"""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass
from time import monotonic

import structlog
from sqlalchemy import delete, func, select

from recibo.lib import clock
from recibo.schemas.ids import ReceiptId
from recibo.schemas.states import SweepStage
from recibo.services import installation
from recibo.services.reading import receipts
from recibo.store import upsert
from recibo.store.blobs import Blobs, Listed
from recibo.store.db import Database, Session
from recibo.store.tables import Orphan, Sweep

log = structlog.get_logger(__name__)

#: How long a file stays in the trash.
RETENTION = dt.timedelta(days=30)
# Wrong settings show at the start, so an operator has time to notice them.
_AFTER_START = dt.timedelta(minutes=15)
_BETWEEN_BATCHES = dt.timedelta(minutes=1)
_BETWEEN_PASSES = dt.timedelta(hours=1)
# An upload never takes longer between its file and its row.
_ORPHAN_AGE = dt.timedelta(hours=1)
# A sweep that finds more orphans than both of these moves none.
_MAX_ORPHANS = 100
_MAX_SHARE = 0.01
# The 1% limit allows more only from ten million files on, and they would fill the database.
_MAX_NOTED = 100_000
_BATCH = 100


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of one batch of a sweep."""

    trashed: int = 0
    #: It would have taken too many files.
    is_aborted: bool = False


async def postpone(database: Database) -> None:
    """Delay the next batch after a start of the server."""
    async with database.write() as session:
        row = await _row(session)
        row.due_at = max(row.due_at, clock.now() + _AFTER_START)


async def sweep(database: Database, blobs: Blobs) -> Swept:
    """Run the next batch if it is due: a fraction of a second, at most once a minute."""
    begun = monotonic()
    async with database.write() as session:
        row = await _row(session)
        own_id = await installation.id_of(session)
    if clock.now() < row.due_at:
        return Swept()
    marker = await installation.marker_of(blobs)
    if marker is None or marker.installation_id != own_id or marker.is_restoring:
        log.error("the files are not marked as this installation's, so none is swept")
        return Swept()
    batch = _SweepBatch(database, blobs, begun + blobs.sweep_seconds)
    match SweepStage(row.stage):
        case SweepStage.LISTING:
            return await batch.list_files(row)
        case SweepStage.MOVING:
            return await batch.move_orphans()
        case SweepStage.PURGING:
            return await batch.purge_trash()


async def discard(blobs: Blobs, purged: Collection[ReceiptId]) -> None:
    """Delete the files of purged receipts permanently, also from the trash."""
    for receipt_id in purged:
        await blobs.delete(receipt_id)
    await blobs.delete_from_trash(purged)


@dataclass(frozen=True, slots=True)
class _SweepBatch:
    database: Database
    blobs: Blobs
    #: In seconds of the monotonic clock.
    ends_at: float

    @property
    def has_time(self) -> bool:
        return monotonic() < self.ends_at

    async def list_files(self, row: Sweep) -> Swept:
        """Record files without a receipt; after the last one, decide whether to move them."""
        cursor = row.cursor
        while True:
            listing = await self.blobs.list_files(cursor)
            found = [{"receipt_id": one} for one in await self._unknown(listing.files)]
            is_complete = listing.cursor is None
            cursor = listing.cursor or ""
            async with self.database.write() as session:
                row = await _row(session)
                row.files += len(listing.files)
                row.cursor = cursor
                if found:
                    note = upsert.insert(session, Orphan).on_conflict_do_nothing()
                    await session.execute(note, found)
                if is_complete or not self.has_time:
                    return await self._decide(session, row, is_complete=is_complete)

    async def move_orphans(self) -> Swept:
        """Move noted files to the trash, unless a receipt knows them by now."""
        trashed, is_complete = 0, False
        while not is_complete:
            noted, known = await self._noted()
            for receipt_id in noted:
                if receipt_id not in known:
                    await self.blobs.move_to_trash(receipt_id)
                    trashed += 1
            async with self.database.write() as session:
                await session.execute(delete(Orphan).where(Orphan.receipt_id.in_(noted)))
            is_complete = len(noted) < _BATCH
            # After some work, not before: a slow machine must come to an end, too.
            if not self.has_time:
                break
        await self._end(SweepStage.PURGING if is_complete else SweepStage.MOVING)
        if trashed:
            log.warning("files without a receipt are in the trash now", count=trashed)
        return Swept(trashed=trashed)

    async def purge_trash(self) -> Swept:
        """Delete files that have been in the trash for long."""
        before = (clock.now() - RETENTION).date()
        while await self.blobs.purge_trash(before, limit=_BATCH) == _BATCH:
            if not self.has_time:
                await self._end(SweepStage.PURGING)
                return Swept()
        await self._end(SweepStage.LISTING, _BETWEEN_PASSES)
        return Swept()

    async def _noted(self) -> tuple[list[ReceiptId], set[ReceiptId]]:
        """Return some of the files noted, and those of them that have a receipt by now."""
        async with self.database.read() as session:
            query = select(Orphan.receipt_id).order_by(Orphan.receipt_id).limit(_BATCH)
            noted = [ReceiptId(one) for one in (await session.execute(query)).scalars()]
            return noted, await receipts.existing(session, noted)

    async def _unknown(self, files: list[Listed]) -> list[ReceiptId]:
        newest = (clock.now() - _ORPHAN_AGE).timestamp()
        old = [one.id for one in files if one.changed_at < newest]
        async with self.database.read() as session:
            known = await receipts.existing(session, old)
        return [one for one in old if one not in known]

    async def _decide(self, session: Session, row: Sweep, *, is_complete: bool) -> Swept:
        orphans = (await session.execute(select(func.count()).select_from(Orphan))).scalar_one()
        too_many = orphans > _MAX_ORPHANS and orphans > _MAX_SHARE * row.files
        if (is_complete and too_many) or orphans > _MAX_NOTED:
            log.error(
                "too many files have no receipt, so none is moved to the trash; is this the "
                "database that they belong to?",
                orphans=orphans,
                files=row.files,
            )
            await session.execute(delete(Orphan))
            self._begin(row, SweepStage.LISTING, _BETWEEN_PASSES)
            return Swept(is_aborted=True)
        if is_complete:
            self._begin(row, SweepStage.MOVING, self._pause)
        else:
            row.due_at = clock.now() + self._pause
        return Swept()

    async def _end(self, stage: SweepStage, pause: dt.timedelta | None = None) -> None:
        async with self.database.write() as session:
            self._begin(await _row(session), stage, pause or self._pause)

    def _begin(self, row: Sweep, stage: SweepStage, pause: dt.timedelta) -> None:
        row.stage, row.cursor, row.files = stage, "", 0
        row.due_at = clock.now() + pause

    @property
    def _pause(self) -> dt.timedelta:
        """Return the time until the next batch: longer when this one took too long."""
        taken = self.blobs.sweep_seconds + max(0.0, monotonic() - self.ends_at)
        return _BETWEEN_BATCHES * (taken / self.blobs.sweep_seconds)


async def _row(session: Session) -> Sweep:
    due_at = clock.now() + _AFTER_START
    begun = {"stage": SweepStage.LISTING, "cursor": "", "files": 0, "due_at": due_at}
    await upsert.add_missing(session, Sweep, row=1, **begun)
    return (await session.execute(select(Sweep))).scalar_one()
