"""Statements limited to the rows that an actor may access.

Every statement over an org's rows starts here, so that none omits the tenant filter.
"""

from collections.abc import Iterator
from typing import Any, TypeVar

from sqlalchemy import Delete, Select, Update, delete, select, update

from recibo.schemas.actor import Actor, KeyActor
from recibo.schemas.ids import BROWSER_SESSION
from recibo.schemas.states import KeyKind
from recibo.store.tables import Receipt, Replay, Table

Row = TypeVar("Row", bound=Table)

# Secret keys and members of an org share a namespace.
_WHOLE_ORG = ""
# Matches no browser session and no creator of a receipt.
_NO_ONE = "-"


def of(actor: Actor, table: type[Row]) -> Select[tuple[Row]]:
    """Select the rows that the actor may access."""
    return select(table).where(*_visible(actor, table))


def updating(actor: Actor, table: type[Row]) -> Update:
    """Update rows that the actor may access."""
    return update(table).where(*_visible(actor, table))


def deleting(actor: Actor, table: type[Row]) -> Delete:
    """Delete rows that the actor may access."""
    return delete(table).where(*_visible(actor, table))


def space_of(actor: Actor) -> str:
    """Return the namespace within the org in which duplicate uploads of an actor are detected.

    Each browser session of a publishable key has a separate one; a publishable key without a
    session sees no receipts.
    """
    if isinstance(actor, KeyActor) and actor.kind is KeyKind.PUBLISHABLE:
        return actor.browser_session or _NO_ONE
    return _WHOLE_ORG


def sees_whole_org(actor: Actor) -> bool:
    """Return whether the actor sees all receipts of the org."""
    return space_of(actor) == _WHOLE_ORG


def uploads_of(actor: Actor) -> Select[tuple[Receipt]]:
    """Select the receipts in the namespace of an actor's uploads."""
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
