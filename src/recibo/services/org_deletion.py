"""Deletes an organization: access ends at once, then its rows and files are deleted.

An org may have millions of rows, so the request only ends access in its transaction. Periodic jobs
delete the rest in batches, and the org itself when no request or reading in progress can write to
it any more. The audit log is kept as long as that of every org, and the accounts of its members
stay.
"""

import datetime as dt

from sqlalchemy import Select, delete, select

from recibo.errors import Conflict, ValidationFailed
from recibo.lib import clock
from recibo.schemas.actor import Member
from recibo.schemas.ids import ReceiptId
from recibo.schemas.orgs import Org as OrgShape
from recibo.schemas.permissions import Permission
from recibo.schemas.plans import SOLD, Plans
from recibo.schemas.states import AuditAction, DeliveryState, MailKind, ResourceType, Role
from recibo.services import audit, mails
from recibo.services.billing import subscriptions
from recibo.services.identity import orgs
from recibo.store import scope
from recibo.store.db import Database, Session
from recibo.store.tables import (
    ApiKey,
    CategoryTotal,
    Delivery,
    Invitation,
    Membership,
    MerchantMonth,
    MerchantTotal,
    Org,
    PendingReadings,
    Receipt,
    ReceiptAddress,
    ReceivedMail,
    Replay,
    SigningSecret,
    SpendMonth,
    Subscription,
    UsageDay,
    UsageEvent,
    UsageMonth,
    User,
    UserSession,
    WebhookEndpoint,
    WebhookEvent,
)

# An upload or a reading that was accepted before takes no longer.
_GRACE = dt.timedelta(hours=1)
_BATCH = 500
_NOTIFIED_ROLES = (Role.OWNER, Role.ADMIN)
# What goes along with a receipt or an event is deleted by the database itself.
_MANY = (WebhookEvent, UsageEvent, ReceivedMail)
_FEW = (
    PendingReadings, Replay, UsageMonth, UsageDay, CategoryTotal, MerchantTotal, MerchantMonth,
    SpendMonth, SigningSecret, WebhookEndpoint, ApiKey, Invitation, Membership, Subscription,
    ReceiptAddress,
)  # fmt: skip


async def begin(database: Database, actor: Member, *, slug: str, plans: Plans = SOLD) -> None:
    """Delete the actor's org: end access, pending readings, webhooks and mails.

    Args:
        database: Where it is.
        actor: An owner.
        slug: What the owner typed, to be sure which org is meant.
        plans: What orgs may use; where none is sold, nothing that was bought before is in the way.

    Raises:
        ValidationFailed: it is not the org's slug.
        Conflict: a subscription goes on.
        InsufficientScope: the actor is no owner, or is none any more.
    """
    async with database.write() as session:
        org = await orgs.lock(session, actor.org_id)
        actor = await orgs.still(session, actor, Permission.ORG_DELETE)
        if slug != org.slug:
            raise ValidationFailed.of("slug", f"must be {org.slug}, to confirm the deletion")
        bought = await subscriptions.of_org(session, actor) if plans.are_sold else None
        if bought is not None and subscriptions.costs_on(bought):
            raise Conflict(
                "The organization still has a paid subscription; cancel it under Billing first."
            )
        audit.record(
            session,
            actor,
            AuditAction.ORG_DELETED,
            resource=(ResourceType.ORG, org.id),
            before=OrgShape.model_validate(org, from_attributes=True).model_dump(mode="json"),
        )
        org.deleted_at = clock.now()
        await _notify(session, actor, org.name)
        await _drop_pending(session, actor)
        await _end_access(session, actor)


async def purge(database: Database) -> list[ReceiptId]:
    """Delete up to 500 receipts of deleted orgs; the caller then deletes their files."""
    async with database.write() as session:
        some = select(Receipt.id).where(Receipt.org_id.in_(_gone())).limit(_BATCH)
        statement = delete(Receipt).where(Receipt.id.in_(some)).returning(Receipt.id)
        return [ReceiptId(one) for one in (await session.execute(statement)).scalars()]


async def finish(database: Database) -> int:
    """Delete all else of deleted orgs, 500 of what there may be many; return how many were left."""
    async with database.write() as session:
        deleted = [await _purge_some(session, table) for table in _MANY]
        if sum(deleted):
            return sum(deleted)
        for table in _FEW:
            await session.execute(delete(table).where(table.org_id.in_(_gone())))
        await session.execute(
            delete(Org).where(
                Org.deleted_at < clock.now() - _GRACE,
                # Read in at the last moment; it goes with the next round.
                Org.id.not_in(select(Receipt.org_id).where(Receipt.org_id.in_(_gone()))),
            )
        )
    return 0


async def _notify(session: Session, actor: Member, name: str) -> None:
    """Mail the owners and admins, so that they notice a deletion by a stolen session."""
    query = (
        scope.of(actor, Membership)
        .join(User, User.id == Membership.user_id)
        .where(Membership.role.in_(_NOTIFIED_ROLES), User.disabled_at.is_(None))
        .with_only_columns(User.id, User.email)
    )
    recipients = {row.id: row.email for row in await session.execute(query)}
    by = recipients.get(actor.user_id, actor.user_id)
    for address in recipients.values():
        mails.enqueue(session, MailKind.ORG_DELETED, to=address, names={"org": name, "by": by})


async def _drop_pending(session: Session, actor: Member) -> None:
    """Drop pending readings and webhooks."""
    # Endpoints are locked first and then deliveries, in id order, so dispatchers cannot deadlock.
    locked = scope.of(actor, WebhookEndpoint).order_by(WebhookEndpoint.id).with_for_update()
    await session.execute(locked)
    pending = (
        scope.of(actor, Delivery)
        .where(Delivery.due_at.is_not(None))
        .with_only_columns(Delivery.id)
        .order_by(Delivery.id)
        .with_for_update()
    )
    await session.execute(
        scope.updating(actor, Delivery)
        .where(Delivery.id.in_(pending))
        .values(state=DeliveryState.DROPPED, due_at=None)
    )
    now = clock.now()
    await session.execute(
        scope.updating(actor, Receipt)
        .where(Receipt.pending_accuracy.is_not(None))
        .values(pending_accuracy=None, deleted_at=now, updated_at=now)
    )
    await session.execute(scope.deleting(actor, PendingReadings))


async def _end_access(session: Session, actor: Member) -> None:
    now = clock.now()
    await session.execute(
        scope.updating(actor, UserSession)
        .where(UserSession.ended_at.is_(None))
        .values(ended_at=now)
    )
    for table in (
        ApiKey, Invitation, WebhookEndpoint, SigningSecret, Membership, ReceiptAddress,
    ):  # fmt: skip
        await session.execute(scope.deleting(actor, table))


def _gone() -> Select[tuple[str]]:
    return select(Org.id).where(Org.deleted_at.is_not(None))


async def _purge_some(
    session: Session, table: type[WebhookEvent] | type[UsageEvent] | type[ReceivedMail]
) -> int:
    some = select(table.id).where(table.org_id.in_(_gone())).limit(_BATCH)
    statement = delete(table).where(table.id.in_(some)).returning(table.id)
    return len((await session.execute(statement)).all())
