"""The demo org of a first start in development, so that the README's curl works at once."""

from sqlalchemy import select

from recibo.kit import clock, ids
from recibo.services.identity import keys
from recibo.services.identity.keys import Wanted
from recibo.shapes.ids import OrgId
from recibo.shapes.plans import PlanName
from recibo.shapes.states import Role
from recibo.store.db import Database
from recibo.store.tables import Membership, Org, User

OWNER_EMAIL = "demo@recibo.localhost"


async def seed(database: Database) -> str | None:
    """Make the demo org if there is no org yet; return its key's secret, None if there was one."""
    async with database.write() as session:
        if (await session.execute(select(Org.id).limit(1))).scalar_one_or_none() is not None:
            return None
        now = clock.now()
        org = Org(
            id=ids.new("org"),
            name="Demo",
            slug="demo",
            billing_email=OWNER_EMAIL,
            plan=PlanName.SCALE,
            created_at=now,
        )
        owner = User(id=ids.new("usr"), email=OWNER_EMAIL, full_name="Demo", created_at=now)
        session.add_all([org, owner])
        # The membership refers to both.
        await session.flush()
        session.add(Membership(org_id=org.id, user_id=owner.id, role=Role.OWNER, created_at=now))
        return keys.create(session, OrgId(org.id), Wanted("Demo key"), created_by=owner.id)
