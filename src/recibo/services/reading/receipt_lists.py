"""Lists of receipts: filtered, newest first, page by page."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Select, false, func, literal, null, select

from recibo.lib import search_text
from recibo.schemas.actor import Actor
from recibo.schemas.receipts import Receipt
from recibo.services import pagination
from recibo.services.pagination import PageRequest
from recibo.services.reading import receipts, search
from recibo.store import scope
from recibo.store.db import ReadSession
from recibo.store.tables import Receipt as Row
from recibo.store.tables import ReceiptTag

# So many receipts of a span of dates are sorted faster than the whole org is walked through.
_FEW = 5000
#: So many of the newest receipts are searched word by word before the index is used.
SCANNED = 2000
#: So many receipts show which word of a search is the rarest.
SAMPLE = 300
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
    #: Words and beginnings of words.
    q: str | None = None
    review: str | None = None
    #: The whole name, compared without case, accents and punctuation.
    merchant: str | None = None
    currency: str | None = None
    category: str | None = None
    #: Bounds are inclusive.
    min_total: Decimal | None = None
    max_total: Decimal | None = None
    max_confidence: float | None = None
    #: Only receipts that have duplicates.
    duplicates: bool = False
    #: Only these receipts.
    ids: tuple[str, ...] | None = None


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
    query = await filtered(session, actor, filters)

    async def rows_of(chosen: Select[tuple[Row]]) -> tuple[list[Row], str | None]:
        return await pagination.newest_first(
            session, chosen, Row.id, wanted=wanted, bound_to=bound_to
        )

    if filters.q is None:
        rows, next_cursor = await rows_of(query)
    else:
        words = search.Query.parse(filters.q)
        if not words.chunks:
            return ReceiptPage()
        scanned = query.where(words.scanned(session))
        before = pagination.position(wanted, bound_to)
        newest = await _newest(session, actor, filters, query, before)
        rows, next_cursor = await rows_of(scanned.where(*newest))
        if newest and next_cursor is None:
            sample = query.with_only_columns(Row.id).order_by(Row.id.desc()).limit(SAMPLE)
            rarest = await words.rarest(session, sample)
            rows, next_cursor = await rows_of(scanned.where(rarest.indexed(session, actor.org_id)))
    return ReceiptPage(await receipts.render_all(session, actor, rows), next_cursor)


async def count(session: ReadSession, actor: Actor, filters: Filters, *, most: int) -> int:
    """Return how many receipts match, but no more than `most`: there may be a million."""
    query = await filtered(session, actor, filters)
    found = query.with_only_columns(Row.id).limit(most).subquery()
    return int((await session.execute(select(func.count()).select_from(found))).scalar_one())


async def oldest(
    session: ReadSession, actor: Actor, filters: Filters, *, limit: int
) -> list[Receipt]:
    """Return the oldest receipts that match, the oldest first."""
    query = (await filtered(session, actor, filters)).order_by(Row.id).limit(limit)
    rows = (await session.execute(query)).scalars().all()
    return await receipts.render_all(session, actor, rows)


async def _newest(
    session: ReadSession,
    actor: Actor,
    filters: Filters,
    query: Select[tuple[Row]],
    before: str | None,
) -> list[ColumnElement[bool]]:
    """Return the condition of those receipts that are searched first, without the index.

    Common words are found among the newest receipts, without their long lists in the index. If
    few receipts match the other filters, all of these are searched, and there is no condition.
    """
    if replace(filters, q=None) != Filters():
        few = query.with_only_columns(Row.id).limit(SCANNED).subquery()
        if (await session.execute(select(func.count()).select_from(few))).scalar_one() < SCANNED:
            return []
    oldest = receipts.live(actor).with_only_columns(Row.id).order_by(Row.id.desc())
    if before is not None:
        oldest = oldest.where(Row.id < before)
    found = (await session.execute(oldest.offset(SCANNED).limit(1))).scalar_one_or_none()
    return [] if found is None else [Row.id >= found]


async def filtered(session: ReadSession, actor: Actor, filters: Filters) -> Select[tuple[Row]]:
    """Select the receipts that match the filters but their words; indexes may find them."""
    query = receipts.live(actor).where(*_equal(filters))
    for key, value in filters.tags:
        query = query.where(Row.id.in_(_tagged(actor, key, value)))
    for indexed, exact in _ranges(filters):
        query = query.where(*await _in_range(session, actor, indexed, exact))
    return query


def unindexed(actor: Actor, filters: Filters) -> list[ColumnElement[bool]]:
    """Return the same conditions, to be tested on receipts that another index finds."""
    of_tags = [Row.id.in_(_tagged(actor, key, value)) for key, value in filters.tags]
    ranges = [condition for _, exact in _ranges(filters) for condition in exact]
    return [*_equal(filters, is_indexed=False), *of_tags, *ranges]


def _equal(filters: Filters, *, is_indexed: bool = True) -> Iterator[ColumnElement[bool]]:
    columns: Mapping[str, Any] = {
        "type": Row.type,
        "status": Row.status,
        "review": Row.review_status,
        "currency": Row.currency,
        "category": Row.category,
    }
    for name, column in columns.items():
        if (wanted := getattr(filters, name)) is not None:
            yield (column if is_indexed else func.coalesce(column, null())) == wanted
    if filters.merchant is not None:
        key = search_text.key(filters.merchant)
        column = Row.merchant_key if is_indexed else func.coalesce(Row.merchant_key, null())
        yield column == key if key else false()
    if filters.duplicates:
        yield Row.duplicates.is_not(None)
    if filters.ids is not None:
        yield Row.id.in_(filters.ids)


_Conditions = Sequence[ColumnElement[bool]]


def _ranges(filters: Filters) -> Iterator[tuple[_Conditions, _Conditions]]:
    """Yield the conditions of each range, as an index finds them and exactly without an index."""
    if filters.after is not None or filters.before is not None:
        yield list(_dates(filters)), list(_bounds(filters))
    if filters.min_total is not None or filters.max_total is not None:
        yield (
            list(_between(Row.total, filters.min_total, filters.max_total)),
            list(_between(func.coalesce(Row.total, null()), filters.min_total, filters.max_total)),
        )
    if filters.max_confidence is not None:
        exact = func.coalesce(Row.confidence, null()) <= filters.max_confidence
        yield [Row.confidence <= filters.max_confidence], [exact]


def _between(column: Any, least: object, most: object) -> Iterator[ColumnElement[bool]]:
    if least is not None:
        yield column >= least
    if most is not None:
        yield column <= most


async def _in_range(
    session: ReadSession, actor: Actor, indexed: _Conditions, exact: _Conditions
) -> _Conditions:
    """Return the conditions of a range, in the form that is fast for its size.

    Few matches are found by their index and sorted, many met while walking from the newest on.
    SQLite would not choose well: it would sort a year of a million receipts for one page.
    """
    found = scope.of(actor, Row).where(Row.deleted_at.is_(None), *indexed)
    # Without a column, SQLite counts dates in the one index that has no ids, and visits no row.
    probe = found.with_only_columns(literal(1)).limit(_FEW)
    count = await session.execute(select(func.count()).select_from(probe.subquery()))
    if count.scalar_one() < _FEW:
        return [*exact, Row.id.in_(found.with_only_columns(Row.id))]
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
