"""The page of the audit log, with filters."""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Response

from recibo.errors import ServiceError, ValidationFailed
from recibo.portal import pages, request_context, routers
from recibo.portal.request_context import RequestContext
from recibo.schemas.audit import AuditEvent
from recibo.schemas.keys import Key
from recibo.schemas.members import Member as TeamMember
from recibo.schemas.permissions import Permission
from recibo.schemas.states import AuditAction, ResourceType
from recibo.services import audit
from recibo.services.audit import AuditPage, Filters
from recibo.services.identity import actor_names, keys, members
from recibo.services.pagination import PageRequest

router = routers.make("/portal/audit")

_PAGE = "/portal/audit"
_ENTRIES_A_PAGE = 50
_FILTERS = ("action", "resource_type", "actor", "since", "until")
_MAX_FILTER = 255

Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.AUDIT_READ))]


@dataclass(frozen=True, slots=True)
class Actors:
    """The names of actors by id, and the options of the actor filter."""

    names: Mapping[str, str]
    options: list[tuple[str, str]]

    def named(self, entry: AuditEvent) -> str:
        """Return the name of an entry's actor."""
        actor = entry.actor_user_id or entry.actor_api_key_id
        return self.names.get(actor, actor) if actor else "The service"

    def about(self, entry: AuditEvent) -> str:
        """Return the name of the user or key that an entry is about, or an empty string."""
        return self.names.get(entry.resource_id or "", "")


@router.get("")
async def show_audit(caller: Reader) -> Response:
    """Show a page of the log, filtered by the query."""
    query = caller.request.query_params
    values = {name: query.get(name, "").strip() for name in _FILTERS}
    cursor = query.get("cursor")
    error: ServiceError | None = None
    log = AuditPage([], None)
    async with caller.services.database.read() as session:
        team = await members.in_join_order(session, caller.member)
        made = await keys.newest_first(session, caller.member, caller.services.identity.key_uses)
        try:
            wanted = PageRequest(_ENTRIES_A_PAGE, cursor, caller.services.cursor_key)
            log = await audit.page(session, caller.member, _filters(values), wanted=wanted)
        except ValidationFailed as e:
            error = e
        named = await actor_names.of(session, caller.member, _ids(log.items, values["actor"]))
    chosen = {name: value for name, value in values.items() if value}
    return pages.section(
        caller.request,
        "audit.html",
        error=error,
        values=values,
        log=log,
        actors=Actors(named, _options(team, made, values["actor"], named)),
        actions=[(action.value, action.value) for action in AuditAction],
        resource_types=[(kind.value, kind.value) for kind in ResourceType],
        newest=_address(chosen) if cursor else "",
        older=_address({**chosen, "cursor": log.next_cursor}) if log.next_cursor else "",
        is_filtered=bool(chosen),
        format_json=_format_json,
    )


def _ids(items: Sequence[AuditEvent], chosen: str) -> list[str | None]:
    found: list[str | None] = [chosen]
    for entry in items:
        found += [entry.actor_user_id, entry.actor_api_key_id, entry.resource_id]
    return found


def _options(
    team: Sequence[TeamMember], made: Sequence[Key], chosen: str, named: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the options of the actor filter: members, keys and the selected actor."""
    options = {one.user_id: one.full_name or one.email for one in team}
    options |= {one.id: f"API key {one.name}" for one in made}
    if chosen in named:
        options.setdefault(chosen, named[chosen])
    return list(options.items())


def _filters(values: Mapping[str, str]) -> Filters:
    for name in ("action", "resource_type", "actor"):
        # No such name exists, and PostgreSQL accepts no NUL.
        if len(values[name]) > _MAX_FILTER or not values[name].isprintable():
            raise ValidationFailed.of(name, "is unknown; choose one from the list")
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


def _format_json(snapshot: Mapping[str, Any]) -> str:
    return json.dumps(snapshot, indent=2, ensure_ascii=False)
