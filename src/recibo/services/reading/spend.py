"""What an org spent, by currency: by month, by category and by merchant.

Amounts of different currencies are never added.
"""

import calendar
import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import Row as ResultRow
from sqlalchemy import Select, func

from recibo.schemas.actor import Actor, Member
from recibo.schemas.states import ReviewStatus
from recibo.services.reading import receipts, spend_queries
from recibo.store import scope
from recibo.store.db import ReadSession
from recibo.store.tables import Receipt as Row

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """A range of dates as printed on receipts, both included."""

    first: dt.date
    last: dt.date

    @property
    def months(self) -> Sequence[dt.date]:
        """The first days of its months, oldest first."""
        start = self.first.year * 12 + self.first.month - 1
        end = self.last.year * 12 + self.last.month
        return [dt.date(number // 12, number % 12 + 1, 1) for number in range(start, end)]

    @property
    def by_months(self) -> "tuple[Period, Period, Period]":
        """The days before its whole months, these months, and the days after; empty periods, too.

        Without any whole month all its days are before.
        """
        whole = [one for one in self.months if self.first <= one and month_end(one) <= self.last]
        if not whole:
            return self, _EMPTY, _EMPTY
        first, last = whole[0], month_end(whole[-1])
        before = Period(self.first, first - _DAY) if self.first < first else _EMPTY
        after = Period(last + _DAY, self.last) if last < self.last else _EMPTY
        return before, Period(first, last), after


# The last day of it is before the first one.
_EMPTY = Period(dt.date.max, dt.date.min)


@dataclass(frozen=True, slots=True)
class Sum:
    """Receipts of a month, a category or a merchant, and what they add up to."""

    #: The month as `YYYY-MM`, the category, or the merchant; empty without a category.
    name: str
    receipts: int
    total: Decimal


@dataclass(frozen=True, slots=True)
class Spend:
    """What an org spent in one currency."""

    currency: str
    receipts: int
    total: Decimal
    #: How many receipts are in each state of review.
    reviews: Mapping[str, int]
    #: Months with receipts, oldest first.
    months: Sequence[Sum]
    #: The largest total first.
    categories: Sequence[Sum]


def month_end(day: dt.date) -> dt.date:
    """Return the last day of a day's month."""
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


async def by_currency(session: ReadSession, member: Member, period: Period) -> list[Spend]:
    """Return the spend in each currency, that of the most receipts first.

    Receipts without a date or a currency are left out; those without a total are only counted.
    """
    before, whole, after = period.by_months
    values = _values(member, before=before, whole=whole, after=after)
    rows: dict[str, list[ResultRow[Any]]] = defaultdict(list)
    for row in await session.execute(spend_queries.GROUPS, values):
        rows[row.currency].append(row)
    found = [_spend(currency, groups) for currency, groups in rows.items()]
    return sorted(found, key=lambda one: (-one.receipts, one.currency))


async def top_merchants(
    session: ReadSession, member: Member, period: Period, currency: str, *, limit: int
) -> list[Sum]:
    """Return the merchants with the largest totals in one currency."""
    before, whole, after = period.by_months
    values = _values(member, before=before, whole=whole, after=after)
    wanted = {**values, "currency": currency, "limit": limit}
    rows = await session.execute(spend_queries.TOP_MERCHANTS, wanted)
    return [Sum(row.name or row.merchant_key, int(row.receipts), row.spent) for row in rows]


async def newest_currency(session: ReadSession, member: Member, period: Period) -> str | None:
    """Return the currency of the newest receipt that has one, of few: a good guess at once."""
    newest = (
        await session.execute(spend_queries.NEWEST_CURRENCIES, _values(member, days=period))
    ).scalars()
    return next(filter(None, newest), None)


async def newest_months(
    session: ReadSession, actor: Actor, *, most: int, review: ReviewStatus | None = None
) -> list[dt.date]:
    """Return the first days of the newest months with receipts, perhaps only approved ones."""
    query = receipts.live(actor).with_only_columns(func.max(Row.issued_on))
    if review:
        query = query.where(Row.review_status == review)
    months: list[dt.date] = []
    while len(months) < most:
        earlier = query.where(Row.issued_on < months[-1]) if months else query
        day = (await session.execute(earlier)).scalar_one()
        if day is None:
            break
        months.append(day.replace(day=1))
    return months


async def months_of(session: ReadSession, actor: Actor, ids: Sequence[str]) -> list[dt.date]:
    """Return the first days of the months of some receipts, that of most receipts first."""
    query = receipts.live(actor).where(Row.id.in_(ids)).with_only_columns(Row.issued_on)
    days = (await session.execute(query)).scalars()
    counted = Counter(day.replace(day=1) for day in days if day)
    return sorted(counted, key=lambda month: (-counted[month], -month.toordinal()))


async def counts_of(
    session: ReadSession, actor: Actor, months: Collection[dt.date], *, review: ReviewStatus
) -> Mapping[dt.date, int]:
    """Return how many receipts in a state of review some months have, by their first days.

    One query counts each day from the first to the last of them, in the order of the index.
    """
    if not months:
        return {}
    end = max(months) + dt.timedelta(days=31)
    query = (
        _of_period(actor, Period(min(months), end))
        .where(Row.review_status == review)
        .group_by(Row.issued_on)
        .with_only_columns(Row.issued_on, func.count().label("receipts"))
    )
    counted = Counter[dt.date]()
    for row in await session.execute(query):
        counted[row.issued_on.replace(day=1)] += row.receipts
    return {month: counted[month] for month in months}


async def undated(session: ReadSession, actor: Actor, *, most: int) -> int:
    """Return how many receipts no period contains, because they have no date; at most `most`."""
    # Only readings have a confidence. SQLite would search the index of `confidence` for all of
    # them; it uses none for an expression.
    is_read = (Row.confidence + 0).is_not(None)
    query = receipts.live(actor).where(Row.issued_on.is_(None), is_read)
    found = query.with_only_columns(Row.id).limit(most).subquery()
    counted = await session.execute(func.count().select().select_from(found))
    return int(counted.scalar_one())


def _of_period(actor: Actor, period: Period) -> Select[tuple[Row]]:
    return receipts.live(actor).where(Row.issued_on.between(period.first, period.last))


def _values(member: Member, **periods: Period) -> dict[str, Any]:
    """Return the values of the parameters of a query: the org, and the days of each period."""
    values = dict[str, Any](scope.parameters(member))
    for name, period in periods.items():
        first, last = spend_queries.ends_of(name)
        values |= {first: period.first, last: period.last}
    return values


def _spend(currency: str, rows: Sequence[ResultRow[Any]]) -> Spend:
    reviews = Counter[str]()
    for row in rows:
        reviews[row.review_status or ""] += int(row.receipts)
    categories = _sums((row.category or "", row) for row in rows)
    return Spend(
        currency=currency,
        receipts=reviews.total(),
        total=sum((row.spent for row in rows), Decimal(0)),
        reviews=reviews,
        months=sorted(_sums((row.month, row) for row in rows), key=lambda one: one.name),
        categories=sorted(categories, key=lambda one: (-one.total, one.name)),
    )


def _sums(named: Iterable[tuple[str, ResultRow[Any]]]) -> list[Sum]:
    receipts_of, totals = Counter[str](), defaultdict[str, Decimal](Decimal)
    for name, row in named:
        receipts_of[name] += int(row.receipts)
        totals[name] += row.spent
    return [Sum(name, receipts_of[name], total) for name, total in totals.items()]
