"""Uploaded files in a bucket of S3, or of whatever speaks as it does."""

import asyncio
import contextlib
import datetime as dt
import re
import tempfile
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import obstore
import structlog
from obstore.exceptions import BaseError
from obstore.store import S3Store

from recibo.errors import Overloaded
from recibo.lib import clock
from recibo.schemas.ids import ReceiptId
from recibo.store.blobs import (
    CHUNK_BYTES,
    MARKER,
    TRASH,
    Content,
    Listed,
    Listing,
    Trashed,
    is_key,
    key_of,
)

if TYPE_CHECKING:
    from obstore import ObjectMeta

log = structlog.get_logger(__name__)

# An upload waits for it, and its client gives up after half a minute.
_LIMIT_S = 20.0
_CONNECTING = dt.timedelta(seconds=3)
# For each piece of an answer: whoever downloads slowly is waited for.
_SILENCE = dt.timedelta(seconds=15)
_DOWNLOAD = dt.timedelta(hours=1)
_RETRYING = dt.timedelta(seconds=8)
_RETRIES = 3
_RETRY_AFTER_S = 10
# Parts are of 5 MiB, so that few of a document are in memory at once.
_PARTS_AT_ONCE = 2
_NO_BUCKET = "NoSuchBucket"
_PROBE = ".writable"
_PROBE_LIVES = dt.timedelta(seconds=15)
# As many as the service gives at once.
_PAGE = 1000
_TRASHED = re.compile(rf"{TRASH}/(\d{{4}}-\d{{2}}-\d{{2}})/rcp_[0-9a-f]{{32}}")


def bucket(name: str, prefix: str) -> S3Store:
    """Return a bucket; keys, region and endpoint are those of the environment (`AWS_…`).

    Raises:
        ValueError: the environment makes no sense.
    """
    try:
        return S3Store(
            name,
            prefix=prefix or None,
            # Only an endpoint that is named so goes without TLS.
            client_options={
                "allow_http": True,
                "connect_timeout": _CONNECTING,
                "read_timeout": _SILENCE,
                "timeout": _DOWNLOAD,
            },
            retry_config={"max_retries": _RETRIES, "retry_timeout": _RETRYING},
            # Not all that speak as S3 does know the deletion of many at once.
            disable_bulk_delete=True,
        )
    except (BaseError, OSError) as e:
        raise ValueError(_first_line(e)) from e


class S3:
    """Files in a bucket, under the names that they have in a folder."""

    sweep_seconds = 5.0

    def __init__(self, store: S3Store, *, spool: Path) -> None:
        self._store = store
        self._spool = spool
        self._writable_until = dt.datetime.min.replace(tzinfo=dt.UTC)

    async def keep(self, receipt_id: ReceiptId, file: BinaryIO) -> None:
        """Upload the file, in parts when it is large; it is there whole or not at all."""
        async with _answering():
            await obstore.put_async(
                self._store, key_of(receipt_id), file, max_concurrency=_PARTS_AT_ONCE
            )

    @asynccontextmanager
    async def fetched(self, receipt_id: ReceiptId) -> AsyncIterator[Path | None]:
        """Give a copy, which is deleted when the block ends."""
        content = await self.content(receipt_id)
        if content is None:
            yield None
            return
        with tempfile.NamedTemporaryFile(dir=self._spool, prefix="fetched-") as copy:
            async with _answering():
                async for chunk in content.chunks:
                    copy.write(chunk)
            copy.flush()
            yield Path(copy.name)

    async def content(self, receipt_id: ReceiptId) -> Content | None:
        """Return the object's bytes as they come."""
        async with _answering():
            try:
                found = await obstore.get_async(self._store, key_of(receipt_id))
            except FileNotFoundError as e:
                if _NO_BUCKET in str(e):
                    raise
                return None
        return Content(found.meta["size"], aiter(found.stream(min_chunk_size=CHUNK_BYTES)))

    async def discard(self, receipt_id: ReceiptId) -> None:
        """Delete the object; what cannot be deleted now is a stray, and swept later."""
        with contextlib.suppress(Overloaded):
            async with _answering():
                await obstore.delete_async(self._store, key_of(receipt_id))

    async def is_writable(self) -> bool:
        """Tell whether the bucket takes objects; asked often, it answers what it saw last."""
        if clock.now() < self._writable_until:
            return True
        try:
            async with _answering():
                await obstore.put_async(self._store, _PROBE, b"")
        except Overloaded:
            return False
        self._writable_until = clock.now() + _PROBE_LIVES
        return True

    async def listing(self, after: str) -> Listing:
        """Return one page of objects."""
        page = await self._page(after=after)
        files = [
            Listed(_id_of(one), one["last_modified"].timestamp())
            for one in page
            if is_key(one["path"])
        ]
        # The trash comes after all subfolders.
        is_last = not page or page[-1]["path"] >= TRASH
        return Listing(files, None if is_last else page[-1]["path"])

    async def marker(self) -> str | None:
        """Return the text of the object that marks the bucket."""
        async with _answering():
            try:
                found = await obstore.get_async(self._store, MARKER)
            except FileNotFoundError as e:
                if _NO_BUCKET in str(e):
                    raise
                return None
            return bytes(await found.bytes_async()).decode()

    async def mark(self, marker: str) -> None:
        """Write the object that marks the bucket."""
        async with _answering():
            await obstore.put_async(self._store, MARKER, marker.encode())

    async def trash(self, receipt_id: ReceiptId) -> None:
        """Copy the object below the trash's prefix of today, then delete it."""
        async with _answering():
            with contextlib.suppress(FileNotFoundError):
                target = _trash_key(clock.now().date(), receipt_id)
                await obstore.rename_async(self._store, key_of(receipt_id), target)

    async def trashed(self) -> AsyncIterator[Trashed]:
        """Give what is below the trash's prefix, a page at a time."""
        cursor = ""
        while page := await self._page(prefix=TRASH, after=cursor):
            cursor = page[-1]["path"]
            for one in page:
                if found := _TRASHED.fullmatch(one["path"]):
                    yield Trashed(_id_of(one), one["size"], dt.date.fromisoformat(found[1]))

    async def restore(self, trashed: Trashed) -> bool:
        """Copy the object to its place, then delete it below the trash's prefix."""
        if await self._is_there(key_of(trashed.id)):
            return False
        async with _answering():
            source = _trash_key(trashed.day, trashed.id)
            await obstore.rename_async(self._store, source, key_of(trashed.id))
        return True

    async def purge_trash(self, before: dt.date, *, limit: int) -> int:
        """Delete objects of old days."""
        purged = 0
        async for one in self.trashed():
            if one.day >= before or purged == limit:
                break
            async with _answering():
                await obstore.delete_async(self._store, _trash_key(one.day, one.id))
            purged += 1
        return purged

    async def discard_trashed(self, receipt_ids: Collection[ReceiptId]) -> None:
        """Delete objects of any day; one listing for all of them."""
        wanted = set(receipt_ids)
        with contextlib.suppress(Overloaded):
            async for one in self.trashed():
                if one.id in wanted:
                    async with _answering():
                        await obstore.delete_async(self._store, _trash_key(one.day, one.id))

    async def _page(self, *, prefix: str | None = None, after: str = "") -> "list[ObjectMeta]":
        listing = obstore.list(self._store, prefix, offset=after or None, chunk_size=_PAGE)
        async with _answering():
            async for page in listing:
                return list(page)
        return []

    async def _is_there(self, key: str) -> bool:
        async with _answering():
            try:
                await obstore.head_async(self._store, key)
            except FileNotFoundError:
                return False
        return True


def _trash_key(day: dt.date, receipt_id: ReceiptId) -> str:
    return f"{TRASH}/{day}/{receipt_id}"


def _id_of(found: "ObjectMeta") -> ReceiptId:
    return ReceiptId(found["path"].rpartition("/")[2])


@asynccontextmanager
async def _answering() -> AsyncIterator[None]:
    """Bound what is asked of the bucket in time, and tell of its failure in the service's words."""
    try:
        async with asyncio.timeout(_LIMIT_S):
            yield
    except (BaseError, OSError) as e:
        log.warning("the storage failed", kind=type(e).__name__, detail=_first_line(e))
        message = "The storage of files does not answer; nothing was done. Try again later."
        raise Overloaded(message, retry_after=_RETRY_AFTER_S) from e


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
