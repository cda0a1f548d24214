"""Writes a reading to its row: the JSON, and the columns that repeat its values."""

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal

import structlog
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from recibo.lib import search_text
from recibo.schemas import amounts, doubts, stored
from recibo.schemas.ids import OrgId
from recibo.schemas.receipts import Evidence, Reading
from recibo.schemas.states import ReceiptStatus
from recibo.services.reading import duplicates, review, rollups, search
from recibo.store import tables
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Receipt

log = structlog.get_logger(__name__)

# PostgreSQL indexes no long texts; what is no number of a document is compared by its beginning.
_MAX_INDEXED = 255


def current(row: Receipt) -> Reading:
    """Return the stored reading, with its corrections."""
    return Reading.model_validate(stored.load(Reading, row.reading or {}))


def of_machine(row: Receipt) -> Reading:
    """Return what the machine read."""
    return Reading.model_validate(stored.load(Reading, row.machine_reading or row.reading or {}))


def put(row: Receipt, reading: Reading) -> None:
    """Store a reading in its row."""
    row.reading = stored.dump(reading)
    row.type = reading.type
    row.category = reading.category
    row.merchant_name = reading.merchant_name
    row.merchant_key = search_text.key(reading.merchant_name or "") or None
    row.merchant_tax_id = reading.merchant_tax_id
    row.document_number = (reading.document_number or "")[:_MAX_INDEXED] or None
    row.document_key = reading.document_key
    row.currency = reading.currency
    row.confidence = reading.confidence
    row.total = Decimal(reading.total) if reading.total is not None else None
    row.issued_at = dt.datetime.fromisoformat(reading.issued_at) if reading.issued_at else None
    # The calendar date as printed, whatever its offset.
    row.issued_on = row.issued_at.date() if row.issued_at else None


def corrected(new: Reading, row: Receipt) -> Reading:
    """Return another reading of a receipt with the fields that a person changed."""
    kept = current(row).model_dump(include=set(row.corrected_fields or ()))
    return amounts.respelled(Reading.model_validate({**new.model_dump(), **kept}))


async def judge_older(database: Database, after: str) -> str | None:
    """Judge the next receipt that an older release read.

    Args:
        database: Where the receipts are.
        after: The receipt that was judged before; "" for the first.

    Returns:
        Its id, also if it cannot be judged; None if there is none.
    """
    async with database.read() as session:
        found = await _next_unjudged(session, after)
    if found is None:
        return None
    receipt_id, org_id = found
    try:
        async with database.write() as session:
            await duplicates.lock(session, OrgId(org_id))
            query = select(Receipt).where(Receipt.id == receipt_id).with_for_update()
            row = (await session.execute(query)).scalar_one_or_none()
            if row is not None and row.doubts is None:
                before = rollups.entry_of(row)
                put(row, current(row))
                await judge_again(session, row)
                entry = rollups.entry_of(row)
                await rollups.change(session, OrgId(org_id), before=before, after=entry)
    except (ValueError, DBAPIError):
        # One row must not keep the others from being judged.
        log.exception("a receipt of an older release cannot be judged", receipt_id=receipt_id)
    return receipt_id


async def _next_unjudged(session: ReadSession, after: str) -> tuple[str, str] | None:
    query = (
        select(Receipt.id, Receipt.org_id)
        .where(
            Receipt.id > after,
            Receipt.deleted_at.is_(None),
            Receipt.doubts.is_(None),
            Receipt.status == ReceiptStatus.COMPLETED,
        )
        .order_by(Receipt.id)
        .limit(1)
    )
    found = (await session.execute(query)).one_or_none()
    return (found.id, found.org_id) if found else None


async def judge_again(session: Session, row: Receipt) -> None:
    """Find duplicates, doubts and words of a stored reading again.

    The caller holds `duplicates.lock`.
    """
    kept = await session.get(tables.Evidence, row.id)
    evidence = Evidence.model_validate(stored.load(Evidence, kept.evidence)) if kept else None
    await judge(session, row, current(row), evidence, kept.texts if kept else ())


async def judge(
    session: Session,
    row: Receipt,
    reading: Reading,
    evidence: Evidence | None,
    texts: Iterable[str],
) -> None:
    """Find duplicates, doubts and words of the reading that was stored in a row.

    The caller holds `duplicates.lock`.
    """
    found = doubts.find(reading, evidence, row.corrected_fields or ())
    row.doubts = [one.model_dump(mode="json") for one in found]
    await duplicates.find(session, row)
    review.update(row)
    await search.index(session, row, reading, texts)
