"""Deliveries that are owed: seen to be due, taken by a lease, signed, and written down.

The bytes of an event are the same at every try; each try has a new time and signature.
"""

import datetime as dt
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

import structlog
from sqlalchemy import Row, bindparam, delete, func, insert, select, update
from standardwebhooks import Webhook

from recibo.adapters.webhook_client import WebhookResponse
from recibo.lib import clock, ids
from recibo.lib.keyring import BadTokenError, Keyring
from recibo.schemas.ids import EndpointId, EventId, OrgId
from recibo.schemas.states import DeliveryState
from recibo.schemas.webhooks import Signing
from recibo.services.webhooks import endpoint_health, signing
from recibo.services.webhooks.endpoint_health import Try
from recibo.services.webhooks.fair_queue import Destination
from recibo.services.webhooks.signing import Owner
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Delivery, DeliveryAttempt, WebhookEndpoint, WebhookEvent

log = structlog.get_logger(__name__)

#: Longer than a POST may take and the writing down of how it ended, or two would post it.
LEASE = dt.timedelta(seconds=60)
#: After each failed try; the last one has none.
PAUSES = (
    dt.timedelta(seconds=5),
    dt.timedelta(minutes=5),
    dt.timedelta(minutes=30),
    dt.timedelta(hours=2),
    dt.timedelta(hours=5),
    dt.timedelta(hours=10),
    dt.timedelta(hours=14),
    dt.timedelta(hours=20),
    dt.timedelta(hours=24),
)
# Many that failed together come again spread out, and none too early.
_JITTER = 0.1
_LONGEST_WISH = dt.timedelta(hours=24)
_RESPECTED = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}
_USER_AGENT = f"Recibo/{version('recibo')}"
_SUCCESS = range(200, 300)
_REDIRECTS = range(300, 400)
#: Events, with what became of them, are kept for so long.
RETENTION = dt.timedelta(days=90)
_PURGE_BATCH = 500
# From this try on, half an hour after the first, an event shows that its endpoint fails for long.
_LATE = 3


@dataclass(frozen=True, slots=True)
class LeasedDelivery:
    """A delivery that is ours to try until the lease is over."""

    event_id: EventId
    lane: Destination
    endpoint_id: EndpointId | None
    url: str
    body: str
    #: None when the secret cannot be opened: the installation's own was changed.
    signing: Signing | None
    #: How often it was tried before.
    tries: int
    until: dt.datetime


@dataclass(frozen=True, slots=True)
class FinishedAttempt:
    """How one try ended."""

    taken: LeasedDelivery
    started_at: dt.datetime
    ended_at: dt.datetime
    outcome: WebhookResponse

    @property
    def is_success(self) -> bool:
        """Whether the receiver took it."""
        return self.outcome.status in _SUCCESS

    @property
    def bare(self) -> "FinishedAttempt":
        """The same without anything that the receiver said but the status."""
        status = self.outcome.status
        error = None if status is not None else "the answer could not be stored"
        return replace(
            self, outcome=WebhookResponse(self.outcome.duration_s, status=status, error=error)
        )

    @property
    def state(self) -> DeliveryState:
        """How the delivery stands from now on."""
        if self.is_success:
            return DeliveryState.DELIVERED
        is_over = self.outcome.status == HTTPStatus.GONE or self.taken.tries >= len(PAUSES)
        return DeliveryState.FAILED if is_over else DeliveryState.OWED


async def lease(
    session: Session, keyring: Keyring, event_ids: Collection[EventId]
) -> list[LeasedDelivery]:
    """Take deliveries that are due, unless others did, inside the caller's transaction.

    Those whose endpoint is gone or switched off are dropped.
    """
    rows = await _leased(session, event_ids, until=clock.now() + LEASE)
    if not rows:
        return []
    urls = await _urls(session, rows)
    await _drop(session, [row.event_id for row in rows if row.event_id not in urls])
    rows = [row for row in rows if row.event_id in urls]
    signings = await _signings(session, keyring, rows)
    query = select(WebhookEvent.id, WebhookEvent.body).where(WebhookEvent.id.in_(urls))
    bodies = {row.id: row.body for row in await session.execute(query)}
    return [
        LeasedDelivery(
            event_id=EventId(row.event_id),
            lane=Destination(OrgId(row.org_id), row.endpoint_id is not None),
            endpoint_id=None if row.endpoint_id is None else EndpointId(row.endpoint_id),
            url=urls[row.event_id],
            body=bodies[row.event_id],
            signing=signings.get(_owner(row)),
            tries=row.tries,
            until=row.due_at,
        )
        for row in rows
    ]


def headers(taken: LeasedDelivery) -> dict[str, str]:
    """Sign a try that is made now (https://www.standardwebhooks.com).

    Raises:
        BadTokenError: its secret cannot be opened.
    """
    if taken.signing is None:
        raise BadTokenError
    now = clock.now()
    signatures = [
        Webhook(secret).sign(taken.event_id, now, taken.body) for secret in taken.signing.secrets
    ]
    return {
        "Content-Type": "application/json",
        "User-Agent": _USER_AGENT,
        "webhook-id": taken.event_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


async def record(session: Session, ended: Sequence[FinishedAttempt]) -> None:
    """Write down how tries ended, inside the caller's transaction.

    What was taken by others since, asked for anew or dropped stays as it is.
    """
    # Endpoints before deliveries, as everywhere: two couriers wait for each other, no more.
    await endpoint_health.note(session, [_try(one, one.taken.endpoint_id) for one in ended
                                 if one.taken.endpoint_id is not None])  # fmt: skip
    connection = await session.connection()
    await connection.execute(insert(DeliveryAttempt), [_attempt(one) for one in ended])
    statement = (
        update(Delivery)
        .where(Delivery.event_id == bindparam("of"), Delivery.due_at == bindparam("until"))
        .values(state=bindparam("then"), due_at=bindparam("next_at"), tries=bindparam("made"))
    )
    # In the order in which others lock many of them, so that nobody waits in a circle.
    in_order = sorted(ended, key=lambda one: one.taken.event_id)
    await connection.execute(statement, [_change(one) for one in in_order])
    event_ids = [one.taken.event_id for one in ended]
    await session.execute(
        update(WebhookEvent)
        .where(WebhookEvent.id.in_(event_ids), WebhookEvent.attempted_at.is_(None))
        .values(attempted_at=clock.now())
    )


async def release(session: Session) -> None:
    """Have first tries that broke off made at once, where nobody else is about to end them.

    Later tries wait for the end of their lease: until then they look like those that failed.
    """
    now = clock.now()
    statement = update(Delivery).where(Delivery.due_at > now, Delivery.tries == 0)
    await session.execute(statement.values(due_at=now))


async def count_pending(session: ReadSession) -> int:
    """Return how many deliveries are owed."""
    query = select(func.count()).select_from(Delivery).where(Delivery.due_at.is_not(None))
    return (await session.execute(query)).scalar_one()


async def purge(database: Database) -> int:
    """Delete up to 500 events whose time is over, with all that became of them; return how many."""
    async with database.write() as session:
        # Ids are in the order of time, so no index is needed on the time itself.
        oldest = select(WebhookEvent.id).order_by(WebhookEvent.id).limit(_PURGE_BATCH)
        statement = (
            delete(WebhookEvent)
            .where(WebhookEvent.id.in_(oldest), WebhookEvent.created_at < clock.now() - RETENTION)
            .returning(WebhookEvent.id)
        )
        return len((await session.execute(statement)).all())


async def _leased(
    session: Session, event_ids: Collection[EventId], *, until: dt.datetime
) -> Sequence[Row[Any]]:
    due = (
        select(Delivery.event_id)
        .where(Delivery.event_id.in_(event_ids), Delivery.due_at <= clock.now())
        # Another takes these at this moment.
        .with_for_update(skip_locked=True)
    )
    statement = (
        update(Delivery)
        .where(Delivery.event_id.in_(due))
        .values(due_at=until)
        .returning(
            Delivery.event_id,
            Delivery.org_id,
            Delivery.endpoint_id,
            Delivery.url,
            Delivery.tries,
            Delivery.due_at,
        )
    )
    return (await session.execute(statement)).all()


async def _urls(session: Session, rows: Sequence[Row[Any]]) -> dict[str, str]:
    """Return where deliveries go, by event; those that go nowhere any more are left out."""
    query = select(WebhookEndpoint.id, WebhookEndpoint.url).where(
        WebhookEndpoint.id.in_({row.endpoint_id for row in rows if row.endpoint_id is not None}),
        WebhookEndpoint.disabled_at.is_(None),
    )
    endpoints = {row.id: row.url for row in await session.execute(query)}
    urls = {row.event_id: row.url or endpoints.get(row.endpoint_id) for row in rows}
    return {event_id: url for event_id, url in urls.items() if url is not None}


async def _drop(session: Session, event_ids: Collection[str]) -> None:
    if event_ids:
        statement = update(Delivery).where(Delivery.event_id.in_(event_ids))
        await session.execute(statement.values(state=DeliveryState.DROPPED, due_at=None))


async def _signings(
    session: Session, keyring: Keyring, rows: Sequence[Row[Any]]
) -> dict[Owner, Signing]:
    owners: dict[OrgId, set[Owner]] = {}
    for row in rows:
        owners.setdefault(OrgId(row.org_id), set()).add(_owner(row))
    signings: dict[Owner, Signing] = {}
    for org_id, owned in owners.items():
        try:
            found = await signing.of(session, keyring, org_id, owned)
            signings |= {owner: found[owner] for owner in owned}
        except BadTokenError:
            # The others are not held up; these are tries that failed.
            log.exception("the secret of webhooks cannot be opened", org_id=org_id)
    return signings


def _owner(row: Row[Any]) -> Owner:
    return OrgId(row.org_id) if row.endpoint_id is None else EndpointId(row.endpoint_id)


def _try(one: FinishedAttempt, endpoint_id: EndpointId) -> Try:
    # A receiver that wants no event again will get no late try either.
    is_late = one.taken.tries >= _LATE or one.state is DeliveryState.FAILED
    return Try(endpoint_id, one.taken.url, one.ended_at, one.is_success, is_late)


def _attempt(one: FinishedAttempt) -> dict[str, object]:
    outcome = one.outcome
    is_redirect = outcome.status in _REDIRECTS
    return {
        "id": ids.new("att"),
        "event_id": one.taken.event_id,
        "org_id": one.taken.lane.org_id,
        "url": one.taken.url,
        "started_at": one.started_at,
        "duration_ms": round(outcome.duration_s * 1000),
        "status": outcome.status,
        "error": "redirects are not followed" if is_redirect else outcome.error,
        # PostgreSQL stores no NUL.
        "answer": outcome.answer.decode(errors="replace").replace(
            "\0", "\N{REPLACEMENT CHARACTER}"
        ),
    }


def _change(one: FinishedAttempt) -> dict[str, object]:
    is_owed = one.state is DeliveryState.OWED
    return {
        "of": one.taken.event_id,
        "until": one.taken.until,
        "then": one.state,
        "next_at": one.ended_at + _pause(one) if is_owed else None,
        "made": one.taken.tries + 1,
    }


def _pause(one: FinishedAttempt) -> dt.timedelta:
    pause = PAUSES[one.taken.tries] * random.uniform(1, 1 + _JITTER)  # noqa: S311 - no secret
    wish = one.outcome.retry_after_s
    if wish is None or one.outcome.status not in _RESPECTED:
        return pause
    return max(pause, min(dt.timedelta(seconds=wish), _LONGEST_WISH))
