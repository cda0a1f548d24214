"""Every statement over an org's rows starts here, so that none can forget whose rows they are."""

from collections.abc import Iterator
from typing import Any, TypeVar

from sqlalchemy import Delete, Select, Update, delete, select, update

from recibo.schemas.actor import Actor, KeyActor
from recibo.schemas.ids import BROWSER_SESSION
from recibo.schemas.states import KeyKind
from recibo.store.tables import Receipt, Replay, Table

Row = TypeVar("Row", bound=Table)

# Secret keys and members of an org share one space.
_WHOLE_ORG = ""
# No browser session is called so, nor anybody who makes receipts.
_NOBODY = "-"


def of(actor: Actor, table: type[Row]) -> Select[tuple[Row]]:
    """Select the rows that the actor sees."""
    return select(table).where(*_visible(actor, table))


def updating(actor: Actor, table: type[Row]) -> Update:
    """Update rows that the actor sees."""
    return update(table).where(*_visible(actor, table))


def deleting(actor: Actor, table: type[Row]) -> Delete:
    """Delete rows that the actor sees."""
    return delete(table).where(*_visible(actor, table))


def space_of(actor: Actor) -> str:
    """Return the space in which an actor's uploads are recognised again, of its org.

    Each browser session of a publishable key is one of its own; without a session it sees none.
    """
    if isinstance(actor, KeyActor) and actor.kind is KeyKind.PUBLISHABLE:
        return actor.browser_session or _NOBODY
    return _WHOLE_ORG


def uploads_of(actor: Actor) -> Select[tuple[Receipt]]:
    """Select the receipts of the space in which an actor's uploads are recognised."""
    seen = of(actor, Receipt)
    if space_of(actor) != _WHOLE_ORG:
        return seen
    return seen.where(~Receipt.created_by.startswith(f"{BROWSER_SESSION}_", autoescape=True))


def _visible(actor: Actor, table: type[Table]) -> Iterator[Any]:
    yield table.__table__.c.org_id == actor.org_id
    space = space_of(actor)
    if table is Receipt and space != _WHOLE_ORG:
        yield Receipt.created_by == space
    if table is Replay:
        yield Replay.session == space
