"""The audit log: what happened in the org, by whom, and what it changed."""

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Response

from recibo.errors import ServiceError, ValidationFailed
from recibo.portal import callers, pages
from recibo.portal.callers import Caller
from recibo.services import audit
from recibo.services.audit import Filters, Slice
from recibo.services.identity import keys, members
from recibo.services.pages import Wanted
from recibo.shapes.audit import AuditEvent
from recibo.shapes.permissions import Permission
from recibo.shapes.states import AuditAction, ResourceType

router = APIRouter(prefix="/portal/audit")

_PAGE = "/portal/audit"
_ENTRIES_A_PAGE = 50
_FILTERS = ("action", "resource_type", "actor", "since", "until")
_MAX_FILTER = 255

Reader = Annotated[Caller, Depends(callers.who_may(Permission.AUDIT_READ))]


@dataclass(frozen=True, slots=True)
class Actors:
    """Who may have acted, by id: the members there are, and the keys, also those revoked."""

    members: Mapping[str, str]
    keys: Mapping[str, str]

    @property
    def options(self) -> list[tuple[str, str]]:
        """All of them, to choose from."""
        return [
            *self.members.items(),
            *((key_id, f"Key {name}") for key_id, name in self.keys.items()),
        ]

    def named(self, entry: AuditEvent) -> str:
        """Return who did what an entry tells of."""
        if entry.actor_user_id is not None:
            return self.members.get(entry.actor_user_id, entry.actor_user_id)
        if entry.actor_api_key_id is not None:
            return f"Key {self.keys.get(entry.actor_api_key_id, entry.actor_api_key_id)}"
        return "The service"


@router.get("")
async def show_audit(caller: Reader) -> Response:
    """Show a page of the log, as far as it fits the filters of the address."""
    query = caller.request.query_params
    values = {name: query.get(name, "").strip() for name in _FILTERS}
    cursor = query.get("cursor")
    error: ServiceError | None = None
    log = Slice([], None)
    async with caller.services.database.read() as session:
        team = await members.in_join_order(session, caller.member)
        made = await keys.newest_first(session, caller.member, caller.services.identity.key_uses)
        try:
            wanted = Wanted(_ENTRIES_A_PAGE, cursor, caller.services.cursor_key)
            log = await audit.page(session, caller.member, _filters(values), wanted=wanted)
        except ValidationFailed as e:
            error = e
    chosen = {name: value for name, value in values.items() if value}
    return pages.section(
        caller.request,
        "audit.html",
        error=error,
        values=values,
        log=log,
        actors=Actors(
            {one.user_id: one.full_name or one.email for one in team},
            {one.id: one.name for one in made},
        ),
        actions=[(action.value, action.value) for action in AuditAction],
        resource_types=[(kind.value, kind.value) for kind in ResourceType],
        newest=_address(chosen) if cursor else "",
        older=_address({**chosen, "cursor": log.next_cursor}) if log.next_cursor else "",
        is_filtered=bool(chosen),
        spelled=_spelled,
    )


def _filters(values: Mapping[str, str]) -> Filters:
    for name in ("action", "resource_type", "actor"):
        # Nothing is called so, and one of the databases takes no NUL.
        if len(values[name]) > _MAX_FILTER or not values[name].isprintable():
            raise ValidationFailed.of(name, "is not what anything is called; choose one")
    return Filters(
        action=values["action"] or None,
        resource_type=values["resource_type"] or None,
        actor=values["actor"] or None,
        since=_day("since", values["since"]),
        until=_day("until", values["until"]),
    )


def _day(name: str, given: str) -> dt.date | None:
    if not given:
        return None
    try:
        return dt.date.fromisoformat(given)
    except ValueError:
        raise ValidationFailed.of(name, "must be a date, such as 2026-03-14") from None


def _address(query: Mapping[str, str]) -> str:
    return f"{_PAGE}?{urlencode(query)}" if query else _PAGE


def _spelled(snapshot: Mapping[str, Any]) -> str:
    return json.dumps(snapshot, indent=2, ensure_ascii=False)
