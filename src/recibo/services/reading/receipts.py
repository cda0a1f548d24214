"""Stored receipts: shown, listed, deleted, purged."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, bindparam, delete, select

from recibo.errors import Conflict, NotFound
from recibo.lib import clock, ids
from recibo.schemas import stored
from recibo.schemas.actor import Actor
from recibo.schemas.ids import OrgId, ReceiptId
from recibo.schemas.receipts import DOUBTFUL, DetailedReceipt, Evidence, Failure, Reading, Receipt
from recibo.schemas.states import (
    AuditAction,
    EventType,
    FailureCode,
    ReceiptStatus,
    ResourceType,
    ReviewStatus,
)
from recibo.services import audit
from recibo.services.reading import duplicates, idempotency, pending_counts, review, rollups
from recibo.services.webhooks import events
from recibo.store import scope, tables
from recibo.store.db import Database, ReadSession, Session

# Soft-deleted receipts are kept so long, then they go with their files.
_RETENTION = dt.timedelta(days=30)
_PURGE_BATCH = 500

_LISTS = ("line_items", "taxes", "payments")
_UNREAD: dict[str, Any] = dict.fromkeys(Reading.model_fields) | dict.fromkeys(_LISTS, ())

_COLUMNS = tables.Receipt.__table__.c
_LIVE = scope.prepared(tables.Receipt, *_COLUMNS).where(
    tables.Receipt.id == bindparam("receipt_id"), tables.Receipt.deleted_at.is_(None)
)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """The uploaded file of a receipt."""

    receipt_id: ReceiptId
    media_type: str


async def file_of(session: ReadSession, actor: Actor, receipt_id: str) -> StoredFile:
    """Return the file of a live receipt of the actor's org; raises NotFound for any other id."""
    row = await row_of(session, actor, receipt_id)
    return StoredFile(ReceiptId(row.id), row.media_type)


async def media_types(
    session: ReadSession, actor: Actor, receipt_ids: Sequence[str]
) -> dict[str, str]:
    """Return the media types of the files of receipts, in the given order."""
    query = (
        live(actor)
        .where(tables.Receipt.id.in_(receipt_ids))
        .with_only_columns(tables.Receipt.id, tables.Receipt.media_type)
    )
    known = {row.id: row.media_type for row in await session.execute(query)}
    return {one: known[one] for one in receipt_ids if one in known}


async def approved_of(
    session: ReadSession, actor: Actor, receipt_ids: Sequence[str]
) -> dict[str, dt.datetime]:
    """Return when those receipts were uploaded that exist and are approved, by their ids."""
    query = (
        live(actor)
        .where(
            tables.Receipt.id.in_(receipt_ids),
            tables.Receipt.review_status == ReviewStatus.APPROVED,
        )
        .with_only_columns(tables.Receipt.id, tables.Receipt.created_at)
    )
    return {row.id: row.created_at for row in await session.execute(query)}


async def row_of(session: ReadSession, actor: Actor, receipt_id: str) -> tables.Receipt:
    """Return the row of a live receipt of the actor's org; raises NotFound for any other id."""
    if not ids.is_well_formed(receipt_id):
        raise _no_such_receipt()
    query = live(actor).where(tables.Receipt.id == receipt_id)
    row = (await session.execute(query)).scalar_one_or_none()
    if row is None:
        raise _no_such_receipt()
    return row


async def fetch(database: Database, actor: Actor, receipt_id: str) -> tables.Receipt:
    """Do as `row_of` does, without a session; what is changed in the row is not stored."""
    if not ids.is_well_formed(receipt_id):
        raise _no_such_receipt()
    found = await database.fetch_row(_LIVE, {**scope.parameters(actor), "receipt_id": receipt_id})
    if found is None:
        raise _no_such_receipt()
    return tables.Receipt(**dict(zip(_COLUMNS.keys(), found, strict=True)))


async def locked_row_of(session: Session, actor: Actor, receipt_id: str) -> tables.Receipt:
    """Return the same, locked until the caller's transaction ends."""
    if not ids.is_well_formed(receipt_id):
        raise _no_such_receipt()
    query = live(actor).where(tables.Receipt.id == receipt_id).with_for_update()
    row = (await session.execute(query)).scalar_one_or_none()
    if row is None:
        raise _no_such_receipt()
    return row


async def get(
    session: ReadSession, actor: Actor, receipt_id: str, *, include: frozenset[str] = frozenset()
) -> Receipt:
    """Return a receipt with what is asked for: `evidence`, `reading`, and `text` of its pages."""
    row = await row_of(session, actor, receipt_id)
    return await render(session, row, actor=actor, include=include)


async def render(
    session: ReadSession | Session,
    row: tables.Receipt,
    *,
    actor: Actor,
    include: frozenset[str] = frozenset(),
) -> Receipt:
    """Return a row as the API shows it to an actor, with the extras that are asked for."""
    [receipt] = await render_all(session, actor, [row])
    if not include:
        return receipt
    read = await session.get(tables.Evidence, row.id)
    machine = row.machine_reading or row.reading
    extras = {
        "evidence": _shown_evidence(read) if read else None,
        "pages": read.pages or None if read else None,
        "text": read.texts if read else None,
        "reading": stored.load(Reading, machine) if machine else None,
    }
    asked = {name: extras[name] for name in include}
    return DetailedReceipt.model_validate({**receipt.model_dump(), **asked})


async def render_all(
    session: ReadSession | Session, actor: Actor, rows: Sequence[tables.Receipt]
) -> list[Receipt]:
    """Return rows as the API shows them to an actor, who may not see all their duplicates."""
    shown = [shape(row) for row in rows]
    listed = {one for receipt in shown for one in receipt.duplicates}
    if scope.sees_whole_org(actor):
        return shown
    query = live(actor).where(tables.Receipt.id.in_(listed)).with_only_columns(tables.Receipt.id)
    visible = set((await session.execute(query)).scalars())
    return [review.for_browser(one, visible) for one in shown]


async def soft_delete(
    session: Session, actor: Actor, receipt_id: str, *, replaced_by: str | None = None
) -> None:
    """Hide a receipt permanently and drop its pending reading; its quota stays used."""
    await duplicates.lock(session, actor.org_id)
    row = await locked_row_of(session, actor, receipt_id)
    was_pending = row.pending_accuracy is not None
    row.deleted_at = row.updated_at = clock.now()
    row.pending_accuracy = None
    await duplicates.forget(session, row)
    if row.status == ReceiptStatus.COMPLETED:
        await rollups.change(session, actor.org_id, before=rollups.entry_of(row), after=None)
    await idempotency.forget(session, ReceiptId(receipt_id))
    resource = (ResourceType.RECEIPT, receipt_id)
    after = {"replaced_by": replaced_by} if replaced_by else None
    audit.record(session, actor, AuditAction.RECEIPT_DELETED, resource=resource, after=after)
    await publish_change(session, row, EventType.RECEIPT_DELETED)
    if was_pending:
        await pending_counts.add(session, actor.org_id, -1)


async def replace_failed(
    session: Session, actor: Actor, receipt_id: str, replaced_by: str, *, is_own: bool = True
) -> None:
    """Delete a failed receipt in whose place there is another one by now.

    It stays if the other is of the same file at the same accuracy, because it counts as a failure
    of those, and, with `is_own`, if someone else uploaded it, who would miss it.
    """
    await duplicates.lock(session, actor.org_id)
    try:
        row = await locked_row_of(session, actor, receipt_id)
        other = await locked_row_of(session, actor, replaced_by)
    except NotFound:
        # Buttons are pressed twice.
        return
    is_another = (row.file_sha256, row.accuracy) != (other.file_sha256, other.accuracy)
    if is_another and (row.created_by == actor.created_by or not is_own):
        await soft_delete(session, actor, receipt_id, replaced_by=replaced_by)


async def refuse_unless_failed(session: ReadSession, actor: Actor, receipt_id: str) -> None:
    """Allow a new copy only of a document that could not be read, even if that is deleted by now.

    Raises:
        NotFound: there is no such receipt.
        Conflict: it was read, or it is being read.
    """
    if not ids.is_well_formed(receipt_id):
        raise _no_such_receipt()
    query = scope.of(actor, tables.Receipt).where(tables.Receipt.id == receipt_id)
    status = (await session.execute(query.with_only_columns(tables.Receipt.status))).scalar()
    if status is None:
        raise _no_such_receipt()
    if status != ReceiptStatus.FAILED:
        message = "Only a document that could not be read is replaced by a new copy."
        raise Conflict(message)


async def replacement_of(session: ReadSession, actor: Actor, receipt_id: str) -> str | None:
    """Return the newest later receipt of the file of a failed one that was deleted."""
    if not ids.is_well_formed(receipt_id):
        return None
    deleted = scope.of(actor, tables.Receipt).where(
        tables.Receipt.id == receipt_id,
        tables.Receipt.deleted_at.is_not(None),
        tables.Receipt.status == ReceiptStatus.FAILED,
    )
    file = deleted.with_only_columns(tables.Receipt.file_sha256).scalar_subquery()
    later = live(actor).where(tables.Receipt.file_sha256 == file, tables.Receipt.id > receipt_id)
    query = later.order_by(tables.Receipt.id.desc())
    return (await session.execute(query.with_only_columns(tables.Receipt.id).limit(1))).scalar()


async def publish_change(
    session: Session, row: tables.Receipt, event_type: EventType, **extras: object
) -> None:
    """Emit an event with the current receipt, inside the caller's transaction.

    The end of a reading goes to the URL given in the upload, or else to the org's endpoint.
    """
    url = None if event_type is EventType.RECEIPT_DELETED else row.webhook_url
    org_id = OrgId(row.org_id)
    if receivers := await events.receivers_of(session, org_id, event_type, url=url):
        data = {"receipt": shape(row).model_dump(mode="json"), **extras}
        await events.send(session, org_id, event_type, data, receivers)


async def purge(database: Database) -> list[ReceiptId]:
    """Delete up to 500 receipts whose retention has ended; the caller then deletes their files."""
    async with database.write() as session:
        query = (
            select(tables.Receipt.id, tables.Receipt.org_id)
            .where(tables.Receipt.deleted_at < clock.now() - _RETENTION)
            .limit(_PURGE_BATCH)
        )
        found = (await session.execute(query)).all()
        purged = [ReceiptId(row.id) for row in found]
        await session.execute(delete(tables.Receipt).where(tables.Receipt.id.in_(purged)))
        # The bodies of events contain copies of the reading.
        await session.execute(
            delete(tables.WebhookEvent).where(tables.WebhookEvent.receipt_id.in_(purged))
        )
        for row in found:
            resource = (ResourceType.RECEIPT, row.id)
            org_id = OrgId(row.org_id)
            audit.record_by_operator(session, org_id, AuditAction.RECEIPT_PURGED, resource=resource)
    return purged


async def existing(session: ReadSession, asked: Iterable[ReceiptId]) -> set[ReceiptId]:
    """Return those that have a row, deleted ones included."""
    query = select(tables.Receipt.id).where(tables.Receipt.id.in_(list(asked)))
    return {ReceiptId(one) for one in (await session.execute(query)).scalars()}


def shape(row: tables.Receipt) -> Receipt:
    """Return a row as the wire shows it."""
    return Receipt.model_validate(
        {
            **(stored.load(Reading, row.reading) if row.reading else _UNREAD),
            "id": row.id,
            "org_id": row.org_id,
            "status": row.status,
            "metadata": row.tags,
            "created_by": row.created_by,
            "accuracy": row.accuracy,
            "failure": _failure(row),
            "version": row.version,
            "review": review.of(row),
            "corrected_fields": row.corrected_fields or (),
            "duplicates": row.duplicates or (),
            "created_at": row.created_at,
            "updated_at": row.updated_at,
        }
    )


def _shown_evidence(read: tables.Evidence) -> dict[str, Any]:
    """Return the evidence in which only doubtful fields have alternatives."""
    fields = stored.load(Evidence, read.evidence)
    found = [one for one in fields.values() if isinstance(one, dict)]
    for one in (*found, *fields["line_items"]):
        is_doubtful = (one.get("confidence") or 0) < DOUBTFUL
        if not (one.get("alternatives") or is_doubtful):
            one.pop("alternatives", None)
    return fields


def _failure(row: tables.Receipt) -> Failure | None:
    if row.status != ReceiptStatus.FAILED or row.failure_code is None:
        return None
    return Failure(code=FailureCode(row.failure_code), message=row.failure_message or "")


def _no_such_receipt() -> NotFound:
    return NotFound("There is no receipt with this id.")


def live(actor: Actor) -> Select[tuple[tables.Receipt]]:
    """Select the receipts of the actor's org that are not deleted."""
    return scope.of(actor, tables.Receipt).where(tables.Receipt.deleted_at.is_(None))
