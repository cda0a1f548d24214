"""Lists of receipts in another order than newest first: by date, total, merchant or confidence.

Receipts without the value are last, the newest of them first.
"""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, func, literal, null, select, tuple_

from recibo.errors import ValidationFailed
from recibo.lib import cursor
from recibo.schemas.actor import Actor
from recibo.services import pagination
from recibo.services.pagination import PageRequest
from recibo.services.reading import receipt_lists, receipts, search
from recibo.services.reading.receipt_lists import Filters, ReceiptPage
from recibo.store import scope
from recibo.store.db import ReadSession
from recibo.store.tables import Receipt as Row

# So many receipts that match are sorted faster than all of an org are walked through in order.
_FEW = 5000
# A word that so many of the newest receipts have is found soon in any order.
_COMMON = 25


class Sort(StrEnum):
    """What a list is sorted by."""

    UPLOADED = "uploaded"
    ISSUED = "issued"
    MERCHANT = "merchant"
    CONFIDENCE = "confidence"
    #: Within one currency: the filters must name it.
    TOTAL = "total"


@dataclass(frozen=True, slots=True)
class Order:
    """What a list is sorted by, and in which direction."""

    sort: Sort
    is_descending: bool

    @property
    def is_newest_first(self) -> bool:
        """Whether it is the order of lists that nobody sorted."""
        return self.sort is Sort.UPLOADED and self.is_descending


@dataclass(frozen=True, slots=True)
class _Position:
    """The last receipt of a page: its value, None without one, and its id."""

    value: str | None
    id: str


@dataclass(frozen=True, slots=True)
class _Walk:
    """How a list is walked: from which receipts, by which expression."""

    query: Select[tuple[Row]]
    by: Any
    order: Order

    def having(self, last: _Position | None) -> Select[tuple[Row]]:
        """Select the receipts with a value that follow the last one."""
        query, keys = self.query.where(self.by.is_not(None)), (self.by, Row.id)
        if last is not None and last.value is not None:
            value = literal(_parsed(self.order.sort, last.value), _column(self.order.sort).type)
            here = tuple_(value, literal(last.id, Row.id.type))
            place = tuple_(*keys)
            query = query.where(place < here if self.order.is_descending else place > here)
        return query.order_by(*(one.desc() if self.order.is_descending else one for one in keys))

    def missing(self, last: _Position | None) -> Select[tuple[Row]]:
        """Select the receipts without a value that follow the last one."""
        query = self.query.where(self.by.is_(None)).order_by(Row.id.desc())
        return query if last is None or last.value is not None else query.where(Row.id < last.id)

    def missing_before(self, position: _Position) -> Select[tuple[Row]]:
        """Select the receipts without a value that precede one without, the nearest first."""
        query = self.query.where(self.by.is_(None), Row.id > position.id)
        return query.order_by(Row.id)

    @property
    def reversed(self) -> "_Walk":
        """The receipts with a value, the other way round."""
        order = replace(self.order, is_descending=not self.order.is_descending)
        return replace(self, order=order)


async def page(
    session: ReadSession, actor: Actor, filters: Filters, order: Order, *, wanted: PageRequest
) -> ReceiptPage:
    """Return one page of the org's receipts in an order.

    Raises:
        ValidationFailed: the cursor is broken or belongs to another list, or totals of several
            currencies would be compared.
    """
    if order.is_newest_first:
        return await receipt_lists.page(session, actor, filters, wanted=wanted)
    if order.sort is Sort.TOTAL and filters.currency is None:
        raise ValidationFailed.of("sort", "needs a currency: totals of several are not compared")
    bound_to = {"org": actor.org_id, "space": scope.space_of(actor), **asdict(filters),
                "sort": order.sort, "descending": order.is_descending}  # fmt: skip
    position = pagination.position(wanted, bound_to)
    last = None if position is None else _Position(*json.loads(position))
    walk = await _walk(session, actor, filters, order)
    if walk is None:
        return ReceiptPage()
    rows = await _rows(session, walk, last, wanted.limit + 1)
    shown = rows[: wanted.limit]
    next_cursor = None
    if len(rows) > wanted.limit:
        end = json.dumps([_value(order.sort, shown[-1]), shown[-1].id])
        next_cursor = cursor.encode(end, bound_to=bound_to, key=wanted.cursor_key)
    return ReceiptPage(await receipts.render_all(session, actor, shown), next_cursor)


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The ids of the receipts of a list before and after one, which need not be in it."""

    previous: str | None = None
    next: str | None = None


async def neighbors(
    session: ReadSession, actor: Actor, filters: Filters, order: Order, receipt_id: str
) -> Neighbors:
    """Return the nearest receipts of a list to one, by its value in the order."""
    row = await receipts.row_of(session, actor, receipt_id)
    walk = await _walk(session, actor, filters, order)
    if walk is None:
        return Neighbors()
    position = _Position(_value(order.sort, row), row.id)
    found = list[Row]()
    if position.value is None:
        found += (await session.execute(walk.missing_before(position).limit(1))).scalars()
    if not found:
        before = walk.reversed.having(None if position.value is None else position)
        found += (await session.execute(before.limit(1))).scalars()
    return Neighbors(_first_id(found), _first_id(await _rows(session, walk, position, 1)))


async def first(session: ReadSession, actor: Actor, filters: Filters, order: Order) -> str | None:
    """Return the id of the first receipt of a list; None if it is empty."""
    walk = await _walk(session, actor, filters, order)
    return None if walk is None else _first_id(await _rows(session, walk, None, 1))


def _first_id(rows: Sequence[Row]) -> str | None:
    return rows[0].id if rows else None


async def _rows(
    session: ReadSession, walk: _Walk, last: _Position | None, limit: int
) -> Sequence[Row]:
    rows = list[Row]()
    if last is None or last.value is not None:
        rows += (await session.execute(walk.having(last).limit(limit))).scalars()
    if len(rows) < limit and walk.order.sort is not Sort.UPLOADED:
        missing = walk.missing(last).limit(limit - len(rows))
        rows += (await session.execute(missing)).scalars()
    return rows


async def _walk(session: ReadSession, actor: Actor, filters: Filters, order: Order) -> _Walk | None:
    """Return how to walk a list so that it is fast for its size; None if nothing is found.

    If few receipts match, these are found by the indexes of the filters and sorted; else all
    receipts are walked by the index of the order, and the filters are tested on each.
    """
    matching = await receipt_lists.filtered(session, actor, filters)
    tests = receipt_lists.unindexed(actor, filters)
    has_filters = filters != Filters()
    if filters.q is not None:
        words = search.Query.parse(filters.q)
        if not words.chunks:
            return None
        tests.append(scanned := words.scanned(session))
        rare = await _rare(session, actor, words, scanned)
        if rare is not None:
            matching = matching.where(rare)
        has_filters = rare is not None or replace(filters, q=None) != Filters()
    if has_filters and await _is_few(session, matching):
        few = matching.where(*tests).with_only_columns(Row.id).limit(_FEW)
        by = func.coalesce(_column(order.sort), null(), type_=_column(order.sort).type)
        return _Walk(receipts.live(actor).where(Row.id.in_(few)), by, order)
    query = receipts.live(actor).where(*tests)
    if order.sort is Sort.TOTAL:
        query = query.where(Row.currency == filters.currency)
    return _Walk(query, _column(order.sort), order)


async def _is_few(session: ReadSession, matching: Select[tuple[Row]]) -> bool:
    probe = matching.with_only_columns(Row.id).limit(_FEW).subquery()
    return int((await session.execute(select(func.count()).select_from(probe))).scalar_one()) < _FEW


async def _rare(
    session: ReadSession, actor: Actor, words: search.Query, scanned: ColumnElement[bool]
) -> ColumnElement[bool] | None:
    """Return the condition that the index finds; None if the words are common."""
    newest = receipts.live(actor).with_only_columns(Row.id).order_by(Row.id.desc())
    sample = newest.limit(receipt_lists.SCANNED)
    among = select(Row.id).where(Row.id.in_(sample), scanned).limit(_COMMON).subquery()
    count = await session.execute(select(func.count()).select_from(among))
    if count.scalar_one() >= _COMMON:
        return None
    rarest = await words.rarest(session, newest.limit(receipt_lists.SAMPLE))
    return rarest.indexed(session, actor.org_id)


def _column(sort: Sort) -> Any:
    columns: Mapping[Sort, Any] = {
        Sort.UPLOADED: Row.id,
        Sort.ISSUED: Row.issued_on,
        Sort.MERCHANT: Row.merchant_key,
        Sort.CONFIDENCE: Row.confidence,
        Sort.TOTAL: Row.total,
    }
    return columns[sort]


def _value(sort: Sort, row: Row) -> str | None:
    value = getattr(row, _column(sort).key)
    return None if value is None else str(value)


def _parsed(sort: Sort, value: str) -> object:
    match sort:
        case Sort.ISSUED:
            return dt.date.fromisoformat(value)
        case Sort.CONFIDENCE:
            return float(value)
        case Sort.TOTAL:
            return Decimal(value)
        case Sort.UPLOADED | Sort.MERCHANT:
            return value
