"""The demo org of a first start in development, so that the README's curl works at once."""

import secrets
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from recibo.lib import clock, ids
from recibo.schemas.ids import OrgId
from recibo.schemas.plans import PlanName
from recibo.schemas.states import Role
from recibo.services.identity import keys
from recibo.services.identity.keys import NewKey
from recibo.services.identity.passwords import Passwords
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Membership, Org, User

OWNER_EMAIL = "demo@recibo.localhost"


@dataclass(frozen=True, slots=True)
class Demo:
    """The key and the owner's sign-in of the demo org, which are shown once."""

    key: str
    email: str
    password: str


async def seed(database: Database, passwords: Passwords) -> Demo | None:
    """Make the demo org if there is no org yet; None if there was one."""
    async with database.read() as reading:
        if await _is_any(reading):
            return None
    password = secrets.token_urlsafe(12)
    hashed = await passwords.hash(password)
    try:
        async with database.write() as session:
            return None if await _is_any(session) else await _add(session, password, hashed)
    except IntegrityError:
        # Of several processes that start at once another was faster.
        return None


async def _add(session: Session, password: str, hashed: str) -> Demo:
    now = clock.now()
    org = Org(
        id=ids.new("org"),
        name="Demo",
        slug="demo",
        billing_email=OWNER_EMAIL,
        plan=PlanName.SCALE,
        created_at=now,
    )
    owner = User(
        id=ids.new("usr"),
        email=OWNER_EMAIL,
        full_name="Demo",
        created_at=now,
        email_verified_at=now,
        password_hash=hashed,
    )
    session.add_all([org, owner])
    # The membership refers to both.
    await session.flush()
    session.add(Membership(org_id=org.id, user_id=owner.id, role=Role.OWNER, created_at=now))
    key = keys.create(session, OrgId(org.id), NewKey("Demo"), created_by=owner.id)
    return Demo(key, OWNER_EMAIL, password)


async def _is_any(session: Session | ReadSession) -> bool:
    return (await session.execute(select(Org.id).limit(1))).scalar_one_or_none() is not None
