"""The queries of `spend`, for all receipts of an org.

One index of `receipts` has all columns that they read, and its first ones are the org and the date,
so that only a period is visited. Of whole months there are totals, also of each merchant.

They are built once, for building them takes longer than running some of them.
"""

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Date,
    Integer,
    ScalarSelect,
    Select,
    String,
    bindparam,
    cast,
    func,
    literal,
    select,
    union_all,
)
from sqlalchemy.orm import InstrumentedAttribute

from recibo.store import scope
from recibo.store.tables import MerchantMonth, SpendMonth
from recibo.store.tables import Receipt as Row

# Receipts that are looked at for the currency.
_NEWEST = 20
_CURRENCY = bindparam("currency", type_=String)
_LIVE = scope.prepared_for_members(Row).where(Row.deleted_at.is_(None))


def ends_of(period: str) -> tuple[str, str]:
    """Return the names of the parameters with the first and the last day of a period."""
    return f"{period}_first", f"{period}_last"


def _in(days: InstrumentedAttribute[Any], period: str) -> ColumnElement[bool]:
    first, last = (bindparam(end, type_=Date) for end in ends_of(period))
    return days.between(first, last)


def _groups() -> Select[Any]:
    """Select sums by currency, month, category and state of review."""
    months = (
        scope.prepared(SpendMonth, SpendMonth.currency, _month_of(SpendMonth.month))
        .add_columns(
            func.nullif(SpendMonth.category, "").label("category"),
            func.nullif(SpendMonth.review_status, "").label("review_status"),
            SpendMonth.receipts,
            SpendMonth.total_spent.label("spent"),
        )
        .where(_in(SpendMonth.month, "whole"))
    )
    days = [_groups_of_days(period) for period in ("before", "after")]
    parts = union_all(months, *days).subquery()
    keys = (parts.c.currency, parts.c.month, parts.c.category, parts.c.review_status)
    return parts.select().with_only_columns(
        *keys,
        func.sum(parts.c.receipts).label("receipts"),
        func.sum(parts.c.spent, type_=Row.total.type).label("spent"),
    ).group_by(*keys)  # fmt: skip


def _groups_of_days(period: str) -> Select[Any]:
    """Select the groups of the index, which need no sorting."""
    columns = (Row.currency, Row.issued_on, Row.category, Row.review_status)
    return (
        _LIVE.where(_in(Row.issued_on, period), Row.currency.is_not(None))
        .group_by(*columns)
        .with_only_columns(
            *(Row.currency, _month_of(Row.issued_on), Row.category, Row.review_status),
            func.count().label("receipts"),
            func.coalesce(func.sum(Row.total), 0, type_=Row.total.type).label("spent"),
        )
    )


def _month_of(day: InstrumentedAttribute[Any]) -> ColumnElement[str]:
    return func.substr(cast(day, String), 1, 7).label("month")


def _top_merchants() -> Select[Any]:
    """Select sums by merchant: of the totals of whole months, and of the receipts of other days."""
    months = (
        scope.prepared(MerchantMonth, MerchantMonth.merchant_key, MerchantMonth.receipts)
        .add_columns(MerchantMonth.total_spent.label("spent"))
        .where(MerchantMonth.currency == _CURRENCY)
        .where(_in(MerchantMonth.month, "whole"))
    )
    days = [_merchants_of_days(period) for period in ("before", "after")]
    parts = union_all(months, *days).subquery()
    spent = func.sum(parts.c.spent, type_=Row.total.type)
    top = (
        select(parts.c.merchant_key, func.sum(parts.c.receipts).label("receipts"))
        .add_columns(spent.label("spent"))
        .group_by(parts.c.merchant_key)
        .order_by(spent.desc(), parts.c.merchant_key)
        .limit(bindparam("limit", type_=Integer))
        .subquery()
    )
    query = top.select().add_columns(_newest_name(top.c.merchant_key).label("name"))
    return query.order_by(top.c.spent.desc(), top.c.merchant_key)


def _merchants_of_days(period: str) -> Select[Any]:
    return _LIVE.where(
        _in(Row.issued_on, period), Row.currency == _CURRENCY, Row.merchant_key.is_not(None)
    ).with_only_columns(
        Row.merchant_key,
        literal(1).label("receipts"),
        func.coalesce(Row.total, 0, type_=Row.total.type).label("spent"),
    )


def _newest_name(key: ColumnElement[str]) -> ScalarSelect[str | None]:
    """Select the name of a merchant as its newest receipt has it."""
    return (
        _LIVE.where(Row.merchant_key == key)
        .with_only_columns(Row.merchant_name)
        .order_by(Row.id.desc())
        .limit(1)
        .scalar_subquery()
    )


#: Of the period `whole`, which has no month in part, and the days `before` and `after` it.
GROUPS = _groups()
#: The largest `limit` ones in a `currency`, of the same periods.
TOP_MERCHANTS = _top_merchants()
#: Of the period `days`, and of few receipts.
NEWEST_CURRENCIES = (
    _LIVE.where(_in(Row.issued_on, "days"))
    .with_only_columns(Row.currency)
    .order_by(Row.issued_on.desc())
    .limit(_NEWEST)
)
