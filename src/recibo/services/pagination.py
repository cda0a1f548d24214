"""Cursor pagination of lists, newest first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute

from recibo.errors import ValidationFailed
from recibo.lib import cursor
from recibo.store.db import ReadSession

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page of a list."""

    limit: int
    #: `next_cursor` of the page before; None for the first.
    cursor: str | None
    #: Signs the cursors.
    cursor_key: str


async def newest_first(
    session: ReadSession,
    query: Select[tuple[Row]],
    row_id: InstrumentedAttribute[str],
    *,
    wanted: PageRequest,
    bound_to: Mapping[str, object],
) -> tuple[list[Row], str | None]:
    """Return the rows of a page, the newest id first, and the cursor of the next one, if any.

    Args:
        session: Where to look.
        query: Selects the whole list.
        row_id: The column of ids, by which the list is walked.
        wanted: Which page.
        bound_to: The org and the filters; a cursor of another list is refused.

    Raises:
        ValidationFailed: the cursor is broken or belongs to another list.
    """
    last = position(wanted, bound_to)
    if last is not None:
        query = query.where(row_id < last)
    # One more row than the page shows whether another page follows.
    query = query.order_by(row_id.desc()).limit(wanted.limit + 1)
    rows = list((await session.execute(query)).scalars())
    if len(rows) <= wanted.limit:
        return rows, None
    shown = rows[: wanted.limit]
    end: Any = shown[-1]
    return shown, cursor.encode(end.id, bound_to=bound_to, key=wanted.cursor_key)


def position(wanted: PageRequest, bound_to: Mapping[str, object]) -> str | None:
    """Return the last id of the page before; None for the first page.

    Raises:
        ValidationFailed: the cursor is broken or belongs to another list.
    """
    if wanted.cursor is None:
        return None
    try:
        return cursor.decode(wanted.cursor, bound_to=bound_to, key=wanted.cursor_key)
    except cursor.InvalidCursorError:
        message = "is not a cursor of this list; use next_cursor with the same filters"
        raise ValidationFailed.of("cursor", message) from None
