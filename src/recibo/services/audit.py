"""The audit log: entries are written in the transaction of their change and read by the org."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement, delete, false, select

from recibo.lib import clock, ids
from recibo.schemas import audit as shapes
from recibo.schemas.actor import Actor, KeyActor, Person
from recibo.schemas.ids import OrgId
from recibo.schemas.states import AuditAction, ResourceType
from recibo.services import pagination
from recibo.services.pagination import PageRequest
from recibo.store import append_only, scope
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import AuditEvent

_PURGE_BATCH = 500
# An entry's id and its time are taken one after the other, while a host's clock may be set.
_CLOCK_STEP_SECONDS = 60.0
_ACTORS = {"usr": AuditEvent.actor_user_id, "key": AuditEvent.actor_api_key_id}
_FIELDS = tuple(shapes.AuditEvent.model_fields)


@dataclass(frozen=True, slots=True)
class Filters:
    """Which entries a list holds; all must fit."""

    action: str | None = None
    resource_type: str | None = None
    #: The id of a user or of an API key.
    actor: str | None = None
    #: A day, UTC, or an instant: not before it.
    since: dt.date | dt.datetime | None = None
    #: A day, UTC, which counts as a whole, or an instant: not after it.
    until: dt.date | dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditPage:
    """One page of the log."""

    items: list[shapes.AuditEvent]
    next_cursor: str | None


def record(
    session: Session,
    actor: Actor | Person,
    action: AuditAction,
    *,
    resource: tuple[ResourceType, str | None],
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Add one entry inside the caller's transaction; snapshots never hold secrets."""
    _add(
        session,
        action,
        resource,
        org_id=actor.org_id,
        actor_user_id=None if isinstance(actor, KeyActor) else actor.user_id,
        actor_api_key_id=actor.key_id if isinstance(actor, KeyActor) else None,
        ip_address=actor.visit.ip_address,
        user_agent=actor.visit.user_agent,
        request_id=actor.visit.request_id,
        before=_copy(before),
        after=_copy(after),
    )


def record_by_operator(
    session: Session,
    org_id: OrgId | None,
    action: AuditAction,
    *,
    resource: tuple[ResourceType, str | None],
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Add an entry for a change made on the command line or by a periodic job."""
    _add(session, action, resource, org_id=org_id, before=_copy(before), after=_copy(after))


async def page(
    session: ReadSession, actor: Actor, filters: Filters, *, wanted: PageRequest
) -> AuditPage:
    """Return one page of the org's log, newest first."""
    bound_to = {"list": "audit", "org": actor.org_id, **asdict(filters)}
    query = scope.of(actor, AuditEvent).where(*_conditions(filters))
    rows, next_cursor = await pagination.newest_first(
        session, query, AuditEvent.id, wanted=wanted, bound_to=bound_to
    )
    return AuditPage([_shape(row) for row in rows], next_cursor)


async def about(
    session: ReadSession, actor: Actor, resource_id: str, *, limit: int
) -> list[shapes.AuditEvent]:
    """Return the newest entries about one resource of the org, newest first."""
    query = (
        scope.of(actor, AuditEvent)
        .where(AuditEvent.resource_id == resource_id)
        .order_by(AuditEvent.id.desc())
        .limit(limit)
    )
    return [_shape(row) for row in (await session.execute(query)).scalars()]


async def newest_resources(
    session: ReadSession, actor: Actor, filters: Filters, *, limit: int
) -> dict[str, dt.datetime]:
    """Return the resources of the newest entries by their ids, with the time of the newest."""
    query = scope.of(actor, AuditEvent).where(
        *_conditions(filters), AuditEvent.resource_id.is_not(None)
    )
    columns = (AuditEvent.resource_id, AuditEvent.created_at)
    newest = query.with_only_columns(*columns).order_by(AuditEvent.id.desc())
    found: dict[str, dt.datetime] = {}
    for resource_id, at in await session.execute(newest.limit(limit)):
        found.setdefault(resource_id, at)
    return found


async def purge(database: Database) -> int:
    """Delete up to 500 entries whose retention has ended; return how many."""
    async with database.write() as session:
        # Ids sort by time, so the time itself needs no index.
        oldest = select(AuditEvent.id).order_by(AuditEvent.id).limit(_PURGE_BATCH)
        statement = (
            delete(AuditEvent)
            .where(AuditEvent.id.in_(oldest), append_only.is_expired(session))
            .returning(AuditEvent.id)
        )
        return len((await session.execute(statement)).all())


def _conditions(filters: Filters) -> list[ColumnElement[bool]]:
    found = []
    if filters.action is not None:
        found.append(AuditEvent.action == filters.action)
    if filters.resource_type is not None:
        found.append(AuditEvent.resource_type == filters.resource_type)
    if filters.actor is not None:
        column = _ACTORS.get(filters.actor.partition("_")[0])
        found.append(false() if column is None else column == filters.actor)
    if filters.since is not None:
        since = _instant(filters.since, dt.time.min)
        found += [
            AuditEvent.created_at >= since,
            AuditEvent.id >= _id_near(since, -_CLOCK_STEP_SECONDS),
        ]
    if filters.until is not None:
        until = _instant(filters.until, dt.time.max)
        found += [
            AuditEvent.created_at <= until,
            AuditEvent.id < _id_near(until, _CLOCK_STEP_SECONDS),
        ]
    return found


def _instant(bound: dt.date | dt.datetime, time: dt.time) -> dt.datetime:
    if isinstance(bound, dt.datetime):
        return bound
    return dt.datetime.combine(bound, time, dt.UTC)


def _id_near(moment: dt.datetime, seconds: float) -> str:
    """Return a bound in ids, by which the entries of a span of time are found at once."""
    return ids.first_at("aud", moment.timestamp() + seconds)


def _shape(row: AuditEvent) -> shapes.AuditEvent:
    return shapes.AuditEvent.model_validate({name: getattr(row, name) for name in _FIELDS})


def _add(
    session: Session, action: AuditAction, resource: tuple[ResourceType, str | None], **columns: Any
) -> None:
    resource_type, resource_id = resource
    session.add(
        AuditEvent(
            id=ids.new("aud"),
            action=action,
            resource_type=resource_type,
            resource_id=resource_id,
            created_at=clock.now(),
            **columns,
        )
    )


def _copy(snapshot: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if snapshot is None else dict(snapshot)
