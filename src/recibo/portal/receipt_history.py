"""The history of a receipt: who changed what, from the audit log.

Members who may correct receipts see it, too, though not the log itself.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recibo.portal import list_changes, service_messages
from recibo.portal.request_context import RequestContext
from recibo.portal.translations import LazyText, _, lazy_gettext
from recibo.schemas.audit import AuditEvent
from recibo.schemas.permissions import Permission
from recibo.schemas.states import AuditAction
from recibo.services import audit
from recibo.services.identity import actor_names
from recibo.store.db import ReadSession

_MOST = 50


@dataclass(frozen=True, slots=True)
class Step:
    """One entry: who did what, and which fields changed."""

    actor: str
    act: str
    at: dt.datetime
    #: Name, value before, value after; of a list, each line that differs.
    changes: tuple[tuple[str, Any, Any], ...] = ()


async def of(session: ReadSession, caller: RequestContext, receipt_id: str) -> list[Step]:
    """Return the newest entries about a receipt; none if the member may only look at it."""
    if not (caller.may(Permission.AUDIT_READ) or caller.may(Permission.RECEIPTS_WRITE)):
        return []
    entries = await audit.about(session, caller.member, receipt_id, limit=_MOST)
    actors = [one.actor_user_id or one.actor_api_key_id for one in entries]
    names = service_messages.actors(await actor_names.of(session, caller.member, actors))
    return [_step(entry, names) for entry in entries]


def _step(entry: AuditEvent, names: Mapping[str, str]) -> Step:
    actor = entry.actor_user_id or entry.actor_api_key_id
    name = names.get(actor, actor) if actor else _("The service")
    before, after = entry.before or {}, entry.after or {}
    if entry.action != AuditAction.RECEIPT_CORRECTED:
        return Step(name, str(_ACTS.get(entry.action, entry.action)), entry.created_at)
    changes = tuple(
        (field, *values) for field in after for values in _changed(before.get(field), after[field])
    )
    fields = tuple(one for one in changes if one[0] not in ("approved", "metadata"))
    act = _("corrected") if fields else _("changed the tags")
    if not fields and "approved" in after:
        act = _("withdrew the approval")
    return Step(name, act, entry.created_at, fields)


def _changed(before: Any, after: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a value before and after a correction; of a list, each line that differs."""
    if isinstance(after, list):
        yield from list_changes.changed(before or [], after)
    else:
        yield before, after


_ACTS: Mapping[str, LazyText] = {
    AuditAction.RECEIPT_CREATED: lazy_gettext("uploaded it"),
    AuditAction.RECEIPT_REREAD: lazy_gettext("had it read again"),
    AuditAction.RECEIPT_APPROVED: lazy_gettext("approved it"),
    AuditAction.RECEIPT_NOT_DUPLICATE: lazy_gettext("decided that it is no duplicate"),
}
