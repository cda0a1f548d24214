"""Members of an org: list, change roles, remove."""

from typing import Any

from sqlalchemy import Row, Select

from recibo.errors import NotFound, ValidationFailed
from recibo.lib import ids
from recibo.schemas import members as shapes
from recibo.schemas.actor import Member
from recibo.schemas.ids import UserId
from recibo.schemas.permissions import Permission
from recibo.schemas.states import AuditAction, ResourceType, Role
from recibo.services import audit
from recibo.services.identity import invitations, keys, orgs, sessions
from recibo.store import scope
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Membership, User


async def in_join_order(session: ReadSession, actor: Member) -> list[shapes.Member]:
    """Return the members of the actor's org, the first to join first."""
    query = _members(actor).order_by(Membership.created_at, Membership.user_id)
    return [_shape(row) for row in await session.execute(query)]


async def change_role(
    database: Database, actor: Member, user_id: str, *, role: Role
) -> shapes.Member:
    """Change the role of a member and return the member.

    Invitations that the new role could not send and API keys that it could not create are revoked.

    Raises:
        InsufficientScope: the actor may not, or not where an owner is concerned.
        NotFound: there is no such member in the actor's org.
        ValidationFailed: the org would be left without an owner.
    """
    async with database.write() as session:
        await orgs.lock(session, actor.org_id)
        actor = await orgs.still(session, actor, Permission.TEAM_WRITE)
        orgs.require_owner_over(actor, role)
        row = await _row(session, actor, user_id)
        before = _shape(row)
        orgs.require_owner_over(actor, before.role)
        if before.role is role:
            return before
        if before.role is Role.OWNER:
            await _require_another_owner(session, actor, before)
        row.Membership.role = role
        await invitations.revoke_beyond(session, actor, UserId(user_id), role)
        await keys.revoke_beyond(session, actor, UserId(user_id), role)
        audit.record(
            session,
            actor,
            AuditAction.MEMBER_ROLE_CHANGED,
            resource=(ResourceType.MEMBERSHIP, user_id),
            before={"role": before.role},
            after={"role": role},
        )
    return before.model_copy(update={"role": role})


async def remove(database: Database, actor: Member, user_id: str) -> None:
    """Remove a member, with the keys made, the invitations sent and the sessions begun there.

    Raises:
        ValidationFailed: it is the actor.
        InsufficientScope: the actor may not, or not where an owner is concerned.
        NotFound: there is no such member in the actor's org.
    """
    # So an owner always stays: only an owner may remove one, and not itself.
    if user_id == actor.user_id:
        raise ValidationFailed.of("user_id", "is yourself; another member must remove you")
    async with database.write() as session:
        await orgs.lock(session, actor.org_id)
        actor = await orgs.still(session, actor, Permission.TEAM_REMOVE)
        before = _shape(await _row(session, actor, user_id))
        orgs.require_owner_over(actor, before.role)
        await _remove(session, actor, before)


async def leave(database: Database, actor: Member) -> None:
    """Remove the actor from the org, with the same effects as removing another member.

    Raises:
        ValidationFailed: the org would be left without an owner.
        NoSession: the actor was removed meanwhile.
    """
    async with database.write() as session:
        await orgs.lock(session, actor.org_id)
        actor = await orgs.still(session, actor, Permission.ORG_READ)
        before = _shape(await _row(session, actor, actor.user_id))
        if before.role is Role.OWNER:
            await _require_another_owner(session, actor, before)
        await _remove(session, actor, before)


async def _remove(session: Session, actor: Member, before: shapes.Member) -> None:
    user_id = UserId(before.user_id)
    await session.execute(scope.deleting(actor, Membership).where(Membership.user_id == user_id))
    await sessions.end_in_org(session, user_id, actor.org_id)
    await invitations.revoke_beyond(session, actor, user_id, None)
    await keys.revoke_made_by(session, actor, user_id)
    audit.record(
        session,
        actor,
        AuditAction.MEMBER_REMOVED,
        resource=(ResourceType.MEMBERSHIP, user_id),
        before={"email": before.email, "role": before.role},
    )


def _members(actor: Member) -> Select[Any]:
    query = scope.of(actor, Membership).join(User, User.id == Membership.user_id)
    return query.add_columns(User.email, User.full_name)


async def _row(session: Session, actor: Member, user_id: str) -> Row[Any]:
    if ids.is_well_formed(user_id):
        query = _members(actor).where(Membership.user_id == user_id)
        found = (await session.execute(query)).one_or_none()
        if found is not None:
            return found
    raise NotFound("There is no such member in this org.")


async def _require_another_owner(session: Session, actor: Member, owner: shapes.Member) -> None:
    others = scope.of(actor, Membership).where(
        Membership.role == Role.OWNER, Membership.user_id != owner.user_id
    )
    if (await session.execute(others.limit(1))).first() is None:
        raise ValidationFailed.of("role", "would leave the org without an owner; make one first")


def _shape(row: Row[Any]) -> shapes.Member:
    return shapes.Member(
        user_id=row.Membership.user_id,
        email=row.email,
        full_name=row.full_name,
        role=Role(row.Membership.role),
        created_at=row.Membership.created_at,
    )
