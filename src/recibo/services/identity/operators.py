"""Operator commands; each change is recorded in the audit log of the org or user it concerns.

All of them run inside the caller's transaction and take effect at once, even on a running server.
"""

from collections.abc import Mapping

from sqlalchemy import or_, select

from recibo.errors import NotFound, ValidationFailed
from recibo.lib import clock
from recibo.schemas.ids import OrgId
from recibo.schemas.plans import PlanName
from recibo.schemas.states import AuditAction, MailKind, ResourceType
from recibo.services import audit, mails
from recibo.services.identity import orgs, second_factors, sessions
from recibo.store.db import Session
from recibo.store.tables import Membership, Org, User

# What fits a column of whole numbers.
_MOST = 2**31 - 1


async def disable_user(session: Session, name: str) -> bool:
    """Disable a user and end all sessions; False if the user was disabled already.

    Args:
        session: The caller's transaction.
        name: The user's e-mail address or id.

    Raises:
        NotFound: there is no such user.
    """
    user = await _named(session, name)
    if user.disabled_at is not None:
        return False
    user.disabled_at = clock.now()
    await sessions.end_all(session, user)
    await _audit(session, user, AuditAction.USER_DISABLED, {"disabled": False}, {"disabled": True})
    return True


async def enable_user(session: Session, name: str) -> bool:
    """Let a disabled user sign in again; False when it was so already.

    Raises:
        NotFound: there is no such user.
    """
    user = await _named(session, name)
    if user.disabled_at is None:
        return False
    user.disabled_at = None
    await _audit(session, user, AuditAction.USER_ENABLED, {"disabled": True}, {"disabled": False})
    return True


async def reset_second_factor(session: Session, name: str) -> bool:
    """Delete a user's second factor, end all sessions and enqueue a mail to the user.

    A secret that is not active yet goes, too. False when there was nothing.

    Raises:
        NotFound: there is no such user.
    """
    user = await _named(session, name)
    if user.totp_secret is None and user.totp_enabled_at is None:
        return False
    was_enabled = user.totp_enabled_at is not None
    await second_factors.wipe(session, user)
    await sessions.end_all(session, user)
    await _audit(
        session,
        user,
        AuditAction.USER_2FA_DISABLED,
        {"two_factor_enabled": was_enabled},
        {"two_factor_enabled": False},
    )
    if was_enabled:
        mails.enqueue(session, MailKind.SECOND_FACTOR_DISABLED, to=user.email)
    return True


async def set_plan(
    session: Session, name: str, plan: PlanName, *, agreed: Mapping[str, int] | None = None
) -> bool:
    """Put an org on a plan, whatever it pays; False when it was on it already.

    Args:
        session: The caller's transaction.
        name: The org's slug or id.
        plan: The plan from now on.
        agreed: Figures of enterprise that are this org's own, by the names of `Plan`.

    Raises:
        NotFound: there is no such org.
        ValidationFailed: figures are agreed for another plan, or are less than 1.
    """
    agreed = _checked(plan, agreed or {})
    org = await session.get_one(Org, await orgs.named(session, name), with_for_update=True)
    before = {"plan": org.plan, **(org.agreed or {})}
    after = {"plan": plan, **agreed}
    if before == after:
        return False
    org.plan = plan
    org.agreed = dict(agreed) or None
    audit.record_by_operator(
        session,
        OrgId(org.id),
        AuditAction.SUBSCRIPTION_UPDATED,
        resource=(ResourceType.SUBSCRIPTION, org.id),
        before=before,
        after=after,
    )
    return True


def _checked(plan: PlanName, agreed: Mapping[str, int]) -> Mapping[str, int]:
    if agreed and plan is not PlanName.ENTERPRISE:
        raise ValidationFailed.of(
            "plan", f"{plan} has fixed limits; only enterprise can have others"
        )
    for figure, value in agreed.items():
        if not 1 <= value <= _MOST:
            raise ValidationFailed.of(figure, f"is from 1 to {_MOST}")
    return agreed


async def _named(session: Session, name: str) -> User:
    query = select(User).where(or_(User.email == name.strip().lower(), User.id == name))
    user = (await session.execute(query.with_for_update())).scalar_one_or_none()
    if user is None:
        message = f"There is no user {name!r}."
        raise NotFound(message)
    return user


async def _audit(
    session: Session,
    user: User,
    action: AuditAction,
    before: Mapping[str, bool],
    after: Mapping[str, bool],
) -> None:
    """Record the change in the audit log of each org of the user, or of no org."""
    query = select(Membership.org_id).where(Membership.user_id == user.id)
    joined = [OrgId(one) for one in (await session.execute(query)).scalars()]
    for org_id in joined or (None,):
        audit.record_by_operator(
            session,
            org_id,
            action,
            resource=(ResourceType.USER, user.id),
            before=before,
            after=after,
        )
