"""Organizations that the operator creates, each with an invitation for its owner.

So a company's own installation gets its first account without being open to sign-up.
"""

import datetime as dt
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import exists, select, update

from recibo.errors import SignupClosed, ValidationFailed
from recibo.lib import clock, ids, tokens
from recibo.schemas.ids import OrgId
from recibo.schemas.plans import PlanName
from recibo.schemas.states import AuditAction, MailKind, ResourceType, Role, SignupPolicy
from recibo.services import audit
from recibo.services.identity import invitations, orgs
from recibo.services.identity.identity import lasting_email
from recibo.services.identity.invitations import OPERATOR, OPERATOR_NAME
from recibo.services.mail_templates import InviterKind, MailContent
from recibo.store.db import Session
from recibo.store.tables import Invitation, Membership, Org, User

_MAX_NAME = 255


@dataclass(frozen=True, slots=True)
class NewOrg:
    """The organization to create, and who is to own it."""

    name: str
    owner: str
    signup: SignupPolicy
    is_production: bool


@dataclass(frozen=True, slots=True)
class Created:
    """The organization, and the token that invites its owner."""

    org_name: str
    slug: str
    owner: str
    #: Whether the organization was there already, and its owner is invited again.
    is_again: bool
    expires_at: dt.datetime
    token: str

    @property
    def mail(self) -> MailContent:
        """The invitation's mail."""
        names: Mapping[str, str | int] = {
            "org": self.org_name,
            "role": Role.OWNER,
            "inviter": OPERATOR_NAME,
            "inviter_kind": InviterKind.OPERATOR,
        }
        return MailContent(
            id=ids.new("mail"),
            kind=MailKind.INVITATION,
            to=self.owner,
            names=names,
            created_at=clock.now(),
            token=self.token,
        )


async def create(session: Session, wanted: NewOrg) -> Created:
    """Create an organization and invite its owner, inside the caller's transaction.

    An organization of this name that the operator created before and that has no member yet is
    used again: its earlier invitation is withdrawn and a new one made.

    Raises:
        ValidationFailed: the name or the address does not hold, or the account is disabled.
        SignupClosed: there is no account with this address, and no new ones are made.
    """
    name = _checked(wanted.name)
    address = lasting_email(wanted.owner, field="--owner", is_production=wanted.is_production)
    await _refuse_unless_able_to_accept(session, address, wanted.signup)
    org_id = await _waiting(session, name)
    is_again = org_id is not None
    if org_id is None:
        org_id = await orgs.add(session, name, billing_email=address)
        _audit(
            session,
            org_id,
            AuditAction.ORG_CREATED,
            (ResourceType.ORG, org_id),
            after={"name": name, "plan": PlanName.FREE},
        )
    else:
        await _withdraw(session, org_id)
    invitation, token = _invite(session, org_id, address)
    org = await session.get_one(Org, org_id)
    org.billing_email = address
    return Created(name, org.slug, address, is_again, invitation.expires_at, token)


def _checked(name: str) -> str:
    name = name.strip()
    # Arguments that are no UTF-8 arrive as lone surrogates, which are in category Cs.
    is_text = not any(unicodedata.category(one) in {"Cc", "Cs"} for one in name)
    if not 1 <= len(name) <= _MAX_NAME or not is_text:
        raise ValidationFailed.of(
            "NAME", f"has 1 to {_MAX_NAME} characters, none of them a control character"
        )
    return name


async def _refuse_unless_able_to_accept(
    session: Session, address: str, signup: SignupPolicy
) -> None:
    query = select(User.disabled_at).where(User.email == address)
    account = (await session.execute(query)).one_or_none()
    if account is None and signup is SignupPolicy.CLOSED:
        message = (
            f"{address} has no account here, and RECIBO_SIGNUP=closed allows no new ones; "
            "set RECIBO_SIGNUP=invited, or name an owner with an account."
        )
        raise SignupClosed(message)
    if account is not None and account.disabled_at is not None:
        message = f"the account of {address} is disabled; run `recibo admin enable-user` first"
        raise ValidationFailed.of("--owner", message)


async def _waiting(session: Session, name: str) -> OrgId | None:
    """Return the organization of this name that still waits for its first member, locked."""
    has_member = exists().where(Membership.org_id == Org.id)
    is_ours = exists().where(Invitation.org_id == Org.id, Invitation.invited_by == OPERATOR)
    query = (
        select(Org.id)
        .where(Org.name == name, Org.deleted_at.is_(None), ~has_member, is_ours)
        .order_by(Org.id)
        .limit(1)
    )
    found = (await session.execute(query)).scalar_one_or_none()
    if found is None:
        return None
    await orgs.lock(session, OrgId(found))
    # Looked at again: its owner may have accepted while the lock was waited for.
    joined = await session.execute(select(has_member).where(Org.id == found))
    return None if joined.scalar_one() else OrgId(found)


async def _withdraw(session: Session, org_id: OrgId) -> None:
    statement = (
        update(Invitation)
        .where(
            Invitation.org_id == org_id,
            Invitation.accepted_at.is_(None),
            Invitation.revoked_at.is_(None),
        )
        .values(revoked_at=clock.now())
        .returning(Invitation.id, Invitation.email, Invitation.role)
    )
    for row in await session.execute(statement):
        _audit(
            session,
            org_id,
            AuditAction.INVITATION_REVOKED,
            (ResourceType.INVITATION, row.id),
            before={"email": row.email, "role": row.role},
        )


def _invite(session: Session, org_id: OrgId, address: str) -> tuple[Invitation, str]:
    token = tokens.new_link_token()
    row = invitations.new(org_id, address, Role.OWNER, invited_by=OPERATOR)
    row.token_hash = tokens.fingerprint(token)
    session.add(row)
    _audit(
        session,
        org_id,
        AuditAction.MEMBER_INVITED,
        (ResourceType.MEMBERSHIP, row.id),
        after={"email": address, "role": Role.OWNER},
    )
    return row, token


def _audit(
    session: Session,
    org_id: OrgId,
    action: AuditAction,
    resource: tuple[ResourceType, str],
    *,
    before: Mapping[str, str] | None = None,
    after: Mapping[str, str] | None = None,
) -> None:
    audit.record_by_operator(session, org_id, action, resource=resource, before=before, after=after)
