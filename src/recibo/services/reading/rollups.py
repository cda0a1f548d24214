"""Totals for analytics, updated in the transaction of each change of a receipt.

Grouping a million receipts for each request would take too long.
"""

import hashlib
from dataclasses import dataclass
from decimal import Decimal
from operator import itemgetter

from sqlalchemy import delete

from recibo.schemas.ids import OrgId
from recibo.store import upsert
from recibo.store.db import Session
from recibo.store.tables import CategoryTotal, MerchantTotal, Receipt


@dataclass(frozen=True, slots=True)
class RollupEntry:
    """The contribution of a receipt to its org's totals."""

    category: str | None
    merchant: str | None
    total: Decimal


def entry_of(row: Receipt) -> RollupEntry:
    """Return the current contribution of a receipt."""
    return RollupEntry(row.category, row.merchant_name, row.total or Decimal(0))


async def change(
    session: Session, org_id: OrgId, *, before: RollupEntry | None, after: RollupEntry | None
) -> None:
    """Replace a receipt's contribution to the totals, inside the caller's transaction.

    Categories are locked before merchants and in sorted order, so that two transactions cannot
    deadlock.
    """
    signed = [(one, sign) for one, sign in ((before, -1), (after, 1)) if one is not None]
    by_category = [(one.category, one, sign) for one, sign in signed if one.category]
    by_merchant = [(one.merchant, one, sign) for one, sign in signed if one.merchant]
    for category, _, sign in sorted(by_category, key=itemgetter(0)):
        key = {"org_id": org_id, "category": category}
        await upsert.add(session, CategoryTotal, key, {"receipts": sign})
    for merchant, one, sign in sorted(by_merchant, key=itemgetter(0)):
        key = {"org_id": org_id, "merchant_hash": hashlib.sha256(merchant.encode()).hexdigest()}
        amounts = {"receipts": sign, "total_spent": sign * one.total}
        await upsert.add(session, MerchantTotal, key, amounts, merchant=merchant)
    if before is None:
        return
    for table in (CategoryTotal, MerchantTotal):
        # Rows without receipts are removed, so that lists do not show them.
        await session.execute(delete(table).where(table.org_id == org_id, table.receipts <= 0))
