"""Analytics over all receipts of an org, from totals that are updated with each receipt."""

import datetime as dt

from recibo.lib import clock
from recibo.schemas.actor import Actor
from recibo.schemas.analytics import CategoryCount, UsageOfDay, Vendor
from recibo.store import scope
from recibo.store.db import ReadSession
from recibo.store.tables import CategoryTotal, MerchantTotal, UsageDay


async def usage(session: ReadSession, actor: Actor, *, days: int) -> list[UsageOfDay]:
    """Return the readings billed on each of the last days, today included, the oldest first.

    Days without any are left out. Receipts deleted since are counted: they were read.
    """
    today = clock.now().date()
    return [
        UsageOfDay(day=dt.datetime.combine(day, dt.time(), dt.UTC), count=count)
        for day, count in await usage_between(
            session, actor, today - dt.timedelta(days=days - 1), today
        )
    ]


async def usage_between(
    session: ReadSession, actor: Actor, first: dt.date, last: dt.date
) -> list[tuple[dt.date, int]]:
    """Return the same for the days of a period."""
    query = scope.of(actor, UsageDay).where(UsageDay.day.between(first, last))
    rows = (await session.execute(query.order_by(UsageDay.day))).scalars()
    return [(row.day, row.count) for row in rows]


async def categories(session: ReadSession, actor: Actor) -> list[CategoryCount]:
    """Return how many receipts there are of each category, the most first."""
    query = scope.of(actor, CategoryTotal).order_by(
        CategoryTotal.receipts.desc(), CategoryTotal.category
    )
    return [
        CategoryCount(category=row.category, count=row.receipts)
        for row in (await session.execute(query)).scalars()
    ]


async def top_vendors(session: ReadSession, actor: Actor, *, limit: int) -> list[Vendor]:
    """Return the merchants with the most receipts, then the most spent, then by name."""
    query = scope.of(actor, MerchantTotal).order_by(
        MerchantTotal.receipts.desc(), MerchantTotal.total_spent.desc(), MerchantTotal.merchant
    )
    return [
        Vendor(merchant=row.merchant, receipts=row.receipts, total_spent=float(row.total_spent))
        for row in (await session.execute(query.limit(limit))).scalars()
    ]
