"""Invitations: an org offers membership to an address, and the recipient accepts it."""

import datetime as dt
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, select

from recibo.errors import AuthenticationFailed, Conflict, NotFound, ValidationFailed
from recibo.lib import clock, ids, tokens
from recibo.schemas import invitations as shapes
from recibo.schemas.actor import ClientInfo, Member, Person, SignedIn
from recibo.schemas.ids import OrgId, UserId
from recibo.schemas.permissions import PERMISSIONS, Permission
from recibo.schemas.sessions import TokenResponse
from recibo.schemas.states import AuditAction, MailKind, ResourceType, Role, SignInMethod
from recibo.services import audit, mails
from recibo.services.identity import (
    email_verification,
    orgs,
    password_auth,
    sessions,
    throttles,
)
from recibo.services.identity.email_links import Proof
from recibo.services.identity.identity import Identity
from recibo.services.identity.sessions import NewSession
from recibo.services.identity.throttles import Counted, Limit
from recibo.services.mail_templates import InviterKind
from recibo.store import scope, upsert
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Invitation, Membership, Org, User, UserSession

#: In place of a user's id where the operator invites, and what invitees read there.
OPERATOR = "operator"
OPERATOR_NAME = "The operator of this installation"
_LIFE = dt.timedelta(days=7)
_HOUR = dt.timedelta(hours=1)
_DAY = dt.timedelta(days=1)
# Neither taken nor withdrawn, though its time may be over.
_IS_OPEN = (Invitation.accepted_at.is_(None), Invitation.revoked_at.is_(None))


@dataclass(frozen=True, slots=True)
class Offer:
    """The details of an invitation that its recipient sees before accepting."""

    org_name: str
    role: Role
    #: Who is invited.
    email: str
    #: The name or the address of who invites.
    inviter: str
    #: Whether viewers may change receipts.
    viewers_write: bool


async def pending(session: ReadSession, actor: Member) -> list[shapes.Invitation]:
    """Return the invitations that can still be accepted, newest first."""
    query = scope.of(actor, Invitation).where(*_IS_OPEN, Invitation.expires_at > clock.now())
    rows = (await session.execute(query.order_by(Invitation.id.desc()))).scalars()
    return [_shape(row) for row in rows]


async def offer(session: ReadSession, token: str) -> Offer:
    """Return what the token of a mail offers; nothing is accepted.

    Raises:
        ValidationFailed: the token is unknown, expired, revoked or accepted.
    """
    query = (
        select(
            *(Org.name, Org.viewers_write, Invitation.role, Invitation.email),
            *(User.full_name, User.email.label("by")),
        )
        .join(Org, Org.id == Invitation.org_id)
        # What the operator sent is of no user.
        .outerjoin(User, User.id == Invitation.invited_by)
        .where(*_is_live(token))
    )
    found = (await session.execute(query)).one_or_none()
    if found is None:
        raise _worthless()
    inviter = found.full_name or found.by or OPERATOR_NAME
    return Offer(found.name, Role(found.role), found.email, inviter, found.viewers_write)


async def send(identity: Identity, actor: Member, *, email: str, role: Role) -> shapes.Invitation:
    """Invite an address, in place of an earlier invitation of the org that is still open.

    Raises:
        ValidationFailed: it is no address, or a disposable one.
        InsufficientScope: the actor may not invite, or not where an owner is invited.
        Conflict: it is the address of a member.
        RateLimitExceeded: the org sent too many, or too many to this address.
    """
    address = identity.lasting_email(email)
    async with identity.database.write() as session:
        org = await orgs.lock(session, actor.org_id)
        actor = await orgs.still(session, actor, Permission.TEAM_INVITE)
        orgs.require_owner_over(actor, role)
        await _refuse_member(session, actor, address)
        await _refuse_to_replace(session, actor, address)
        # Counted and enqueued in one transaction: a refused or failed invitation is not sent.
        await throttles.take(session, _limits(identity, actor, address))
        await _revoke(session, actor, Invitation.email == address)
        row = new(actor.org_id, address, role, invited_by=actor.user_id)
        session.add(row)
        audit.record(
            session,
            actor,
            AuditAction.MEMBER_INVITED,
            resource=(ResourceType.MEMBERSHIP, row.id),
            after={"email": address, "role": role},
        )
        await _enqueue_mail(session, org, row)
    return _shape(row)


async def revoke(database: Database, actor: Member, invitation_id: str) -> None:
    """Withdraw an invitation; again is no change.

    Raises:
        NotFound: there is no such invitation in the actor's org, or it was accepted.
        InsufficientScope: the actor may not, or not where it invites an owner.
    """
    if not ids.is_well_formed(invitation_id):
        raise _no_such_invitation()
    async with database.write() as session:
        await orgs.lock(session, actor.org_id)
        actor = await orgs.still(session, actor, Permission.TEAM_INVITE)
        query = scope.of(actor, Invitation).where(Invitation.id == invitation_id)
        row = (await session.execute(query)).scalar_one_or_none()
        if row is None or row.accepted_at is not None:
            raise _no_such_invitation()
        orgs.require_owner_over(actor, Role(row.role))
        await _revoke(session, actor, Invitation.id == invitation_id)


async def revoke_beyond(session: Session, actor: Member, sender: UserId, role: Role | None) -> None:
    """Withdraw what a member sent and could not send with this role, or with none.

    Inside the caller's transaction, which holds the org locked.
    """
    if role is None or Permission.TEAM_INVITE not in PERMISSIONS[role]:
        await _revoke(session, actor, Invitation.invited_by == sender)
    elif role is not Role.OWNER:
        is_for_owner = Invitation.role == Role.OWNER
        await _revoke(session, actor, Invitation.invited_by == sender, is_for_owner)


async def accept(identity: Identity, proof: Proof, caller: SignedIn | None = None) -> TokenResponse:
    """Join the org that a mail's token invites to, and begin a session there.

    The user is made if there is none with that address. An account that existed gets a session
    that may not leave the org: who reads its mail is not yet who holds its password. If the caller
    is signed in to that account, the session there takes the place of theirs.

    Raises:
        ValidationFailed: the token is unknown, expired, revoked or accepted.
        AuthenticationFailed: the account is disabled; the invitation stays.
        SignupClosed: there is no such account, and no new ones are made; the invitation stays.
    """
    async with identity.database.write() as session:
        invitation = await _offered(session, proof.token)
        user, is_new = await _user(session, invitation.email, proof.visit)
        if is_new:
            identity.require_new_accounts()
        if user.disabled_at is not None:
            raise AuthenticationFailed("This account is disabled.")
        await email_verification.prove(session, user, visit=proof.visit, shown=proof.shown)
        org_id = OrgId(invitation.org_id)
        await _join(session, user, invitation)
        invitation.accepted_at = clock.now()
        _record_acceptance(
            session, Person(UserId(user.id), org_id, proof.visit), invitation, is_new
        )
        start = NewSession(SignInMethod.INVITATION, org_id, proof.visit, is_bound=not is_new)
        own = await _own_session(session, user, caller)
        if own is not None:
            start = replace(start, is_bound=False, is_proven=True, since=own.created_at)
            own.ended_at = clock.now()
        return await password_auth.begin_session(session, identity, user, start)


async def _own_session(session: Session, user: User, caller: SignedIn | None) -> UserSession | None:
    """Return the caller's session if it is of this user and not bound to an org."""
    if caller is None or caller.user_id != user.id:
        return None
    row = await sessions.session_family(session, caller.session_id)
    return None if row is None or row.is_bound else row


async def _refuse_member(session: Session, actor: Member, address: str) -> None:
    query = scope.of(actor, Membership).join(User, User.id == Membership.user_id)
    if (await session.execute(query.where(User.email == address))).first() is not None:
        raise Conflict("This address is a member's already.")


async def _refuse_to_replace(session: Session, actor: Member, address: str) -> None:
    """Let only owners replace what only they may withdraw: the invitation of an owner."""
    query = scope.of(actor, Invitation).where(
        *_IS_OPEN, Invitation.email == address, Invitation.expires_at > clock.now()
    )
    found = (await session.execute(query)).scalar_one_or_none()
    if found is not None:
        orgs.require_owner_over(actor, Role(found.role))


def _limits(identity: Identity, actor: Member, address: str) -> list[Counted]:
    an_hour = Limit("invitation:org", identity.invitations_an_hour, _HOUR)
    a_day = Limit("invitation:org+address", identity.invitations_a_day_to_one, _DAY)
    return [(an_hour, actor.org_id), (a_day, f"{actor.org_id} {address}")]


def new(org_id: OrgId, address: str, role: Role, *, invited_by: str) -> Invitation:
    """Return the row of an invitation that begins now."""
    now = clock.now()
    return Invitation(
        id=ids.new("inv"),
        org_id=org_id,
        email=address,
        role=role,
        invited_by=invited_by,
        created_at=now,
        expires_at=now + _LIFE,
    )


async def _enqueue_mail(session: Session, org: Org, row: Invitation) -> None:
    inviter = await session.get_one(User, row.invited_by)
    names: dict[str, str | int] = {
        "invitation_id": row.id,
        "org": org.name,
        "role": _role_name(org, Role(row.role)),
        "inviter": inviter.full_name or inviter.email,
    }
    if not inviter.full_name:
        names["inviter_kind"] = InviterKind.EMAIL
    if inviter.language:
        names[mails.LANGUAGE] = inviter.language
    mails.enqueue(session, MailKind.INVITATION, to=row.email, names=names)


def _role_name(org: Org, role: Role) -> str:
    """Return what the mail calls a role: viewers who may upload and correct are bookkeepers."""
    return "bookkeeper" if org.viewers_write and role is Role.VIEWER else role.value


async def _revoke(session: Session, actor: Member, *which: ColumnElement[bool]) -> None:
    statement = (
        scope.updating(actor, Invitation)
        .where(*_IS_OPEN, *which)
        .values(revoked_at=clock.now())
        .returning(Invitation.id, Invitation.email, Invitation.role)
    )
    for row in await session.execute(statement):
        audit.record(
            session,
            actor,
            AuditAction.INVITATION_REVOKED,
            resource=(ResourceType.INVITATION, row.id),
            before={"email": row.email, "role": row.role},
        )


async def _offered(session: Session, token: str) -> Invitation:
    """Return the invitation that a token is for, its org locked; of two at once one gets it."""
    by_token = select(Invitation.org_id).where(Invitation.token_hash == tokens.fingerprint(token))
    org_id = (await session.execute(by_token)).scalar_one_or_none()
    if org_id is not None:
        await orgs.lock(session, OrgId(org_id))
        # Looked at only now: it may have been taken or withdrawn while the lock was waited for.
        query = select(Invitation).where(*_is_live(token))
        found = (await session.execute(query)).scalar_one_or_none()
        if found is not None:
            return found
    raise _worthless()


def _is_live(token: str) -> tuple[ColumnElement[bool], ...]:
    return (
        Invitation.token_hash == tokens.fingerprint(token),
        *_IS_OPEN,
        Invitation.expires_at > clock.now(),
    )


def _worthless() -> ValidationFailed:
    message = "The invitation is unknown, withdrawn, accepted or expired; ask for a new one."
    return ValidationFailed.of("token", message)


async def _user(session: Session, address: str, visit: ClientInfo) -> tuple[User, bool]:
    """Return the user with an address, and whether it was made just now."""
    now = clock.now()
    # If the address signs up at the same moment, that account is used.
    statement = (
        upsert.insert(session, User)
        .values(
            id=ids.new("usr"),
            email=address,
            created_at=now,
            email_verified_at=now,
            signup_ip_address=visit.ip_address,
            signup_user_agent=visit.user_agent,
        )
        .on_conflict_do_nothing(index_elements=[User.email])
        .returning(User.id)
    )
    is_new = (await session.execute(statement)).scalar_one_or_none() is not None
    return (await session.execute(select(User).where(User.email == address))).scalar_one(), is_new


async def _join(session: Session, user: User, invitation: Invitation) -> None:
    """Add the membership; one that is there is kept as it is."""
    statement = upsert.insert(session, Membership).values(
        org_id=invitation.org_id, user_id=user.id, role=invitation.role, created_at=clock.now()
    )
    await session.execute(
        statement.on_conflict_do_nothing(index_elements=[Membership.org_id, Membership.user_id])
    )


def _record_acceptance(
    session: Session, person: Person, invitation: Invitation, is_new: bool
) -> None:
    user = (ResourceType.USER, person.user_id)
    if is_new:
        after = {"email": invitation.email, "full_name": None}
        audit.record(session, person, AuditAction.USER_SIGNED_UP, resource=user, after=after)
    audit.record(
        session,
        person,
        AuditAction.INVITATION_ACCEPTED,
        resource=(ResourceType.INVITATION, invitation.id),
        after={"email": invitation.email, "role": invitation.role, "user_id": person.user_id},
    )


def _no_such_invitation() -> NotFound:
    return NotFound("There is no such invitation in this org.")


def _shape(row: Invitation) -> shapes.Invitation:
    return shapes.Invitation.model_validate(row, from_attributes=True)
