"""Lists of receipts: filtered, newest first, page by page."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from sqlalchemy import ColumnElement, Select, func, null, select

from recibo.schemas.actor import Actor
from recibo.schemas.receipts import Receipt
from recibo.services import pagination
from recibo.services.pagination import PageRequest
from recibo.services.reading import receipts
from recibo.store import scope
from recibo.store.db import ReadSession
from recibo.store.tables import Receipt as Row
from recibo.store.tables import ReceiptTag

# So many receipts of a span of dates are sorted faster than the whole org is walked through.
_FEW = 5000
# No place on earth is further from UTC than 14 hours.
_FURTHEST_OFFSET = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Filters:
    """Which receipts a list holds; all must fit."""

    type: str | None = None
    status: str | None = None
    #: A calendar date as printed, or an instant: issued on or after it.
    after: dt.date | dt.datetime | None = None
    #: Issued strictly before it.
    before: dt.date | dt.datetime | None = None
    tags: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ReceiptPage:
    """One page of a list."""

    data: list[Receipt] = field(default_factory=list)
    next_cursor: str | None = None

    @property
    def has_more(self) -> bool:
        """Whether another page follows."""
        return self.next_cursor is not None


async def page(
    session: ReadSession, actor: Actor, filters: Filters, *, wanted: PageRequest
) -> ReceiptPage:
    """Return one page of the org's receipts, newest first."""
    bound_to = {"org": actor.org_id, "space": scope.space_of(actor), **asdict(filters)}
    query = await _filtered(session, actor, filters)
    rows, next_cursor = await pagination.newest_first(
        session, query, Row.id, wanted=wanted, bound_to=bound_to
    )
    return ReceiptPage([receipts.shape(row) for row in rows], next_cursor)


async def _filtered(session: ReadSession, actor: Actor, filters: Filters) -> Select[tuple[Row]]:
    query = receipts.live(actor)
    if filters.type is not None:
        query = query.where(Row.type == filters.type)
    if filters.status is not None:
        query = query.where(Row.status == filters.status)
    for key, value in filters.tags:
        query = query.where(Row.id.in_(_tagged(actor, key, value)))
    if filters.after is not None or filters.before is not None:
        query = query.where(*await _issued(session, actor, filters))
    return query


async def _issued(
    session: ReadSession, actor: Actor, filters: Filters
) -> list[ColumnElement[bool]]:
    """Return the conditions of a span of dates, in the form that is fast for its size.

    Few matches are found by their dates and sorted, many met while walking from the newest on.
    SQLite would not choose well: it would sort a year of a million receipts for one page.
    """
    by_date = scope.of(actor, Row).where(Row.deleted_at.is_(None), *_dates(filters))
    probe = by_date.with_only_columns(Row.id).limit(_FEW)
    count = await session.execute(select(func.count()).select_from(probe.subquery()))
    exact = list(_bounds(filters))
    if count.scalar_one() < _FEW:
        return [*exact, Row.id.in_(by_date.with_only_columns(Row.id))]
    return exact


def _bounds(filters: Filters) -> Iterator[ColumnElement[bool]]:
    """Yield the bounds: a date is compared with the printed date, a timestamp as an instant.

    Both are wrapped in a function that changes nothing, so that no index on them is used.
    """
    if filters.after is not None:
        yield _unindexed(filters.after) >= filters.after
    if filters.before is not None:
        yield _unindexed(filters.before) < filters.before


def _unindexed(bound: dt.date | dt.datetime) -> ColumnElement[dt.date | dt.datetime]:
    column = Row.issued_at if isinstance(bound, dt.datetime) else Row.issued_on
    return func.coalesce(column, null())


def _dates(filters: Filters) -> Iterator[ColumnElement[bool]]:
    """Yield the bounds as printed dates, wide enough for every UTC offset."""
    if filters.after is not None:
        yield Row.issued_on >= _shifted(filters.after, -_FURTHEST_OFFSET)
    if filters.before is not None:
        yield Row.issued_on <= _shifted(filters.before, _FURTHEST_OFFSET)


def _shifted(bound: dt.date | dt.datetime, by: dt.timedelta) -> dt.date:
    date = bound.date() if isinstance(bound, dt.datetime) else bound
    try:
        return date + by
    except OverflowError:
        return date


def _tagged(actor: Actor, key: str, value: str) -> Select[tuple[str]]:
    return scope.of(actor, ReceiptTag).where(
        ReceiptTag.key == key, ReceiptTag.value == value
    ).with_only_columns(ReceiptTag.receipt_id)  # fmt: skip
