"""Receipts of an org that look like the same document, found in both directions.

Two receipts are duplicates if they have the same document key; or the same merchant, number and
total; or the same merchant, total, currency and minute; or nearly the same picture and the same
total. They stay so if only the merchant is corrected, until a person says that they differ.
Every transaction that changes them holds the lock of the org, taken before its first row.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, CompoundSelect, Select, and_, bindparam, or_, select, union

from recibo.errors import NotFound
from recibo.lib import ids as id_texts
from recibo.schemas.actor import Actor
from recibo.schemas.ids import OrgId
from recibo.schemas.states import AuditAction, ReceiptStatus, ResourceType
from recibo.services import audit
from recibo.services.reading import review, rollups
from recibo.store import db, scope
from recibo.store.db import Session
from recibo.store.tables import Receipt

# Pictures of one document differ in so many of the 64 bits of their hashes; those of two receipts
# of one shop in more, mostly.
_NEAR_BITS = 6
# Of receipts with the same total so many pictures are compared.
_PICTURES = 500
# A shop that sells one thing at one price a day would otherwise fill the list.
_MOST = 50
_HAS_SAME_CURRENCY = Receipt.currency.is_not_distinct_from(bindparam("own_currency"))
_NO_RECEIPT = "There is no receipt with this id."


async def lock(session: Session, org_id: OrgId) -> None:
    """Wait for other transactions that change duplicates of an org; before locking any row."""
    await db.lock(session, f"duplicates:{org_id}")


async def find(session: Session, row: Receipt) -> None:
    """Find the duplicates of a receipt and note them in both rows."""
    different = set(row.not_duplicates or ())
    matches = await _matches(session, row)
    found = {other.id: other for other in matches if other.id not in different}
    known = set(row.duplicates or ())
    others = await _rows(session, known - found.keys())
    found |= {other.id: other for other in others if _is_still_same(row, other)}
    gone = [other for other in others if other.id not in found]
    for other in (*found.values(), *gone):
        ids = {*(other.duplicates or ()), row.id} if other.id in found else _without(other, row.id)
        await _note_other(session, other, ids)
    _note(row, found.keys())


async def mark_different(session: Session, actor: Actor, receipt_id: str, other_id: str) -> None:
    """Mark two receipts as different documents, in both rows; `find` never lists them again.

    Raises:
        NotFound: the org has no such receipts.
    """
    if not (id_texts.is_well_formed(receipt_id) and id_texts.is_well_formed(other_id)):
        raise NotFound(_NO_RECEIPT)
    await lock(session, actor.org_id)
    query = scope.of(actor, Receipt).where(
        Receipt.id.in_({receipt_id, other_id}), Receipt.deleted_at.is_(None)
    )
    rows = (await session.execute(query.order_by(Receipt.id).with_for_update())).scalars().all()
    pair = {row.id: row for row in rows}
    if pair.keys() != {receipt_id, other_id} or receipt_id == other_id:
        raise NotFound(_NO_RECEIPT)
    for row, other in ((pair[receipt_id], other_id), (pair[other_id], receipt_id)):
        row.not_duplicates = sorted({*(row.not_duplicates or ()), other})
        await _note_other(session, row, _without(row, other))
    audit.record(
        session,
        actor,
        AuditAction.RECEIPT_NOT_DUPLICATE,
        resource=(ResourceType.RECEIPT, receipt_id),
        after={"not_duplicates": [other_id]},
    )


async def forget(session: Session, row: Receipt) -> None:
    """Take a receipt that is deleted from the lists of its duplicates."""
    for other in await _rows(session, row.duplicates or ()):
        await _note_other(session, other, _without(other, row.id))
    row.duplicates = None


def _without(row: Receipt, receipt_id: str) -> set[str]:
    return {*(row.duplicates or ())} - {receipt_id}


async def _note_other(session: Session, row: Receipt, ids: Iterable[str]) -> None:
    """Note the duplicates of a receipt that is not changed otherwise.

    Analytics count it by its review, which may change.
    """
    before = rollups.entry_of(row)
    _note(row, ids)
    await rollups.change(session, OrgId(row.org_id), before=before, after=rollups.entry_of(row))


def _note(row: Receipt, ids: Iterable[str]) -> None:
    listed = sorted(ids)[:_MOST] or None
    if listed != row.duplicates:
        row.duplicates = listed
    if row.doubts is not None:
        review.update(row)


async def _rows(session: Session, ids: Iterable[str]) -> list[Receipt]:
    wanted = list(ids)
    if not wanted:
        return []
    query = select(Receipt).where(Receipt.id.in_(wanted)).order_by(Receipt.id).with_for_update()
    return list((await session.execute(query)).scalars())


async def _matches(session: Session, row: Receipt) -> list[Receipt]:
    # The queries leave the row itself out, so it is not written before it is complete.
    with session.no_autoflush:
        candidates = await _similar_pictures(session, row)
        values = _values(row)
        if (same := _same(frozenset(values))) is not None:
            found = await session.execute(same, {**_of(row), **values})
            candidates |= set(found.scalars())
        return await _rows(session, candidates)


def _of(row: Receipt) -> Mapping[str, object]:
    return {"own_org": row.org_id, "own_id": row.id, "own_currency": row.currency}


def _values(row: Receipt) -> Mapping[str, object]:
    """Return the values of a row that those of others are compared with, without missing ones."""
    values: dict[str, object | None] = {
        "key": row.document_key,
        "number": row.document_number,
        "total": row.total,
        "tax_id": row.merchant_tax_id,
        "name": row.merchant_key or None,
    }
    if row.issued_at is not None and _is_timed(row):
        minute = row.issued_at.astimezone(dt.UTC).replace(second=0, microsecond=0)
        values |= {"minute": minute, "its_end": minute.replace(second=59, microsecond=999_999)}
    return {name: value for name, value in values.items() if value is not None}


@cache
def _same(known: frozenset[str]) -> CompoundSelect[Any] | None:
    """Return the query of the receipts whose values are the same; None if there are too few.

    It is built once for each set of values that a receipt has: that takes longer than running it.
    """
    same = [_others().where(one).limit(_MOST) for one in _conditions(known)]
    # Each in a subquery: SQLite allows no LIMIT within a UNION.
    return union(*(select(one.subquery().c.id) for one in same)) if same else None


def _others() -> Select[tuple[str]]:
    return select(Receipt.id).where(
        Receipt.org_id == bindparam("own_org"),
        Receipt.deleted_at.is_(None),
        Receipt.status == ReceiptStatus.COMPLETED,
        Receipt.id != bindparam("own_id"),
    )


def _conditions(known: Collection[str]) -> Iterator[ColumnElement[bool]]:
    if "key" in known:
        yield Receipt.document_key == bindparam("key")
    merchant = _same_merchant(known)
    if merchant is None or "total" not in known:
        return
    same_total = Receipt.total == bindparam("total")
    if "number" in known:
        yield and_(Receipt.document_number == bindparam("number"), same_total, merchant)
    if "minute" in known:
        yield and_(
            same_total,
            Receipt.issued_at >= bindparam("minute"),
            Receipt.issued_at <= bindparam("its_end"),
            _HAS_SAME_CURRENCY,
            merchant,
        )


def _same_merchant(known: Collection[str]) -> ColumnElement[bool] | None:
    """Return whether another row has the same tax id or, where one of them has none, name."""
    by_name = Receipt.merchant_key == bindparam("name") if "name" in known else None
    if "tax_id" not in known:
        return by_name
    by_tax_id = Receipt.merchant_tax_id == bindparam("tax_id")
    if by_name is None:
        return by_tax_id
    return or_(by_tax_id, and_(Receipt.merchant_tax_id.is_(None), by_name))


def _is_still_same(row: Receipt, other: Receipt) -> bool:
    """Return whether two duplicates stay so if the name of a merchant is corrected in one of them.

    They were found by it, so that the rest is still the same.
    """
    if row.total is None or (row.total, row.currency) != (other.total, other.currency):
        return False
    same_number = row.document_number is not None and row.document_number == other.document_number
    same_time = row.issued_at is not None and row.issued_at == other.issued_at
    return same_number or (same_time and _is_timed(row))


def _is_timed(row: Receipt) -> bool:
    """Return whether a time is printed: without one, a receipt is issued at midnight."""
    printed = dt.datetime.fromisoformat(str((row.reading or {})["issued_at"]))
    return printed.time() != dt.time()


async def _similar_pictures(session: Session, row: Receipt) -> set[str]:
    """Return the receipts with the same total and nearly the same picture."""
    if row.picture_hash is None or row.total is None:
        return set()
    parameters = {**_of(row), "total": row.total}
    own = int(row.picture_hash, 16)
    return {
        other.id
        for other in await session.execute(_pictures(), parameters)
        if (int(other.picture_hash, 16) ^ own).bit_count() <= _NEAR_BITS
        and not (
            _differ(row.document_number, other.document_number)
            and _differ(row.issued_at, other.issued_at)
        )
    }


@cache
def _pictures() -> Select[Any]:
    return (
        _others()
        .where(
            Receipt.total == bindparam("total"),
            _HAS_SAME_CURRENCY,
            Receipt.picture_hash.is_not(None),
        )
        .with_only_columns(
            Receipt.id, Receipt.picture_hash, Receipt.document_number, Receipt.issued_at
        )
        .order_by(Receipt.issued_at.desc())
        .limit(_PICTURES)
    )


def _differ(one: object, other: object) -> bool:
    """Return whether two values are known and not the same."""
    return one is not None and other is not None and one != other
