"""Email verification: an account belongs to the person who reads its mail.

Anybody can sign up with another's address. So when the mailbox of an unverified account is first
proven, and not from where the account was made, what its maker left there is dropped: else the
maker would keep a way in (pre-hijacking, https://arxiv.org/abs/2205.10174).
"""

from sqlalchemy import delete, select, update

from recibo.lib import clock
from recibo.schemas.actor import ClientInfo, Person
from recibo.schemas.ids import OrgId, UserId
from recibo.schemas.states import AuditAction, MailKind, ResourceType, Role
from recibo.services import audit, mails
from recibo.services.identity import orgs, second_factors, sessions
from recibo.services.identity.sessions import TokenClaims
from recibo.store.db import Session
from recibo.store.tables import ApiKey, MailToken, Membership, User


async def prove(
    session: Session, user: User, *, visit: ClientInfo, shown: TokenClaims | None
) -> None:
    """Record, inside the caller's transaction, that the caller reads this user's mail.

    Args:
        session: The caller's.
        user: The user whose address a link in a mail verified.
        visit: The client that used the link.
        shown: The session that the caller sent with the link.
    """
    if user.email_verified_at is not None:
        return
    is_its_maker = _is_signup_place(user, visit) or await sessions.is_shown(session, shown, user)
    await verified(session, user, visit)
    if not is_its_maker:
        await _reclaim(session, user, visit)


async def verified(session: Session, user: User, visit: ClientInfo) -> None:
    """Mark a user's address as verified; do nothing if it is."""
    if user.email_verified_at is not None:
        return
    user.email_verified_at = clock.now()
    audit.record(
        session,
        await _person(session, user, visit),
        AuditAction.USER_EMAIL_VERIFIED,
        resource=(ResourceType.USER, user.id),
        after={"email": user.email},
    )


def _is_signup_place(user: User, visit: ClientInfo) -> bool:
    place = (user.signup_ip_address, user.signup_user_agent)
    return user.signup_ip_address is not None and place == (visit.ip_address, visit.user_agent)


async def _reclaim(session: Session, user: User, visit: ClientInfo) -> None:
    """Drop the ways in: password, second factor, sessions, and the keys of the user's own orgs."""
    person = await _person(session, user, visit)
    audit.record(
        session,
        person,
        AuditAction.USER_RECLAIMED,
        resource=(ResourceType.USER, user.id),
        before={
            "has_password": user.password_hash is not None,
            "two_factor_enabled": user.totp_enabled_at is not None,
        },
        after={"has_password": False, "two_factor_enabled": False},
    )
    user.password_hash = None
    await second_factors.wipe(session, user)
    await session.execute(delete(MailToken).where(MailToken.user_id == user.id))
    await sessions.end_all(session, user)
    await _revoke_keys(session, person, user)
    mails.enqueue(session, MailKind.ACCOUNT_RECLAIMED, to=user.email)


async def _revoke_keys(session: Session, person: Person, user: User) -> None:
    own = select(Membership.org_id).where(
        Membership.user_id == user.id, Membership.role == Role.OWNER
    )
    # A key that is being made is waited for, and revoked with the others.
    for org_id in await session.scalars(own.order_by(Membership.org_id)):
        await orgs.lock(session, OrgId(org_id))
    now = clock.now()
    revoked = await session.execute(
        update(ApiKey)
        .where(ApiKey.org_id.in_(own), ApiKey.revoked_at.is_(None))
        .values(revoked_at=now)
        .returning(ApiKey.id, ApiKey.org_id)
    )
    for row in revoked:
        audit.record(
            session,
            Person(person.user_id, OrgId(row.org_id), person.visit),
            AuditAction.APIKEY_REVOKED,
            resource=(ResourceType.API_KEY, row.id),
            before={"revoked_at": None},
            after={"revoked_at": now.isoformat()},
        )


async def _person(session: Session, user: User, visit: ClientInfo) -> Person:
    return Person(UserId(user.id), await orgs.home(session, user), visit)
