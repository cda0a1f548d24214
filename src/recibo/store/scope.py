"""Statements limited to the rows that an actor may access.

Every statement over an org's rows starts here, so that none omits the tenant filter.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from sqlalchemy import (
    Delete,
    Select,
    String,
    Update,
    and_,
    bindparam,
    delete,
    or_,
    select,
    update,
)

from recibo.schemas.actor import Actor, KeyActor
from recibo.schemas.ids import BROWSER_SESSION
from recibo.schemas.states import KeyKind
from recibo.store.tables import Receipt, Replay, Table

Row = TypeVar("Row", bound=Table)

# Secret keys and members of an org share a namespace.
_WHOLE_ORG = ""
# Matches no browser session and no creator of a receipt.
_NO_ONE = "-"
_SPACE = bindparam("space", type_=String)
_IS_OF_WHOLE_ORG = ~Receipt.created_by.startswith(f"{BROWSER_SESSION}_", autoescape=True)


def of(actor: Actor, table: type[Row]) -> Select[tuple[Row]]:
    """Select the rows that the actor may access."""
    return select(table).where(*_visible(actor, table))


def prepared(table: type[Table], *columns: Any) -> Select[Any]:
    """Select columns of the rows that the actor of the `parameters` may access.

    The query is built once: building it takes longer than running it.
    """
    condition = {
        Receipt: or_(_SPACE == _WHOLE_ORG, Receipt.created_by == _SPACE),
        Replay: Replay.session == _SPACE,
    }.get(table)
    query = select(*columns).where(table.__table__.c.org_id == bindparam("org_id"))
    return query if condition is None else query.where(condition)


def prepared_for_members(*columns: Any) -> Select[Any]:
    """Select columns of all receipts of the org of the `parameters`, as its members see them."""
    return select(*columns).where(Receipt.org_id == bindparam("org_id"))


def prepared_uploads(*columns: Any) -> Select[Any]:
    """Do as `uploads_of` does, for the actor of the `parameters`."""
    own = or_(Receipt.created_by == _SPACE, and_(_SPACE == _WHOLE_ORG, _IS_OF_WHOLE_ORG))
    return select(*columns).where(Receipt.org_id == bindparam("org_id"), own)


def parameters(actor: Actor) -> Mapping[str, object]:
    """Return the parameters of a prepared query."""
    return {"org_id": actor.org_id, "space": space_of(actor)}


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
    return seen.where(_IS_OF_WHOLE_ORG)


def _visible(actor: Actor, table: type[Table]) -> Iterator[Any]:
    yield table.__table__.c.org_id == actor.org_id
    space = space_of(actor)
    if table is Receipt and space != _WHOLE_ORG:
        yield Receipt.created_by == space
    if table is Replay:
        yield Replay.session == space
