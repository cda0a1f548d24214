"""The end of an org: what ends at once, what goes later, and what stays."""

import datetime as dt

import pytest
from sqlalchemy import select

from recibo.errors import Conflict, InsufficientScope, NoSession, Unauthorized, ValidationFailed
from recibo.lib import clock
from recibo.lib.keyring import Keyring
from recibo.schemas.actor import KeyActor, Member
from recibo.schemas.ids import OrgId
from recibo.schemas.states import (
    AuditAction,
    DeliveryState,
    MailKind,
    PaymentProvider,
    Role,
    SubscriptionStatus,
)
from recibo.services import org_deletion
from recibo.services.identity import orgs
from recibo.services.webhooks import endpoints
from recibo.store import tables
from recibo.store.db import Database
from recibo.store.tables import Table
from tests import events, mail_fixtures, make
from tests.core import Core

TWO_HOURS = dt.timedelta(hours=2)
# The log is kept for its time, and sessions are their users'.
STAY = {"audit_events", "user_sessions"}
ORG_TABLES = [
    mapper.class_ for mapper in Table.registry.mappers if "org_id" in mapper.class_.__table__.c
]


async def furnished(parts: Core, secret: str) -> tuple[KeyActor, Member]:
    """Give the org of a key something of everything, and return the key and an owner."""
    actor = await make.actor_of(parts.database, secret)
    member = await make.member(parts.database, actor.org_id)
    await events.endpoint(parts.database, actor)
    for text in ("one", "two", "three"):
        submitted = await parts.submit(actor, f"{text} of {actor.org_id}")
        await parts.tasks.read(submitted.receipt_id)
    await events.emit_event(parts.database, actor.org_id)
    await events.emit_event(parts.database, actor.org_id, url=None)
    async with parts.database.write() as session:
        await endpoints.secrets(session, Keyring("s" * 40), member)
    await parts.submit(actor, f"pending of {actor.org_id}")
    return actor, member


async def subscribed(
    database: Database, org_id: OrgId, status: SubscriptionStatus, *, ends: bool = False
) -> None:
    """Set the state of an org's subscription."""
    async with database.write() as session:
        await session.merge(
            tables.Subscription(
                org_id=org_id,
                provider=PaymentProvider.SANDBOX,
                customer_id=f"cus_{org_id}",
                subscription_id="sub_1",
                plan="indie",
                status=status,
                cancel_at_period_end=ends,
                version=0,
                updated_at=clock.now(),
            )
        )


async def held_by(database: Database, org_id: OrgId) -> set[str]:
    """Return the names of the tables that hold something of an org."""
    async with database.read() as session:
        return {
            table.__tablename__
            for table in ORG_TABLES
            if (await session.execute(select(table).filter_by(org_id=org_id).limit(1))).first()
        }


async def is_there(database: Database, org_id: OrgId) -> bool:
    """Return whether an org's row exists."""
    async with database.read() as session:
        return await session.get(tables.Org, org_id) is not None


async def test_everything_of_the_org_goes_and_nothing_of_another(
    parts: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(org_deletion, "_BATCH", 2)
    secret, others = [
        await make.key(parts.database, await make.org(parts.database)) for _ in range(2)
    ]
    actor, owner = await furnished(parts, secret)
    other, _ = await furnished(parts, others)
    await subscribed(parts.database, actor.org_id, SubscriptionStatus.CANCELED)
    before = await held_by(parts.database, other.org_id)
    await org_deletion.begin(parts.database, owner, slug=actor.org_id)
    # Let in before, an upload ends after.
    await parts.submit(actor, "too late")
    await parts.periodic_tasks.purge()
    soon = await held_by(parts.database, actor.org_id)
    is_kept = await is_there(parts.database, actor.org_id)
    with clock.moved(TWO_HOURS):
        await parts.periodic_tasks.purge()

    assert {"receipts", "deliveries", "signing_secrets", "usage_events", "replays"} <= before
    assert soon <= STAY
    assert is_kept
    assert not await is_there(parts.database, actor.org_id)
    assert await is_there(parts.database, other.org_id)
    assert before == await held_by(parts.database, other.org_id)
    # The other org's three completed receipts and its pending one.
    assert 4 == len(parts.files())
    async with parts.database.read() as session:
        query = select(tables.AuditEvent).filter_by(action=AuditAction.ORG_DELETED)
        (entry,) = (await session.execute(query)).scalars()
    assert (actor.org_id, owner.user_id) == (entry.resource_id, entry.actor_user_id)


async def test_access_and_pending_work_end_at_once(parts: Core) -> None:
    secret = await make.key(parts.database, await make.org(parts.database))
    actor, owner = await furnished(parts, secret)
    await org_deletion.begin(parts.database, owner, slug=actor.org_id)
    parts.carrier.added.clear()
    await parts.periodic_tasks.enqueue_pending_readings()

    assert [] == parts.carrier.added
    (mail,) = await mail_fixtures.rows(parts.database)
    assert (MailKind.ORG_DELETED, f"{owner.user_id}@recibo.test") == (mail.kind, mail.recipient)
    assert mail.recipient == mail.names["by"]
    deliveries = await events.deliveries(parts.database)
    assert {(DeliveryState.DROPPED, None)} == {(one.state, one.due_at) for one in deliveries}
    with pytest.raises(Unauthorized):
        await make.actor_of(parts.database, secret)
    with pytest.raises(NoSession):
        await org_deletion.begin(parts.database, owner, slug=actor.org_id)
    async with parts.database.write() as session:
        with pytest.raises(Exception, match="no org"):
            await orgs.named(session, actor.org_id)


async def test_only_an_owner_who_names_the_org_deletes_it(database: Database) -> None:
    org_id = await make.org(database)
    owner = await make.member(database, org_id)
    admin = await make.member(database, org_id, Role.ADMIN)

    with pytest.raises(InsufficientScope):
        await org_deletion.begin(database, admin, slug=org_id)
    with pytest.raises(ValidationFailed, match="to confirm the deletion"):
        await org_deletion.begin(database, owner, slug=org_id.upper())
    assert {"memberships"} == await held_by(database, org_id)


async def test_what_is_paid_for_is_cancelled_first(database: Database) -> None:
    for status in SubscriptionStatus:
        org_id = await make.org(database)
        owner = await make.member(database, org_id)
        await subscribed(database, org_id, status)
        if status is not SubscriptionStatus.CANCELED:
            with pytest.raises(Conflict, match="cancel it under Billing first"):
                await org_deletion.begin(database, owner, slug=org_id)
            await subscribed(database, org_id, status, ends=True)
        await org_deletion.begin(database, owner, slug=org_id)
        assert await held_by(database, org_id) <= {*STAY, "subscriptions"}, status
