"""Organizations."""

import re
import unicodedata
from typing import Any

from sqlalchemy import Row, or_, select

from recibo.errors import NotFound
from recibo.kit import clock, ids
from recibo.shapes.ids import OrgId
from recibo.shapes.orgs import Org as OrgShape
from recibo.shapes.plans import PlanName
from recibo.store import upsert
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Membership, Org, User

#: What `shape` needs of a row, under names that no other table has.
COLUMNS: tuple[Any, ...] = (
    Org.id.label("org_id"),
    Org.name.label("org_name"),
    Org.slug,
    Org.logo_url,
    Org.billing_email,
    Org.plan,
    Org.created_at.label("org_created_at"),
)
_MAX_SLUG = 60
# A hyphen and a number.
_MAX_SUFFIX = 12


async def named(session: ReadSession | Session, name: str) -> OrgId:
    """Return the id of the org with this slug or id; raises NotFound when there is none."""
    query = select(Org.id).where(or_(Org.slug == name, Org.id == name))
    found = (await session.execute(query)).scalar_one_or_none()
    if found is None:
        message = f"There is no org {name!r}."
        raise NotFound(message)
    return OrgId(found)


def shape(row: Row[Any]) -> OrgShape:
    """Return an org as the API shows it, from a row with `COLUMNS`."""
    return OrgShape(
        id=row.org_id,
        name=row.org_name,
        slug=row.slug,
        logo_url=row.logo_url,
        billing_email=row.billing_email,
        plan=PlanName(row.plan),
        created_at=row.org_created_at,
    )


async def home(session: Session | ReadSession, user: User) -> OrgId | None:
    """Return the org that a user signs in to: the one last used, else the one joined first."""
    query = select(Membership.org_id).where(Membership.user_id == user.id)
    joined = list((await session.execute(query.order_by(Membership.created_at))).scalars())
    if user.last_org_id in joined:
        return OrgId(user.last_org_id)
    return OrgId(joined[0]) if joined else None


async def add(session: Session, name: str, *, billing_email: str) -> OrgId:
    """Add an org on the free plan inside the caller's transaction and return its id."""
    org_id = ids.new("org")
    base = slug_of(name)
    # Somebody may take a slug between the look and the insert; then the next one is tried.
    while True:
        statement = (
            upsert.insert(session, Org)
            .values(
                id=org_id,
                name=name,
                slug=await _free_slug(session, base),
                billing_email=billing_email,
                plan=PlanName.FREE,
                created_at=clock.now(),
            )
            .on_conflict_do_nothing(index_elements=[Org.slug])
            .returning(Org.id)
        )
        if (await session.execute(statement)).scalar_one_or_none() is not None:
            return OrgId(org_id)


def slug_of(name: str) -> str:
    """Return a name in ASCII, lower case, words joined by hyphens, at most 60 characters."""
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", folded).strip("-")
    return words[:_MAX_SLUG].rstrip("-") or "org"


async def _free_slug(session: Session, base: str) -> str:
    # Whatever a number makes of the slug begins so.
    beginning = base[: _MAX_SLUG - _MAX_SUFFIX]
    query = select(Org.slug).where(Org.slug.startswith(beginning, autoescape=True))
    used = set((await session.execute(query)).scalars())
    number, slug = 1, base
    while slug in used:
        number += 1
        suffix = f"-{number}"
        slug = base[: _MAX_SLUG - len(suffix)].rstrip("-") + suffix
    return slug
