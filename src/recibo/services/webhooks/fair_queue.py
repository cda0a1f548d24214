"""Chooses the next deliveries: round-robin by destination, so none delays the others."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import cast

from sqlalchemy import ColumnElement, Select, bindparam, exists, func, select

from recibo.lib import clock
from recibo.schemas.ids import DeliveryId, EndpointId, OrgId
from recibo.store.db import ReadSession
from recibo.store.tables import Delivery, WebhookEndpoint

# Deliveries in flight to one destination; fewer when little capacity is left for others.
_MAX_PER_DESTINATION = 16
# Suspect deliveries in flight to the request URLs of one org: some of these may be dead.
_MAX_SUSPECT = 4
# How many due deliveries are examined to find some that are not suspect.
_EXAMINED = 64
# Destinations in one poll; the others are first in the next.
_MAX_DESTINATIONS = 1000


@dataclass(frozen=True, slots=True, order=True)
class Destination:
    """Receivers that share slots: an endpoint, or all URLs given in the requests of an org."""

    #: The id of the endpoint or of the org.
    id: EndpointId | OrgId
    is_to_endpoint: bool


@dataclass(frozen=True, slots=True)
class InFlight:
    """The deliveries that a dispatcher has in flight."""

    capacity: int
    #: The number in flight, by destination.
    by_destination: Mapping[Destination, int] = field(default_factory=dict)
    #: How many of these are suspect: an earlier failure makes a timeout likely.
    suspect: Mapping[Destination, int] = field(default_factory=dict)
    #: The destination that was served last.
    last: Destination | None = None

    @property
    def free(self) -> int:
        """The number of free slots."""
        return self.capacity - sum(self.by_destination.values())

    @property
    def free_for_suspect(self) -> int:
        """The free slots for suspect deliveries; half of all slots are for healthy receivers."""
        return min(self.free, self.capacity // 2 - sum(self.suspect.values()))


@dataclass(frozen=True, slots=True)
class NextDeliveries:
    """The deliveries to start now."""

    #: Each with whether it is suspect.
    delivery_ids: Mapping[DeliveryId, bool]
    last: Destination | None
    #: Whether more deliveries are due that are not suspect.
    has_more: bool


@dataclass(frozen=True, slots=True)
class _Due:
    delivery_id: DeliveryId
    is_suspect: bool


async def next_deliveries(session: ReadSession, in_flight: InFlight) -> NextDeliveries:
    """Return the due deliveries to start now; other dispatchers may choose the same ones."""
    destinations = _round_robin(await _due_destinations(session), in_flight.last)
    failing = await _failing(session, destinations)
    slots = _FreeSlots(in_flight)
    chosen: dict[DeliveryId, bool] = {}
    last, has_more = in_flight.last, False
    for one in destinations:
        quota = slots.quota(one, is_failing=one in failing)
        if quota.all <= 0:
            has_more |= one not in failing
            continue
        due = await _due(session, one, is_failing=one in failing)
        picked = _pick(due, quota)
        slots.take(picked)
        chosen |= {delivery.delivery_id: delivery.is_suspect for delivery in picked}
        last = one
        has_more |= len(picked) < len(due) and not all(delivery.is_suspect for delivery in due)
    return NextDeliveries(chosen, last, has_more)


@dataclass(frozen=True, slots=True)
class _Quota:
    """How many deliveries to a destination may start."""

    all: int
    suspect: int


class _FreeSlots:
    """The slots that are left in one poll."""

    def __init__(self, in_flight: InFlight) -> None:
        self._in_flight = in_flight
        self._free = in_flight.free
        self._free_for_suspect = in_flight.free_for_suspect

    def quota(self, destination: Destination, *, is_failing: bool) -> _Quota:
        """Return how many deliveries to a destination may start."""
        share = 1 if is_failing else self._share()
        free = min(share - self._in_flight.by_destination.get(destination, 0), self._free)
        suspect = min(free, self._free_for_suspect)
        if not destination.is_to_endpoint:
            suspect = min(suspect, _MAX_SUSPECT - self._in_flight.suspect.get(destination, 0))
        return _Quota(free, suspect)

    def take(self, picked: Collection[_Due]) -> None:
        """Use the slots of the picked deliveries."""
        self._free -= len(picked)
        self._free_for_suspect -= sum(one.is_suspect for one in picked)

    def _share(self) -> int:
        """Return the most that one destination may have, which shrinks with the free slots."""
        if self._free > self._in_flight.capacity / 2:
            return _MAX_PER_DESTINATION
        return _MAX_PER_DESTINATION // 4 if self._free > self._in_flight.capacity / 4 else 1


def _round_robin(found: Sequence[Destination], last: Destination | None) -> Sequence[Destination]:
    if last is None:
        return found[:_MAX_DESTINATIONS]
    after = [one for one in found if one > last]
    return (after + [one for one in found if one <= last])[:_MAX_DESTINATIONS]


def _pick(due: Sequence[_Due], quota: _Quota) -> list[_Due]:
    picked, suspect = list[_Due](), 0
    for one in due:
        if len(picked) >= quota.all:
            break
        if one.is_suspect and suspect >= quota.suspect:
            continue
        picked.append(one)
        suspect += one.is_suspect
    return picked


async def _due_destinations(session: ReadSession) -> list[Destination]:
    """Return the destinations with due deliveries, in order.

    Costs one index lookup for each destination with pending deliveries, however many these are.
    """
    found = list[Destination]()
    for is_to_endpoint in (False, True):
        query = due_receivers(is_to_endpoint=is_to_endpoint)
        receiver_ids = await session.scalars(query, {"now": clock.now()})
        found += [_destination(one, is_to_endpoint=is_to_endpoint) for one in receiver_ids]
    return sorted(found)


def _destination(receiver_id: str, *, is_to_endpoint: bool) -> Destination:
    receiver = EndpointId(receiver_id) if is_to_endpoint else OrgId(receiver_id)
    return Destination(receiver, is_to_endpoint)


@cache
def due_receivers(*, is_to_endpoint: bool) -> Select[tuple[str]]:
    """Return the query of the receivers with due deliveries; it has the parameter `now`."""
    # Built once, like the next: every commit with an event runs them, and building takes longer.
    is_pending = _is_pending(is_to_endpoint=is_to_endpoint)
    receiver = _receiver(is_to_endpoint=is_to_endpoint)
    first = select(func.min(receiver).label("id")).where(*is_pending)
    found = first.cte("receivers", recursive=True)
    following = select(func.min(receiver)).where(receiver > found.c.id, *is_pending)
    found = found.union_all(
        select(following.correlate(found).scalar_subquery()).where(found.c.id.is_not(None))
    )
    is_due = (receiver == found.c.id, Delivery.due_at <= bindparam("now"), *is_pending)
    return select(found.c.id).where(
        found.c.id.is_not(None), exists().where(*is_due).correlate(found)
    )


async def _failing(session: ReadSession, found: Collection[Destination]) -> set[Destination]:
    """Return the destinations that are endpoints which fail at present."""
    endpoint_ids = [one.id for one in found if one.is_to_endpoint]
    if not endpoint_ids:
        return set()
    query = select(WebhookEndpoint.id).where(
        WebhookEndpoint.id.in_(endpoint_ids), WebhookEndpoint.failing_since.is_not(None)
    )
    return {_destination(one, is_to_endpoint=True) for one in await session.scalars(query)}


async def _due(session: ReadSession, destination: Destination, *, is_failing: bool) -> list[_Due]:
    query = _due_of(is_to_endpoint=destination.is_to_endpoint)
    parameters = {"receiver": destination.id, "now": clock.now()}
    rows = (await session.execute(query, parameters)).all()
    retries_are_suspect = not destination.is_to_endpoint
    return [
        _Due(DeliveryId(row.id), is_failing or (row.tries > 0 and retries_are_suspect))
        for row in rows
    ]


@cache
def _due_of(*, is_to_endpoint: bool) -> Select[tuple[str, int]]:
    return (
        select(Delivery.id, Delivery.tries)
        .where(
            _receiver(is_to_endpoint=is_to_endpoint) == bindparam("receiver"),
            Delivery.due_at <= bindparam("now"),
            *_is_pending(is_to_endpoint=is_to_endpoint),
        )
        .order_by(Delivery.due_at)
        .limit(_EXAMINED)
    )


def _receiver(*, is_to_endpoint: bool) -> ColumnElement[str | None]:
    """Return the first column of the index that lists what is due."""
    column = Delivery.endpoint_id if is_to_endpoint else Delivery.org_id
    return cast("ColumnElement[str | None]", column)


def _is_pending(*, is_to_endpoint: bool) -> tuple[ColumnElement[bool], ...]:
    """Return the condition of a partial index, repeated so that the database uses the index."""
    endpoint_id = Delivery.endpoint_id
    where = endpoint_id.is_not(None) if is_to_endpoint else endpoint_id.is_(None)
    return (Delivery.due_at.is_not(None), where)
