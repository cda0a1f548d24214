"""Uploaded files in a bucket of S3 or a compatible service."""

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
    day_of,
    is_key,
    key_of,
)

if TYPE_CHECKING:
    from obstore import ObjectMeta

log = structlog.get_logger(__name__)

# Uploads wait for it, and clients give up after half a minute.
_TIMEOUT_S = 20.0
_CONNECT_TIMEOUT = dt.timedelta(seconds=3)
# Per chunk: a client that downloads slowly is no failure.
_READ_TIMEOUT = dt.timedelta(seconds=15)
_DOWNLOAD_TIMEOUT = dt.timedelta(hours=1)
_RETRY_TIMEOUT = dt.timedelta(seconds=8)
_RETRIES = 3
_RETRY_AFTER_S = 10
# A part has 5 MiB, so an upload takes 10 MiB of memory.
_MAX_CONCURRENT_PARTS = 2
_NO_BUCKET = "NoSuchBucket"
_PROBE = ".writable"
_PROBE_TTL = dt.timedelta(seconds=15)
# The largest page that S3 returns.
_PAGE_SIZE = 1000
_TRASHED = re.compile(rf"{TRASH}/(\d{{4}}-\d{{2}}-\d{{2}})/rcp_[0-9a-f]{{32}}")


def bucket(name: str, prefix: str) -> S3Store:
    """Return a bucket; keys, region and endpoint come from the environment (`AWS_…`).

    Raises:
        ValueError: the environment is invalid.
    """
    try:
        return S3Store(
            name,
            prefix=prefix or None,
            # Only endpoints with an http:// URL are used without TLS.
            client_options={
                "allow_http": True,
                "connect_timeout": _CONNECT_TIMEOUT,
                "read_timeout": _READ_TIMEOUT,
                "timeout": _DOWNLOAD_TIMEOUT,
            },
            retry_config={"max_retries": _RETRIES, "retry_timeout": _RETRY_TIMEOUT},
            # Not all compatible services support bulk deletion.
            disable_bulk_delete=True,
        )
    except (BaseError, OSError) as e:
        raise ValueError(_first_line(e)) from e


class S3:
    """Files in a bucket, under the same names as in a folder."""

    sweep_seconds = 5.0

    def __init__(self, store: S3Store, *, spool: Path) -> None:
        self._store = store
        self._spool = spool
        self._writable_until = dt.datetime.min.replace(tzinfo=dt.UTC)

    async def put(self, receipt_id: ReceiptId, file: BinaryIO) -> None:
        """Upload the file atomically, in parts if it is large."""
        async with _translate_errors():
            await obstore.put_async(
                self._store, key_of(receipt_id), file, max_concurrency=_MAX_CONCURRENT_PARTS
            )

    @asynccontextmanager
    async def local_file(self, receipt_id: ReceiptId) -> AsyncIterator[Path | None]:
        """Download a copy, which is deleted when the block ends."""
        content = await self.content(receipt_id)
        if content is None:
            yield None
            return
        with tempfile.NamedTemporaryFile(dir=self._spool, prefix="fetched-") as copy:
            async with _translate_errors():
                async for chunk in content.chunks:
                    copy.write(chunk)
            copy.flush()
            yield Path(copy.name)

    async def content(self, receipt_id: ReceiptId) -> Content | None:
        """Return the object's content as a stream."""
        async with _translate_errors():
            try:
                found = await obstore.get_async(self._store, key_of(receipt_id))
            except FileNotFoundError as e:
                if _NO_BUCKET in str(e):
                    raise
                return None
        return Content(found.meta["size"], aiter(found.stream(min_chunk_size=CHUNK_BYTES)))

    async def delete(self, receipt_id: ReceiptId) -> None:
        """Delete the object; if that fails it is an orphan, which the sweep deletes later."""
        with contextlib.suppress(Overloaded):
            async with _translate_errors():
                await obstore.delete_async(self._store, key_of(receipt_id))

    async def is_writable(self) -> bool:
        """Return whether the bucket is writable; a positive result is cached for a while."""
        if clock.now() < self._writable_until:
            return True
        try:
            async with _translate_errors():
                await obstore.put_async(self._store, _PROBE, b"")
        except Overloaded:
            return False
        self._writable_until = clock.now() + _PROBE_TTL
        return True

    async def list_files(self, after: str) -> Listing:
        """Return one page of objects."""
        page = await self._page(after=after)
        files = [
            Listed(_id_of(one), one["last_modified"].timestamp())
            for one in page
            if is_key(one["path"])
        ]
        # The trash sorts after all subfolders.
        is_last = not page or page[-1]["path"] >= TRASH
        return Listing(files, None if is_last else page[-1]["path"])

    async def read_marker(self) -> str | None:
        """Return the text of the marker object."""
        async with _translate_errors():
            try:
                found = await obstore.get_async(self._store, MARKER)
            except FileNotFoundError as e:
                if _NO_BUCKET in str(e):
                    raise
                return None
            return bytes(await found.bytes_async()).decode()

    async def write_marker(self, marker: str) -> None:
        """Write the marker object."""
        async with _translate_errors():
            await obstore.put_async(self._store, MARKER, marker.encode())

    async def move_to_trash(self, receipt_id: ReceiptId) -> None:
        """Copy the object to today's trash prefix, then delete it."""
        async with _translate_errors():
            with contextlib.suppress(FileNotFoundError):
                target = _trash_key(clock.now().date(), receipt_id)
                await obstore.rename_async(self._store, key_of(receipt_id), target)

    async def list_trash(self) -> AsyncIterator[Trashed]:
        """Yield the objects in the trash, page by page."""
        cursor = ""
        while page := await self._page(prefix=TRASH, after=cursor):
            cursor = page[-1]["path"]
            for one in page:
                found = _TRASHED.fullmatch(one["path"])
                if found and (day := day_of(found[1])):
                    yield Trashed(_id_of(one), one["size"], day)

    async def restore(self, trashed: Trashed) -> bool:
        """Copy the object back, then delete it from the trash."""
        if await self._exists(key_of(trashed.id)):
            return False
        async with _translate_errors():
            source = _trash_key(trashed.day, trashed.id)
            await obstore.rename_async(self._store, source, key_of(trashed.id))
        return True

    async def purge_trash(self, before: dt.date, *, limit: int) -> int:
        """Delete the objects of old days."""
        purged = 0
        async for one in self.list_trash():
            if one.day >= before or purged == limit:
                break
            async with _translate_errors():
                await obstore.delete_async(self._store, _trash_key(one.day, one.id))
            purged += 1
        return purged

    async def delete_from_trash(self, receipt_ids: Collection[ReceiptId]) -> None:
        """Delete the objects from every day's prefix, with one listing of the trash."""
        wanted = set(receipt_ids)
        with contextlib.suppress(Overloaded):
            async for one in self.list_trash():
                if one.id in wanted:
                    async with _translate_errors():
                        await obstore.delete_async(self._store, _trash_key(one.day, one.id))

    async def _page(self, *, prefix: str | None = None, after: str = "") -> "list[ObjectMeta]":
        listing = obstore.list(self._store, prefix, offset=after or None, chunk_size=_PAGE_SIZE)
        async with _translate_errors():
            async for page in listing:
                return list(page)
        return []

    async def _exists(self, key: str) -> bool:
        async with _translate_errors():
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
async def _translate_errors() -> AsyncIterator[None]:
    """Limit the time of the block, and raise Overloaded when the bucket fails."""
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            yield
    except (BaseError, OSError) as e:
        log.warning("the storage failed", kind=type(e).__name__, detail=_first_line(e))
        message = "The storage of files does not answer; nothing was done. Try again later."
        raise Overloaded(message, retry_after=_RETRY_AFTER_S) from e


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
