"""Recognizes repeated uploads for 24 hours, by their bytes or by the caller's key."""

import datetime as dt
from dataclasses import dataclass

from sqlalchemy import and_, bindparam, delete, or_, text

from recibo.errors import Conflict
from recibo.lib import clock
from recibo.schemas.actor import Actor
from recibo.schemas.ids import ReceiptId
from recibo.schemas.states import ReceiptStatus, ReplayKind
from recibo.store import purging, scope
from recibo.store.db import Database, Session
from recibo.store.tables import Receipt, Replay

_WINDOW = dt.timedelta(hours=24)

# As text, because SQLAlchemy compiles its own INSERT … ON CONFLICT for each upload.
_TAKE = text("""
    INSERT INTO replays (org_id, kind, "key", session, receipt_id, file_sha256, expires_at)
    VALUES (:org_id, :kind, :key, :session, :receipt_id, :file_sha256, :expires_at)
    ON CONFLICT (org_id, kind, "key", session) DO UPDATE SET
        receipt_id = excluded.receipt_id,
        file_sha256 = excluded.file_sha256,
        expires_at = excluded.expires_at
    WHERE replays.expires_at <= :now
    RETURNING receipt_id
""").bindparams(
    bindparam("expires_at", type_=Replay.__table__.c.expires_at.type),
    bindparam("now", type_=Replay.__table__.c.expires_at.type),
)

_FIND = scope.prepared(Replay, Replay.kind, Replay.receipt_id, Replay.file_sha256).where(
    or_(
        and_(Replay.kind == ReplayKind.KEY, Replay.key == bindparam("key")),
        and_(Replay.kind == ReplayKind.FILE, Replay.key == bindparam("file")),
    ),
    Replay.expires_at > bindparam("now"),
)


class AlreadyKnownError(Exception):
    """Another request with the same upload was faster."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What an upload is recognised by."""

    file_sha256: str
    idempotency_key: str | None

    def items(self) -> list[tuple[ReplayKind, str]]:
        """Return the caller's key first, because it also detects a conflict."""
        by_file = (ReplayKind.FILE, self.file_sha256)
        if self.idempotency_key is None:
            return [by_file]
        return [(ReplayKind.KEY, self.idempotency_key), by_file]


@dataclass(frozen=True, slots=True)
class Known:
    """The receipt of a repeated upload."""

    receipt_id: ReceiptId
    #: Whether the caller's key, if any, is recorded already.
    is_key_bound: bool


async def find(database: Database, actor: Actor, print_: Fingerprint) -> Known | None:
    """Return the receipt of the same upload within the window.

    Raises:
        Conflict: the caller's key came with another file.
    """
    wanted = {"key": print_.idempotency_key, "file": print_.file_sha256, "now": clock.now()}
    rows = await database.fetch_rows(_FIND, {**scope.parameters(actor), **wanted})
    found = {ReplayKind(row.kind): row for row in rows}
    # The key first, because it also detects a conflict.
    row = found.get(ReplayKind.KEY) or found.get(ReplayKind.FILE)
    if row is None:
        return None
    _refuse_other_file(row.file_sha256, print_)
    is_bound = print_.idempotency_key is None or ReplayKind.KEY in found
    return Known(ReceiptId(row.receipt_id), is_bound)


async def claim(session: Session, actor: Actor, print_: Fingerprint, receipt_id: ReceiptId) -> None:
    """Record a new upload inside the caller's transaction.

    Raises:
        AlreadyKnownError: another request was first; roll back and look again.
    """
    for kind, key in print_.items():
        if not await _take(session, actor, print_, receipt_id, (kind, key)):
            raise AlreadyKnownError


async def bind_key(
    session: Session, actor: Actor, print_: Fingerprint, receipt_id: ReceiptId
) -> bool:
    """Bind a caller's new key to the known receipt of its file, so that it means this file.

    False when the key was bound, or the receipt failed or was deleted, since both were looked at:
    look again.
    """
    if print_.idempotency_key is None:
        return True
    # Locked until the commit, so that deleting the receipt's replays includes this one.
    query = scope.of(actor, Receipt).where(
        Receipt.id == receipt_id,
        Receipt.status != ReceiptStatus.FAILED,
        Receipt.deleted_at.is_(None),
    )
    if (await session.execute(query.with_for_update(read=True))).first() is None:
        return False
    item = (ReplayKind.KEY, print_.idempotency_key)
    return await _take(session, actor, print_, receipt_id, item)


async def forget(session: Session, receipt_id: ReceiptId) -> None:
    """Let the upload be new again: its receipt failed or was deleted."""
    await session.execute(delete(Replay).where(Replay.receipt_id == receipt_id))


async def purge_expired(database: Database) -> int:
    """Delete up to a thousand that no longer count; return how many."""
    return await purging.purge_some(database, Replay, Replay.expires_at <= clock.now())


async def _take(
    session: Session,
    actor: Actor,
    print_: Fingerprint,
    receipt_id: ReceiptId,
    item: tuple[ReplayKind, str],
) -> bool:
    kind, key = item
    now = clock.now()
    values = {
        "org_id": actor.org_id,
        "kind": kind,
        "key": key,
        "session": scope.space_of(actor),
        "receipt_id": receipt_id,
        "file_sha256": print_.file_sha256,
        "expires_at": now + _WINDOW,
        "now": now,
    }
    return (await session.execute(_TAKE, values)).scalar_one_or_none() is not None


def _refuse_other_file(known_sha256: str, print_: Fingerprint) -> None:
    if known_sha256 != print_.file_sha256:
        message = "This Idempotency-Key was used with another file; use a new key for a new file."
        raise Conflict(message)
