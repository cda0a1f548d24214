"""Organizations."""

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from sqlalchemy import Row, bindparam, or_, select

from recibo.errors import InsufficientScope, NoSession, NotFound, ValidationFailed
from recibo.lib import clock, ids
from recibo.schemas.actor import Member
from recibo.schemas.ids import OrgId, UserId
from recibo.schemas.orgs import Org as OrgShape
from recibo.schemas.permissions import Permission
from recibo.schemas.plans import SOLD, PlanName, Plans
from recibo.schemas.states import AuditAction, ResourceType, Role
from recibo.services import audit
from recibo.services.identity.identity import Identity
from recibo.store import scope, upsert
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Membership, Org, User

#: What `shape` needs of a row, under names that no other table has.
COLUMNS: tuple[Any, ...] = (
    Org.id.label("org_id"),
    Org.name.label("org_name"),
    Org.slug,
    Org.logo_url,
    Org.billing_email,
    Org.plan,
    Org.agreed,
    Org.viewers_write,
    Org.created_at.label("org_created_at"),
)
_OF_USER = (
    select(Org.id, Org.name, Membership.role)
    .join(Membership, Membership.org_id == Org.id)
    .where(Membership.user_id == bindparam("user_id"), Org.deleted_at.is_(None))
)
_MAX_NAME = 255
_MAX_LOGO_URL = 500
_MAX_SLUG = 60
# Latin letters that Unicode does not divide into one of ASCII and a mark.
_UNDIVIDED = str.maketrans(
    {"æ": "ae", "ð": "d", "đ": "d", "ħ": "h", "ł": "l", "ø": "o", "œ": "oe", "þ": "th"}
)
# A hyphen and a number.
_MAX_SUFFIX = 12


class Changes(TypedDict, total=False):
    """The changes of an org; fields that are left out do not change."""

    name: str
    #: None clears it.
    logo_url: str | None
    billing_email: str


@dataclass(frozen=True, slots=True)
class OrgOfUser:
    """An org that a user is a member of."""

    id: OrgId
    name: str
    role: Role


async def named(session: ReadSession | Session, name: str) -> OrgId:
    """Return the id of the org with this slug or id; raises NotFound when there is none."""
    query = select(Org.id).where(or_(Org.slug == name, Org.id == name), Org.deleted_at.is_(None))
    found = (await session.execute(query)).scalar_one_or_none()
    if found is None:
        message = f"There is no org {name!r}."
        raise NotFound(message)
    return OrgId(found)


def shape(row: Row[Any], plans: Plans = SOLD) -> OrgShape:
    """Return an org as the API shows it, from a row with `COLUMNS`."""
    return OrgShape(
        id=row.org_id,
        name=row.org_name,
        slug=row.slug,
        logo_url=row.logo_url,
        billing_email=row.billing_email,
        plan=plans.name_of(row.plan),
        created_at=row.org_created_at,
    )


async def home(
    session: Session | ReadSession, user: User, *, rather: OrgId | None = None
) -> OrgId | None:
    """Return the org that a user signs in to: the one last used, else the one joined first.

    A preferred org comes first if the user is a member of it.
    """
    query = select(Membership.org_id).where(Membership.user_id == user.id)
    joined = list((await session.execute(query.order_by(Membership.created_at))).scalars())
    for wanted in (rather, user.last_org_id):
        if wanted in joined:
            return OrgId(wanted)
    return OrgId(joined[0]) if joined else None


async def of_user(database: Database, user_id: UserId) -> list[OrgOfUser]:
    """Return the orgs of a user, by name."""
    rows = await database.fetch_rows(_OF_USER, {"user_id": user_id})
    found = [OrgOfUser(OrgId(row.id), row.name, Role(row.role)) for row in rows]
    return sorted(found, key=lambda one: (one.name.casefold(), one.id))


async def add(session: Session, name: str, *, billing_email: str) -> OrgId:
    """Add an org on the free plan inside the caller's transaction and return its id."""
    org_id = ids.new("org")
    base = slug_of(name)
    # A slug may be taken between the query and the insert; then the next one is tried.
    while True:
        statement = (
            upsert.insert(session, Org)
            .values(
                id=org_id,
                name=name,
                slug=await _free_slug(session, base),
                billing_email=billing_email,
                plan=PlanName.FREE,
                viewers_write=False,
                created_at=clock.now(),
            )
            .on_conflict_do_nothing(index_elements=[Org.slug])
            .returning(Org.id)
        )
        if (await session.execute(statement)).scalar_one_or_none() is not None:
            return OrgId(org_id)


async def lock(session: Session, org_id: OrgId) -> Org:
    """Return an org's row, locked until the caller's transaction ends.

    Every change of something counted or compared within an org (owners, invitations, keys)
    locks it first, so that of two concurrent changes the second sees the first.

    Raises:
        NotFound: there is no such org.
    """
    # Rows that refer to the org may still be added: they lock its key alone.
    query = select(Org).where(Org.id == org_id).with_for_update(key_share=True)
    found = (await session.execute(query)).scalar_one_or_none()
    if found is None:
        raise NotFound("This org is gone.")
    return found


async def still(session: Session, actor: Member, permission: Permission) -> Member:
    """Return the actor with the role held now: it may have changed since the request was let in.

    Call it with the org locked: then the role stays for the rest of the transaction.

    Raises:
        NoSession: the actor was removed, or all the actor's sessions were ended.
        InsufficientScope: the role does not allow it any more.
    """
    query = (
        scope.of(actor, Membership)
        .join(User, User.id == Membership.user_id)
        .where(Membership.user_id == actor.user_id)
        .with_only_columns(Membership.role, User.epoch)
    )
    row = (await session.execute(query)).one_or_none()
    if row is None or actor.epoch not in (None, row.epoch):
        raise NoSession
    now = replace(actor, role=Role(row.role))
    if not now.may(permission):
        raise InsufficientScope.lacking("permission", permission)
    return now


def require_owner_over(actor: Member, role: Role) -> None:
    """Check that only an owner invites, creates, changes or removes an owner.

    Raises:
        InsufficientScope: it is an owner's role, and not the actor's.
    """
    if role is Role.OWNER and actor.role is not Role.OWNER:
        raise InsufficientScope.lacking("role", Role.OWNER)


async def change(identity: Identity, actor: Member, changes: Changes) -> OrgShape:
    """Change the name, logo or billing email of an org and return it.

    Raises:
        ValidationFailed: a field is invalid.
        NotFound: the org is gone.
        InsufficientScope: the actor lacks the permission.
    """
    checked = _checked(identity, changes)
    async with identity.database.write() as session:
        row = await lock(session, actor.org_id)
        actor = await still(session, actor, Permission.ORG_WRITE)
        before = OrgShape.model_validate(row, from_attributes=True)
        after = before.model_copy(update=dict(checked))
        shown = after.model_copy(update={"plan": identity.plans.name_of(row.plan)})
        if not checked:
            return shown
        for name, value in checked.items():
            setattr(row, name, value)
        audit.record(
            session,
            actor,
            AuditAction.ORG_UPDATED,
            resource=(ResourceType.ORG, row.id),
            before=before.model_dump(mode="json"),
            after=after.model_dump(mode="json"),
        )
    return shown


async def let_viewers_write(identity: Identity, actor: Member, *, may_write: bool) -> None:
    """Set whether viewers may upload, correct, approve and delete receipts in the portal.

    Raises:
        NotFound: the org is gone.
        InsufficientScope: the actor lacks the permission.
    """
    async with identity.database.write() as session:
        row = await lock(session, actor.org_id)
        actor = await still(session, actor, Permission.ORG_WRITE)
        if row.viewers_write == may_write:
            return
        audit.record(
            session,
            actor,
            AuditAction.ORG_UPDATED,
            resource=(ResourceType.ORG, row.id),
            before={"viewers_write": row.viewers_write},
            after={"viewers_write": may_write},
        )
        row.viewers_write = may_write


def slug_of(name: str) -> str:
    """Return a name in ASCII, lower case, words joined by hyphens, at most 60 characters."""
    latin = name.casefold().translate(_UNDIVIDED)
    folded = unicodedata.normalize("NFKD", latin).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", folded).strip("-")
    return words[:_MAX_SLUG].rstrip("-") or "org"


def _checked(identity: Identity, changes: Changes) -> Changes:
    checked = changes.copy()
    if not 1 <= len(changes.get("name", "-")) <= _MAX_NAME:
        raise ValidationFailed.of("name", f"has 1 to {_MAX_NAME} characters")
    if len(changes.get("logo_url") or "") > _MAX_LOGO_URL:
        raise ValidationFailed.of("logo_url", f"has at most {_MAX_LOGO_URL} characters")
    if "billing_email" in changes:
        checked["billing_email"] = identity.email(changes["billing_email"], field="billing_email")
    return checked


async def _free_slug(session: Session, base: str) -> str:
    # All numbered variants of the slug start with this.
    beginning = base[: _MAX_SLUG - _MAX_SUFFIX]
    query = select(Org.slug).where(Org.slug.startswith(beginning, autoescape=True))
    used = set((await session.execute(query)).scalars())
    number, slug = 1, base
    while slug in used:
        number += 1
        suffix = f"-{number}"
        slug = base[: _MAX_SLUG - len(suffix)].rstrip("-") + suffix
    return slug
