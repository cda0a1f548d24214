"""Counts timeouts, crashes and memory limits of readers per org; some a day cost no quota.

A document that hangs or crashes a reader uses up to minutes of it. Nine a day are free; further
ones count against the month's quota, though they never cost credits.
"""

import datetime as dt

from recibo.schemas.ids import OrgId
from recibo.store import counters
from recibo.store.db import Session

_NAME = "reader_breakdowns"
# A day begins with the first of them.
_DAY = dt.timedelta(days=1)
_FREE_A_DAY = 9

#: Added to the failure message when the document counts against the quota.
CHARGED = (
    " It counts against the month's quota: readers timed out, ran out of memory or crashed on"
    " documents of this organization ten times or more within a day."
)


async def note(session: Session, org_id: OrgId) -> bool:
    """Count a failure in the caller's transaction; return whether it counts against the quota."""
    return await counters.add(session, _NAME, org_id, window=_DAY) > _FREE_A_DAY
