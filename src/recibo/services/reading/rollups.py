"""Totals for analytics, updated in the transaction of each change of a receipt.

Grouping a million receipts for each request would take too long.
"""

import datetime as dt
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sqlalchemy import delete

from recibo.schemas.ids import OrgId
from recibo.store import upsert
from recibo.store.db import Session
from recibo.store.tables import CategoryTotal, MerchantMonth, MerchantTotal, Receipt, SpendMonth


@dataclass(frozen=True, slots=True)
class RollupEntry:
    """The contribution of a receipt to its org's totals."""

    category: str | None
    merchant: str | None
    merchant_key: str | None
    currency: str | None
    issued_on: dt.date | None
    review_status: str | None
    total: Decimal


@dataclass(frozen=True, slots=True)
class _Change:
    """What is added to the row of a table with this key."""

    table: type[CategoryTotal | MerchantTotal | MerchantMonth | SpendMonth]
    key: Mapping[str, Any]
    amounts: Mapping[str, Any]
    others: Mapping[str, Any]

    def added_to(self, other: "_Change") -> "_Change":
        """Return both changes of one row as one."""
        sums = {name: amount + other.amounts[name] for name, amount in self.amounts.items()}
        return replace(self, amounts=sums)

    @property
    def lock_order(self) -> tuple[str, ...]:
        """By this rows are sorted before they are locked."""
        return (self.table.__tablename__, *map(str, self.key.values()))


def entry_of(row: Receipt) -> RollupEntry:
    """Return the current contribution of a receipt."""
    return RollupEntry(
        category=row.category,
        merchant=row.merchant_name,
        merchant_key=row.merchant_key,
        currency=row.currency,
        issued_on=row.issued_on,
        review_status=row.review_status,
        total=row.total or Decimal(0),
    )


async def change(
    session: Session, org_id: OrgId, *, before: RollupEntry | None, after: RollupEntry | None
) -> None:
    """Replace a receipt's contribution to the totals, inside the caller's transaction.

    Rows are locked in one order, so that two transactions cannot deadlock.
    """
    if before == after:
        return
    changes: dict[tuple[str, ...], _Change] = {}
    for entry, sign in ((before, -1), (after, 1)):
        for one in _changes(org_id, entry, sign) if entry else ():
            known = changes.get(one.lock_order)
            changes[one.lock_order] = one.added_to(known) if known else one
    for _, one in sorted(changes.items()):
        if not any(one.amounts.values()):
            continue
        row = await upsert.add(session, one.table, one.key, one.amounts, **one.others)
        if row["receipts"] <= 0:
            # Rows without receipts are removed, so that lists do not show them.
            await session.execute(delete(one.table).filter_by(**one.key))


def _changes(org_id: OrgId, entry: RollupEntry, sign: int) -> Iterator[_Change]:
    count = {"receipts": sign}
    amounts = {**count, "total_spent": sign * entry.total}
    if entry.category:
        yield _Change(CategoryTotal, {"org_id": org_id, "category": entry.category}, count, {})
    if entry.merchant:
        merchant_hash = hashlib.sha256(entry.merchant.encode()).hexdigest()
        by_merchant = {"org_id": org_id, "merchant_hash": merchant_hash}
        yield _Change(MerchantTotal, by_merchant, amounts, {"merchant": entry.merchant})
    if entry.currency and entry.issued_on:
        by_month: dict[str, object] = {
            "org_id": org_id,
            "currency": entry.currency,
            "month": entry.issued_on.replace(day=1),
        }
        states = {"category": entry.category or "", "review_status": entry.review_status or ""}
        yield _Change(SpendMonth, {**by_month, **states}, amounts, {})
        if entry.merchant_key:
            of_merchant = {**by_month, "merchant_key": entry.merchant_key}
            yield _Change(MerchantMonth, of_merchant, amounts, {})
