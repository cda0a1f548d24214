"""Organizations."""

from sqlalchemy import or_, select

from recibo.errors import NotFound
from recibo.shapes.ids import OrgId
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Org


async def named(session: ReadSession | Session, name: str) -> OrgId:
    """Return the id of the org with this slug or id; raises NotFound when there is none."""
    query = select(Org.id).where(or_(Org.slug == name, Org.id == name))
    found = (await session.execute(query)).scalar_one_or_none()
    if found is None:
        message = f"There is no org {name!r}."
        raise NotFound(message)
    return OrgId(found)
