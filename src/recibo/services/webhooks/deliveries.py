"""Pending deliveries: lease them, sign their requests and record the outcome of each attempt.

Every attempt sends the same bytes with a new timestamp and signature.
"""

import datetime as dt
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
from recibo.schemas.ids import DeliveryId, EndpointId, EventId, OrgId
from recibo.schemas.states import DeliveryState
from recibo.schemas.webhooks import SigningSecrets
from recibo.services import backoff
from recibo.services.webhooks import endpoint_health, signing
from recibo.services.webhooks.endpoint_health import EndpointResult
from recibo.services.webhooks.fair_queue import Destination
from recibo.services.webhooks.signing import Owner
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Delivery, DeliveryAttempt, WebhookEndpoint, WebhookEvent

log = structlog.get_logger(__name__)

#: Longer than a POST and the recording of its outcome, so that no two processes post it.
LEASE = dt.timedelta(seconds=60)
#: The pause after each failed attempt; the last attempt has none.
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
_JITTER = 0.1
_MAX_RETRY_AFTER = dt.timedelta(hours=24)
_RETRY_AFTER_STATUSES = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}
_USER_AGENT = f"Recibo/{version('recibo')}"
_SUCCESS = range(200, 300)
_REDIRECTS = range(300, 400)
#: How long events are kept with their deliveries and attempts.
RETENTION = dt.timedelta(days=90)
_PURGE_BATCH = 500
# From this attempt on, half an hour after the first, a failure counts as a late one.
_LATE = 3


@dataclass(frozen=True, slots=True)
class LeasedDelivery:
    """A delivery that this process may attempt until its lease expires."""

    id: DeliveryId
    event_id: EventId
    org_id: OrgId
    #: None if the request named the URL.
    endpoint_id: EndpointId | None
    url: str
    body: str
    #: None if the secret cannot be decrypted, because the installation's secret was changed.
    signing: SigningSecrets | None
    #: The number of earlier attempts.
    tries: int
    until: dt.datetime

    @property
    def destination(self) -> Destination:
        """The receivers that it shares slots with."""
        return Destination(self.endpoint_id or self.org_id, self.endpoint_id is not None)


@dataclass(frozen=True, slots=True)
class FinishedAttempt:
    """The outcome of one attempt."""

    leased: LeasedDelivery
    started_at: dt.datetime
    ended_at: dt.datetime
    outcome: WebhookResponse

    @property
    def is_success(self) -> bool:
        """Whether the receiver accepted the event."""
        return self.outcome.status in _SUCCESS

    @property
    def without_response(self) -> "FinishedAttempt":
        """The same attempt with nothing of the response but its status."""
        status = self.outcome.status
        error = None if status is not None else "the answer could not be stored"
        return replace(
            self, outcome=WebhookResponse(self.outcome.duration_s, status=status, error=error)
        )

    @property
    def state(self) -> DeliveryState:
        """The state of the delivery after this attempt."""
        if self.is_success:
            return DeliveryState.DELIVERED
        is_final = self.outcome.status == HTTPStatus.GONE or self.leased.tries >= len(PAUSES)
        return DeliveryState.FAILED if is_final else DeliveryState.PENDING


async def lease(
    session: Session, keyring: Keyring, delivery_ids: Collection[DeliveryId]
) -> list[LeasedDelivery]:
    """Lease those deliveries that are still due, inside the caller's transaction.

    Deliveries to an endpoint that was removed or disabled are dropped.
    """
    rows = await _lease_rows(session, delivery_ids, until=clock.now() + LEASE)
    if not rows:
        return []
    urls = await _urls(session, rows)
    await _drop(session, [row.id for row in rows if row.id not in urls])
    rows = [row for row in rows if row.id in urls]
    signings = await _signings(session, keyring, rows)
    event_ids = {row.event_id for row in rows}
    query = select(WebhookEvent.id, WebhookEvent.body).where(WebhookEvent.id.in_(event_ids))
    bodies = {row.id: row.body for row in await session.execute(query)}
    return [
        LeasedDelivery(
            id=DeliveryId(row.id),
            event_id=EventId(row.event_id),
            org_id=OrgId(row.org_id),
            endpoint_id=None if row.endpoint_id is None else EndpointId(row.endpoint_id),
            url=urls[row.id],
            body=bodies[row.event_id],
            signing=signings.get(_owner(row)),
            tries=row.tries,
            until=row.due_at,
        )
        for row in rows
    ]


def headers(leased: LeasedDelivery) -> dict[str, str]:
    """Return the headers of a request sent now, signed by https://www.standardwebhooks.com.

    Raises:
        BadTokenError: the secret cannot be decrypted.
    """
    if leased.signing is None:
        raise BadTokenError
    now = clock.now()
    signatures = [
        Webhook(secret).sign(leased.event_id, now, leased.body) for secret in leased.signing.secrets
    ]
    return {
        "Content-Type": "application/json",
        "User-Agent": _USER_AGENT,
        "webhook-id": leased.event_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


async def record(session: Session, ended: Sequence[FinishedAttempt]) -> None:
    """Record the outcomes of attempts, inside the caller's transaction.

    A delivery that was leased again, resent or dropped meanwhile does not change.
    """
    # Endpoints are locked before deliveries everywhere, so two dispatchers cannot deadlock.
    results = [_result(one, one.leased.endpoint_id) for one in ended
               if one.leased.endpoint_id is not None]  # fmt: skip
    await endpoint_health.record(session, results)
    connection = await session.connection()
    await connection.execute(insert(DeliveryAttempt), [_attempt(one) for one in ended])
    statement = (
        update(Delivery)
        .where(Delivery.id == bindparam("of"), Delivery.due_at == bindparam("until"))
        .values(state=bindparam("then"), due_at=bindparam("next_at"), tries=bindparam("made"))
    )
    # Rows are locked in id order everywhere, so two dispatchers cannot deadlock.
    in_order = sorted(ended, key=lambda one: one.leased.id)
    await connection.execute(statement, [_change(one) for one in in_order])
    event_ids = {one.leased.event_id for one in ended}
    await session.execute(
        update(WebhookEvent)
        .where(WebhookEvent.id.in_(event_ids), WebhookEvent.attempted_at.is_(None))
        .values(attempted_at=clock.now())
    )


async def release_all(session: Session) -> None:
    """Make leased first attempts due at once; only for a process that works alone.

    Later attempts wait until their lease expires: they look the same as failed ones.
    """
    now = clock.now()
    statement = update(Delivery).where(Delivery.due_at > now, Delivery.tries == 0)
    await session.execute(statement.values(due_at=now))


async def count_pending(session: ReadSession) -> int:
    """Return the number of pending deliveries."""
    query = select(func.count()).select_from(Delivery).where(Delivery.due_at.is_not(None))
    return (await session.execute(query)).scalar_one()


async def purge(database: Database) -> int:
    """Delete up to 500 expired events with their deliveries and attempts; return how many."""
    async with database.write() as session:
        # Ids sort by time, so the time itself needs no index.
        oldest = select(WebhookEvent.id).order_by(WebhookEvent.id).limit(_PURGE_BATCH)
        statement = (
            delete(WebhookEvent)
            .where(WebhookEvent.id.in_(oldest), WebhookEvent.created_at < clock.now() - RETENTION)
            .returning(WebhookEvent.id)
        )
        return len((await session.execute(statement)).all())


async def _lease_rows(
    session: Session, delivery_ids: Collection[DeliveryId], *, until: dt.datetime
) -> Sequence[Row[Any]]:
    due = (
        select(Delivery.id)
        .where(Delivery.id.in_(delivery_ids), Delivery.due_at <= clock.now())
        # Locked rows are being leased by another dispatcher.
        .with_for_update(skip_locked=True)
    )
    statement = (
        update(Delivery)
        .where(Delivery.id.in_(due))
        .values(due_at=until)
        .returning(
            Delivery.id,
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
    """Return the URL of each delivery; one to a removed or disabled endpoint has none."""
    query = select(WebhookEndpoint.id, WebhookEndpoint.url).where(
        WebhookEndpoint.id.in_({row.endpoint_id for row in rows if row.endpoint_id is not None}),
        WebhookEndpoint.disabled_at.is_(None),
    )
    endpoints = {row.id: row.url for row in await session.execute(query)}
    urls = {row.id: row.url or endpoints.get(row.endpoint_id) for row in rows}
    return {delivery_id: url for delivery_id, url in urls.items() if url is not None}


async def _drop(session: Session, delivery_ids: Collection[str]) -> None:
    if delivery_ids:
        statement = update(Delivery).where(Delivery.id.in_(delivery_ids))
        await session.execute(statement.values(state=DeliveryState.DROPPED, due_at=None))


async def _signings(
    session: Session, keyring: Keyring, rows: Sequence[Row[Any]]
) -> dict[Owner, SigningSecrets]:
    owners: dict[OrgId, set[Owner]] = {}
    for row in rows:
        owners.setdefault(OrgId(row.org_id), set()).add(_owner(row))
    signings: dict[Owner, SigningSecrets] = {}
    for org_id, owned in owners.items():
        try:
            found = await signing.of(session, keyring, org_id, owned)
            signings |= {owner: found[owner] for owner in owned}
        except BadTokenError:
            # These attempts fail; other orgs are not affected.
            log.exception("failed to decrypt a webhook secret", org_id=org_id)
    return signings


def _owner(row: Row[Any]) -> Owner:
    return OrgId(row.org_id) if row.endpoint_id is None else EndpointId(row.endpoint_id)


def _result(one: FinishedAttempt, endpoint_id: EndpointId) -> EndpointResult:
    # The final attempt counts as late: after "410 Gone" there is no later one.
    is_late = one.leased.tries >= _LATE or one.state is DeliveryState.FAILED
    return EndpointResult(endpoint_id, one.leased.url, one.ended_at, one.is_success, is_late)


def _attempt(one: FinishedAttempt) -> dict[str, object]:
    outcome = one.outcome
    is_redirect = outcome.status in _REDIRECTS
    return {
        "id": ids.new("att"),
        "event_id": one.leased.event_id,
        "delivery_id": one.leased.id,
        "org_id": one.leased.org_id,
        "url": one.leased.url,
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
    is_pending = one.state is DeliveryState.PENDING
    return {
        "of": one.leased.id,
        "until": one.leased.until,
        "then": one.state,
        "next_at": one.ended_at + _pause(one) if is_pending else None,
        "made": one.leased.tries + 1,
    }


def _pause(one: FinishedAttempt) -> dt.timedelta:
    pause = backoff.after(one.leased.tries + 1, PAUSES, jitter=_JITTER)
    retry_after_s = one.outcome.retry_after_s
    if retry_after_s is None or one.outcome.status not in _RETRY_AFTER_STATUSES:
        return pause
    return max(pause, min(dt.timedelta(seconds=retry_after_s), _MAX_RETRY_AFTER))
