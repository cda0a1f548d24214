"""Uploaded files in a bucket of S3, or of whatever speaks as it does."""

import asyncio
import contextlib
import datetime as dt
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO

import obstore
import structlog
from obstore.exceptions import BaseError
from obstore.store import S3Store

from recibo.errors import Overloaded
from recibo.kit import clock, ids
from recibo.shapes.ids import ReceiptId
from recibo.store.blobs import CHUNK_BYTES, Content, key_of

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
# Each costs money, and a turn of the clockwork waits for them: so many at a time, then a rest.
_PAGES = 10
_REST = dt.timedelta(hours=1)


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

    def __init__(self, store: S3Store, *, spool: Path, rest: dt.timedelta = _REST) -> None:
        self._store = store
        self._spool = spool
        self._rest = rest
        # Where the next listing goes on; None to begin anew.
        self._listed_to: str | None = None
        self._rests_until = dt.datetime.min.replace(tzinfo=dt.UTC)
        self._writable_until = self._rests_until

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

    async def older_than(self, timestamp: float) -> list[ReceiptId]:
        """Return the ids of some old objects, going on where the last call ended."""
        if clock.now() < self._rests_until:
            return []
        found = list[ReceiptId]()
        pages = obstore.list(self._store, offset=self._listed_to)
        for _ in range(_PAGES):
            async with _answering():
                page = await anext(pages, None)
            if page is None:
                self._listed_to, self._rests_until = None, clock.now() + self._rest
                return found
            self._listed_to = page[-1]["path"]
            old = [one["path"] for one in page if one["last_modified"].timestamp() < timestamp]
            found.extend(_ours(old))
        return found


def _ours(keys: list[str]) -> Iterator[ReceiptId]:
    for key in keys:
        name = ReceiptId(key.rpartition("/")[2])
        # Whatever else lies there is somebody else's.
        if ids.is_well_formed(name) and key == key_of(name):
            yield name


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
