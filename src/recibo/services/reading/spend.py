"""What an org spent, by currency: by month, by category and by merchant.

Amounts of different currencies are never added. One index of `receipts` has all columns that these
queries read, and its first ones are the org and the date, so that only the period is visited.
Merchants are many, and there are totals of each by month.
"""

import calendar
import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    ScalarSelect,
    Select,
    String,
    cast,
    func,
    literal,
    select,
    union_all,
)
from sqlalchemy import Row as ResultRow

from recibo.schemas.actor import Actor
from recibo.schemas.states import ReviewStatus
from recibo.services.reading import receipts
from recibo.store import scope
from recibo.store.db import ReadSession
from recibo.store.tables import MerchantMonth
from recibo.store.tables import Receipt as Row

# Receipts that are looked at for the currency.
_NEWEST = 20
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
    def whole_months(self) -> "Period | None":
        """From the first to the last day of the months that it has wholly; None without any."""
        whole = [one for one in self.months if self.first <= one and month_end(one) <= self.last]
        return Period(whole[0], month_end(whole[-1])) if whole else None


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


async def by_currency(session: ReadSession, actor: Actor, period: Period) -> list[Spend]:
    """Return the spend in each currency, that of the most receipts first.

    Receipts without a date or a currency are left out; those without a total are only counted.
    """
    rows: dict[str, list[ResultRow[Any]]] = defaultdict(list)
    for row in await session.execute(_groups(actor, period)):
        rows[row.currency].append(row)
    found = [_spend(currency, groups) for currency, groups in rows.items()]
    return sorted(found, key=lambda one: (-one.receipts, one.currency))


async def top_merchants(
    session: ReadSession, actor: Actor, period: Period, currency: str, *, limit: int
) -> list[Sum]:
    """Return the merchants with the largest totals in one currency."""
    parts = _merchant_sums(actor, period, currency).subquery()
    spent = func.sum(parts.c.spent, type_=Row.total.type)
    top = (
        select(parts.c.merchant_key, func.sum(parts.c.receipts).label("receipts"))
        .add_columns(spent.label("spent"))
        .group_by(parts.c.merchant_key)
        .order_by(spent.desc(), parts.c.merchant_key)
        .limit(limit)
        .subquery()
    )
    query = top.select().add_columns(_newest_name(actor, top.c.merchant_key).label("name"))
    rows = await session.execute(query.order_by(top.c.spent.desc(), top.c.merchant_key))
    return [Sum(row.name or row.merchant_key, int(row.receipts), row.spent) for row in rows]


async def newest_currency(session: ReadSession, actor: Actor, period: Period) -> str | None:
    """Return the currency of the newest receipt that has one, of few: a good guess at once."""
    query = _of_period(actor, period).with_only_columns(Row.currency)
    newest_first = query.order_by(Row.issued_on.desc()).limit(_NEWEST)
    newest = (await session.execute(newest_first)).scalars()
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


def _merchant_sums(actor: Actor, period: Period, currency: str) -> CompoundSelect[Any]:
    """Select sums by merchant, some in several rows: whole months have totals of their own."""
    whole = period.whole_months
    if whole is None:
        return union_all(_merchants_of_days(actor, period, currency))
    months = (
        scope.of(actor, MerchantMonth)
        .where(MerchantMonth.currency == currency)
        .where(MerchantMonth.month.between(whole.first, whole.last))
        .with_only_columns(
            MerchantMonth.merchant_key,
            MerchantMonth.receipts,
            MerchantMonth.total_spent.label("spent"),
        )
    )
    rest = []
    if period.first < whole.first:
        rest.append(Period(period.first, whole.first - _DAY))
    if whole.last < period.last:
        rest.append(Period(whole.last + _DAY, period.last))
    return union_all(months, *(_merchants_of_days(actor, days, currency) for days in rest))


def _merchants_of_days(actor: Actor, period: Period, currency: str) -> Select[Any]:
    return (
        _of_period(actor, period)
        .where(Row.currency == currency, Row.merchant_key.is_not(None))
        .with_only_columns(
            Row.merchant_key,
            literal(1).label("receipts"),
            func.coalesce(Row.total, 0, type_=Row.total.type).label("spent"),
        )
    )


def _groups(actor: Actor, period: Period) -> Select[Any]:
    """Select sums by currency, month, category and state of review.

    The inner groups are those of the index, so that only as many are sorted as there are days.
    """
    columns = (Row.issued_on, Row.currency, Row.category, Row.review_status)
    inner = (
        _of_period(actor, period)
        .where(Row.currency.is_not(None))
        .group_by(*columns)
        .with_only_columns(
            *columns,
            func.count().label("receipts"),
            func.coalesce(func.sum(Row.total), 0, type_=Row.total.type).label("spent"),
        )
        .subquery()
    )
    month = func.substr(cast(inner.c.issued_on, String), 1, 7).label("month")
    keys = (inner.c.currency, month, inner.c.category, inner.c.review_status)
    return inner.select().with_only_columns(
        *keys,
        func.sum(inner.c.receipts).label("receipts"),
        func.sum(inner.c.spent, type_=Row.total.type).label("spent"),
    ).group_by(*keys)  # fmt: skip


def _newest_name(actor: Actor, key: ColumnElement[str]) -> ScalarSelect[str | None]:
    """Select the name of a merchant as its newest receipt has it."""
    return (
        receipts.live(actor)
        .where(Row.merchant_key == key)
        .with_only_columns(Row.merchant_name)
        .order_by(Row.id.desc())
        .limit(1)
        .scalar_subquery()
    )


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
