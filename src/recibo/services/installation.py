"""The id that a database and its files share, so that they are not mixed with others.

The sweep takes files that no receipt knows for orphans. With a database restored elsewhere, a fresh
one, or another installation's files it would find nothing else.
"""

import json
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import func, select

from recibo.lib import clock, ids
from recibo.schemas.states import AuditAction, ResourceType
from recibo.services import audit
from recibo.services.reading import receipts
from recibo.store import upsert
from recibo.store.blobs import Blobs
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Installation, Receipt

log = structlog.get_logger(__name__)

_VERSION = 1
# One known file is enough to recognize the storage, and orphans are few.
_SAMPLED_LISTINGS = 3
_HOW_TO_FIX = "if these files are meant for this database, run `recibo admin files adopt`"
_TOGETHER = (
    "set RECIBO_DATABASE_URL, RECIBO_DATA_DIR and RECIBO_STORAGE_URL to what belongs together"
)


class ForeignFilesError(Exception):
    """The database and the files are not of one installation; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What the files are marked with."""

    installation_id: str
    #: A restore into these files has begun and not ended.
    is_restoring: bool = False

    def dumped(self) -> str:
        """Return the text of the marker file."""
        return json.dumps(
            {"version": _VERSION, "installation": self.installation_id,
             "restoring": self.is_restoring}
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a storage, from a sample of its files."""

    has_files: bool
    #: Whether the database has a receipt for any of them.
    are_known: bool


async def agree(database: Database, blobs: Blobs) -> str:
    """Return the id that database and files share; give them one where that is safe.

    Raises:
        ForeignFilesError: they belong to different installations, or nothing shows that they belong
            together.
    """
    # The row is committed before the marker is written: read in this order, the marker of another
    # process that starts for the first time is never without its row.
    marker = await marker_of(blobs)
    async with database.read() as session:
        own_id = await id_of(session)
    if marker is not None and own_id == marker.installation_id:
        if marker.is_restoring:
            # The database was the last to be restored.
            await blobs.write_marker(Marker(own_id).dumped())
        return own_id
    if marker is not None:
        raise _foreign(own_id, marker)
    contents = await looked_into(database, blobs)
    await _refuse_unmarked(database, contents, is_new=own_id is None)
    return await adopt(database, blobs)


async def adopt(database: Database, blobs: Blobs) -> str:
    """Mark the files as this database's, whatever they were marked with; return the id."""
    async with database.write() as session:
        own_id = await ensure_id(session)
    # After the row: a crash between the two leaves an id without a marker, which starts again.
    await blobs.write_marker(Marker(own_id).dumped())
    log.info("the files are marked as this installation's", installation=own_id)
    return own_id


async def record_adoption(database: Database, before: Marker | None) -> None:
    """Write down that an operator adopted files."""
    async with database.write() as session:
        own_id = await ensure_id(session)
        was = None if before is None else {"installation": before.installation_id}
        record(session, AuditAction.FILES_ADOPTED, own_id, before=was)


def record(
    session: Session,
    action: AuditAction,
    own_id: str,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Add an audit entry about the installation, of no org."""
    resource = (ResourceType.INSTALLATION, own_id)
    audit.record_by_operator(session, None, action, resource=resource, before=before, after=after)


async def id_of(session: ReadSession | Session) -> str | None:
    """Return the id of a database, None before its first start."""
    return (await session.execute(select(Installation.id))).scalar_one_or_none()


async def ensure_id(session: Session) -> str:
    """Return the id of a database, a new one when it has none."""
    created = {"id": ids.new("ins"), "created_at": clock.now()}
    await upsert.add_missing(session, Installation, row=1, **created)
    return (await session.execute(select(Installation.id))).scalar_one()


async def marker_of(blobs: Blobs) -> Marker | None:
    """Return what a storage is marked with."""
    text = await blobs.read_marker()
    if text is None:
        return None
    try:
        stored = json.loads(text)
        return Marker(str(stored["installation"]), bool(stored.get("restoring")))
    except (ValueError, KeyError, TypeError) as e:
        message = f"the mark of the files (.installation) cannot be read; {_HOW_TO_FIX}."
        raise ForeignFilesError(message) from e


async def looked_into(database: Database, blobs: Blobs) -> Contents:
    """Sample the first files of a storage."""
    cursor: str | None = ""
    has_files = False
    for _ in range(_SAMPLED_LISTINGS):
        listing = await blobs.list_files(cursor or "")
        found = [one.id for one in listing.files]
        has_files = has_files or bool(found)
        async with database.read() as session:
            if await receipts.existing(session, found):
                return Contents(has_files=True, are_known=True)
        cursor = listing.cursor
        if cursor is None:
            break
    return Contents(has_files, are_known=False)


async def _refuse_unmarked(database: Database, contents: Contents, *, is_new: bool) -> None:
    if contents.are_known:
        return
    if contents.has_files:
        message = (
            "no receipt of this database knows the files in its storage; "
            f"{_TOGETHER}, or, {_HOW_TO_FIX}."
        )
        raise ForeignFilesError(message)
    if is_new:
        return
    async with database.read() as session:
        count = (await session.execute(select(func.count()).select_from(Receipt))).scalar_one()
    if count:
        message = (
            f"this database has {count} receipts, and its storage is empty and not marked as its "
            f"own (is it mounted?); {_TOGETHER}, or, {_HOW_TO_FIX}."
        )
        raise ForeignFilesError(message)


def _foreign(own_id: str | None, marker: Marker) -> ForeignFilesError:
    if marker.is_restoring:
        return ForeignFilesError(
            "a restore into these files broke off; run `recibo restore` again, "
            "into an empty database."
        )
    if own_id is None:
        return ForeignFilesError(
            f"this database is new, and the files belong to installation {marker.installation_id}; "
            f"{_TOGETHER}, or, {_HOW_TO_FIX}."
        )
    return ForeignFilesError(
        f"the database belongs to installation {own_id}, and the files to "
        f"{marker.installation_id}; {_TOGETHER}, or, {_HOW_TO_FIX}."
    )
