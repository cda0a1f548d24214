"""What to call receipts that the audit log names by their ids."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal

from recibo.schemas.actor import Actor
from recibo.store import scope
from recibo.store.db import ReadSession
from recibo.store.tables import Receipt as Row


@dataclass(frozen=True, slots=True)
class ReceiptTitle:
    """The merchant and the total of a receipt, which may have been deleted since."""

    merchant: str | None
    total: Decimal | None
    currency: str | None
    is_deleted: bool


async def of(
    session: ReadSession, actor: Actor, ids: Collection[str]
) -> Mapping[str, ReceiptTitle]:
    """Return the titles of receipts; those that were purged are left out."""
    if not ids:
        return {}
    query = (
        scope.of(actor, Row)
        .where(Row.id.in_(ids))
        .with_only_columns(Row.id, Row.merchant_name, Row.total, Row.currency, Row.deleted_at)
    )
    return {
        row.id: ReceiptTitle(row.merchant_name, row.total, row.currency, row.deleted_at is not None)
        for row in await session.execute(query)
    }
