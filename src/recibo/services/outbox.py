"""The outbox: pending rows of background work, each leased, then removed or deferred.

A row is inserted in the transaction of its change. `due_at` is when a worker may try it. A lease
moves `due_at` to its own end, so the row of a killed worker becomes due again.
"""

import datetime as dt
from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.orm import InstrumentedAttribute

from recibo.lib import clock
from recibo.services import backoff
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Mail, MeterEvent

Row = TypeVar("Row", bound=Mail | MeterEvent)

#: Longer than sending takes, so that no two workers send the same row.
LEASE = dt.timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Lease:
    """A row that this worker may try until the lease expires."""

    id: str
    attempt: int
    until: dt.datetime


@dataclass(frozen=True, slots=True)
class Rows(Generic[Row]):
    """The pending rows of a table."""

    table: type[Row]
    #: The column that groups them: rows of a group are never sent at the same time.
    group: str

    async def due_groups(self, session: ReadSession, *, limit: int) -> list[str]:
        """Return the group of each due row, the longest due first; a group may come repeatedly."""
        return await self._due(session, self._group, limit=limit)

    async def due(self, session: ReadSession, group: str, *, limit: int) -> list[str]:
        """Return the ids of the due rows of a group, the longest due first."""
        return await self._due(session, self.table.id, self._group == group, limit=limit)

    async def lease(self, session: Session, row_id: str) -> Row | None:
        """Lease a row; None if it is not due, because another worker leased or removed it."""
        now = clock.now()
        statement = (
            update(self.table)
            .where(self.table.id == row_id, self.table.due_at <= now)
            .values(due_at=now + LEASE, attempts=self.table.attempts + 1)
            .returning(self.table)
        )
        return (await session.execute(statement)).scalar_one_or_none()

    async def remove(self, session: Session, lease: Lease) -> None:
        """Delete a row that was sent or will never be sent."""
        await session.execute(delete(self.table).where(self.table.id == lease.id))

    async def defer(self, session: Session, lease: Lease, *, is_given_up: bool = False) -> None:
        """Schedule the next attempt, or delete the row if it is given up.

        Does nothing if the lease has expired and another worker has the row.
        """
        is_ours = (self.table.id == lease.id, self.table.due_at == lease.until)
        if is_given_up:
            await session.execute(delete(self.table).where(*is_ours))
        else:
            due_at = clock.now() + backoff.after(lease.attempt)
            await session.execute(update(self.table).where(*is_ours).values(due_at=due_at))

    @property
    def _group(self) -> ColumnElement[str]:
        return self.table.__table__.columns[self.group]

    async def _due(
        self,
        session: ReadSession,
        wanted: ColumnElement[str] | InstrumentedAttribute[str],
        *where: ColumnElement[bool],
        limit: int,
    ) -> list[str]:
        query = (
            select(wanted)
            .where(self.table.due_at <= clock.now(), *where)
            .order_by(self.table.due_at)
            .limit(limit)
        )
        return list((await session.execute(query)).scalars())
