"""Every statement over an org's rows starts here, so that none can forget whose rows they are."""

from typing import Any, TypeVar

from sqlalchemy import Delete, Select, Update, delete, select, update

from recibo.shapes.actor import Actor
from recibo.store.tables import Table

Row = TypeVar("Row", bound=Table)


def of(actor: Actor, table: type[Row]) -> Select[tuple[Row]]:
    """Select rows of the actor's org."""
    return select(table).where(_org(table) == actor.org_id)


def updating(actor: Actor, table: type[Row]) -> Update:
    """Update rows of the actor's org."""
    return update(table).where(_org(table) == actor.org_id)


def deleting(actor: Actor, table: type[Row]) -> Delete:
    """Delete rows of the actor's org."""
    return delete(table).where(_org(table) == actor.org_id)


def _org(table: type[Table]) -> Any:
    return table.__table__.c.org_id
