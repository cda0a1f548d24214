"""Which deliveries are begun next: receivers in turn, and none at the cost of the others."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Select, exists, func, select

from recibo.lib import clock
from recibo.schemas.ids import EventId, OrgId
from recibo.store.db import ReadSession
from recibo.store.tables import Delivery, WebhookEndpoint

# At once to one lane; fewer when little is left for others.
_MOST = 16
# Of those that failed before, where a lane leads to many receivers: some may be dead.
_MOST_TRIED = 4
# So many are looked at to find some that never failed.
_LOOKED_AT = 64
# Of one round; the others are first in the next.
_MOST_LANES = 1000


@dataclass(frozen=True, slots=True, order=True)
class Destination:
    """A way to receivers of an org: to its endpoint, or to those that its requests named."""

    org_id: OrgId
    is_to_endpoint: bool


@dataclass(frozen=True, slots=True)
class InFlight:
    """What a courier has under way."""

    capacity: int
    #: How many, by lane.
    lanes: Mapping[Destination, int] = field(default_factory=dict)
    #: How many of these go where something failed: they may well take all the time they have.
    doubtful: Mapping[Destination, int] = field(default_factory=dict)
    #: The last lane that had its turn.
    last: Destination | None = None

    @property
    def free(self) -> int:
        """How many more may be under way."""
        return self.capacity - sum(self.lanes.values())

    @property
    def free_for_doubtful(self) -> int:
        """How many of these may go where something failed; the other half is for the living."""
        return min(self.free, self.capacity // 2 - sum(self.doubtful.values()))


@dataclass(frozen=True, slots=True)
class NextDeliveries:
    """What may be begun now."""

    #: Each with whether it goes where something failed.
    event_ids: Mapping[EventId, bool]
    last: Destination | None
    #: Whether more is due than may be begun now, beside what goes where something failed.
    has_more: bool


@dataclass(frozen=True, slots=True)
class _Due:
    event_id: EventId
    is_doubtful: bool


async def next_deliveries(session: ReadSession, load: InFlight) -> NextDeliveries:
    """Look what is due, and choose what is begun; others may choose the same."""
    lanes = _in_turn(await _due_lanes(session), load.last)
    failing = await _failing(session, lanes)
    left = _Left(load)
    chosen: dict[EventId, bool] = {}
    last, has_more = load.last, False
    for lane in lanes:
        rooms = left.rooms(lane, is_failing=lane in failing)
        if rooms.all <= 0:
            has_more |= lane not in failing
            continue
        due = await _due(session, lane, is_failing=lane in failing)
        picked = _picked(due, rooms)
        left.take(picked)
        chosen |= {one.event_id: one.is_doubtful for one in picked}
        last = lane
        has_more |= len(picked) < len(due) and not all(one.is_doubtful for one in due)
    return NextDeliveries(chosen, last, has_more)


@dataclass(frozen=True, slots=True)
class _Rooms:
    """How many deliveries of a lane may be begun."""

    all: int
    doubtful: int


class _Left:
    """What is left to give to lanes in one round."""

    def __init__(self, load: InFlight) -> None:
        self._load = load
        self._free = load.free
        self._free_for_doubtful = load.free_for_doubtful

    def rooms(self, lane: Destination, *, is_failing: bool) -> _Rooms:
        """Return how much a lane may have."""
        share = 1 if is_failing else self._share()
        room = min(share - self._load.lanes.get(lane, 0), self._free)
        doubtful = min(room, self._free_for_doubtful)
        if not lane.is_to_endpoint:
            doubtful = min(doubtful, _MOST_TRIED - self._load.doubtful.get(lane, 0))
        return _Rooms(room, doubtful)

    def take(self, picked: Collection[_Due]) -> None:
        """Give a lane what was picked."""
        self._free -= len(picked)
        self._free_for_doubtful -= sum(one.is_doubtful for one in picked)

    def _share(self) -> int:
        """Return how much one lane may have: the less is left, the less."""
        if self._free > self._load.capacity / 2:
            return _MOST
        return _MOST // 4 if self._free > self._load.capacity / 4 else 1


def _in_turn(lanes: Sequence[Destination], last: Destination | None) -> Sequence[Destination]:
    if last is None:
        return lanes[:_MOST_LANES]
    after = [lane for lane in lanes if lane > last]
    return (after + [lane for lane in lanes if lane <= last])[:_MOST_LANES]


def _picked(due: Sequence[_Due], rooms: _Rooms) -> list[_Due]:
    picked, doubtful = list[_Due](), 0
    for one in due:
        if len(picked) >= rooms.all:
            break
        if one.is_doubtful and doubtful >= rooms.doubtful:
            continue
        picked.append(one)
        doubtful += one.is_doubtful
    return picked


async def _due_lanes(session: ReadSession) -> list[Destination]:
    """Return the lanes in which something is due, in order.

    A look at the index for each org that is owed something, however much that is.
    """
    found = list[Destination]()
    for is_to_endpoint in (False, True):
        query = _due_orgs(is_to_endpoint=is_to_endpoint)
        found += [Destination(OrgId(one), is_to_endpoint) for one in (await session.scalars(query))]
    return sorted(found)


def _due_orgs(*, is_to_endpoint: bool) -> Select[tuple[str]]:
    is_owed = _is_owed(is_to_endpoint=is_to_endpoint)
    first = select(func.min(Delivery.org_id).label("org_id")).where(*is_owed)
    orgs = first.cte("orgs", recursive=True)
    following = select(func.min(Delivery.org_id)).where(Delivery.org_id > orgs.c.org_id, *is_owed)
    orgs = orgs.union_all(
        select(following.correlate(orgs).scalar_subquery()).where(orgs.c.org_id.is_not(None))
    )
    is_due = (Delivery.org_id == orgs.c.org_id, Delivery.due_at <= clock.now(), *is_owed)
    return select(orgs.c.org_id).where(
        orgs.c.org_id.is_not(None), exists().where(*is_due).correlate(orgs)
    )


async def _failing(session: ReadSession, lanes: Collection[Destination]) -> set[Destination]:
    """Return the lanes whose endpoint fails at present."""
    org_ids = [lane.org_id for lane in lanes if lane.is_to_endpoint]
    query = select(WebhookEndpoint.org_id).where(
        WebhookEndpoint.org_id.in_(org_ids), WebhookEndpoint.failing_since.is_not(None)
    )
    return {Destination(OrgId(one), is_to_endpoint=True) for one in await session.scalars(query)}


async def _due(session: ReadSession, lane: Destination, *, is_failing: bool) -> list[_Due]:
    query = (
        select(Delivery.event_id, Delivery.tries)
        .where(
            Delivery.org_id == lane.org_id,
            Delivery.due_at <= clock.now(),
            *_is_owed(is_to_endpoint=lane.is_to_endpoint),
        )
        .order_by(Delivery.due_at)
        .limit(_LOOKED_AT)
    )
    return [
        _Due(EventId(row.event_id), is_failing or (row.tries > 0 and not lane.is_to_endpoint))
        for row in await session.execute(query)
    ]


def _is_owed(*, is_to_endpoint: bool) -> tuple[ColumnElement[bool], ...]:
    """Repeat the condition of a partial index, which else is not used."""
    endpoint_id = Delivery.endpoint_id
    where = endpoint_id.is_not(None) if is_to_endpoint else endpoint_id.is_(None)
    return (Delivery.due_at.is_not(None), where)
