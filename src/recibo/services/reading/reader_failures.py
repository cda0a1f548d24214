"""Timeouts, crashes and memory limits of readers, counted per org: some a day cost no quota.

A document that holds up or breaks a reader takes up to minutes of it. Nine a day are bad luck; who
sends more pays for them with the month's quota, though never with credits.
"""

import datetime as dt

from recibo.schemas.ids import OrgId
from recibo.store import counters
from recibo.store.db import Session

_NAME = "reader_breakdowns"
# A day begins with the first of them.
_DAY = dt.timedelta(days=1)
_FREE_A_DAY = 9

#: What the message of a failure says beside its reason.
CHARGED = (
    " It counts against the month's quota: readers timed out, ran out of memory or crashed on"
    " documents of this organization ten times or more within a day."
)


async def note(session: Session, org_id: OrgId) -> bool:
    """Count one inside the caller's transaction; tell whether it counts against the quota."""
    return await counters.add(session, _NAME, org_id, window=_DAY) > _FREE_A_DAY
