"""Pictures of the pages of a receipt, drawn by a sandboxed process and cached."""

from dataclasses import dataclass, field

from recibo.adapters.reader import Failure, FailureKind, Reader
from recibo.errors import NotFound, ServerError
from recibo.lib.keyed_lock import KeyedLock
from recibo.schemas.actor import Actor
from recibo.schemas.ids import ReceiptId
from recibo.services.reading import receipts
from recibo.store import tables
from recibo.store.blobs import Blobs
from recibo.store.db import Database
from recibo.store.page_cache import PageCache


@dataclass(frozen=True, slots=True)
class PageImages:
    """Draws the pages of receipts, for each org one at a time."""

    database: Database
    blobs: Blobs
    reader: Reader
    cache: PageCache
    _orgs: KeyedLock = field(default_factory=KeyedLock)

    async def get(
        self, actor: Actor, receipt_id: str, number: int, *, width: int | None = None
    ) -> bytes:
        """Return an upright page as WebP.

        Args:
            actor: Who asks.
            receipt_id: The receipt.
            number: Of the page, from 1.
            width: Pixels, 64 to 1600; None for a longest side of 1600.

        Raises:
            NotFound: there is no such receipt or page, or it cannot be drawn.
            Overloaded: too many pages are being drawn.
        """
        async with self.database.read() as session:
            row = await receipts.row_of(session, actor, receipt_id)
            read = await session.get(tables.Evidence, row.id)
        turns = _turns(read, number)
        key = (row.id, number, turns, width)
        if cached := await self.cache.get(*key):
            return cached
        async with self._orgs.hold(actor.org_id), self.blobs.local_file(ReceiptId(row.id)) as path:
            if path is None:
                message = "The file of this receipt is gone."
                raise NotFound(message)
            drawn = await self.reader.draw(path, number, turns=turns, width=width)
        if isinstance(drawn, Failure):
            raise _error(drawn)
        if drawn is None:
            message = f"The document has no page {number}."
            raise NotFound(message)
        await self.cache.put(drawn, *key)
        return drawn


def _turns(read: tables.Evidence | None, number: int) -> int:
    """Return the quarter turns that recognition made; none before a page is read."""
    pages = (read.pages if read else None) or ()
    return pages[number - 1]["turns"] if 1 <= number <= len(pages) else 0


def _error(failure: Failure) -> NotFound | ServerError:
    if failure.kind is FailureKind.BROKEN:
        return ServerError(failure.message)
    return NotFound("This page cannot be drawn; get the file instead.")
