"""The page of the audit log: sentences with filters, and its export."""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from recibo.errors import ServiceError, ValidationFailed
from recibo.portal import (
    audit_sentences,
    export_columns,
    forms,
    pages,
    request_context,
    routers,
    translations,
)
from recibo.portal.request_context import RequestContext
from recibo.portal.translations import LazyText, lazy_gettext
from recibo.portal.translations import gettext as _
from recibo.schemas.actor import Member
from recibo.schemas.audit import AuditEvent
from recibo.schemas.keys import Key
from recibo.schemas.languages import Language
from recibo.schemas.members import Member as TeamMember
from recibo.schemas.permissions import Permission
from recibo.schemas.states import ResourceType
from recibo.services import audit, audit_exports
from recibo.services.audit import AuditPage, Filters
from recibo.services.audit_exports import Describe, Format, Wanted
from recibo.services.identity import keys, members
from recibo.services.pagination import PageRequest
from recibo.store.db import ReadSession

router = routers.make("/portal/audit")

_PAGE = "/portal/audit"
_ENTRIES_A_PAGE = 20
_FILTERS = ("action", "resource_type", "actor", "since", "until")
_MAX_FILTER = 255
#: What entries are about, in words.
_KINDS: Mapping[ResourceType, LazyText] = {
    ResourceType.RECEIPT: lazy_gettext("Receipts"),
    ResourceType.USER: lazy_gettext("Accounts and sign-in"),
    ResourceType.MEMBERSHIP: lazy_gettext("Members"),
    ResourceType.INVITATION: lazy_gettext("Invitations"),
    ResourceType.API_KEY: lazy_gettext("API keys"),
    ResourceType.WEBHOOK_ENDPOINT: lazy_gettext("Webhook endpoints"),
    ResourceType.WEBHOOK_EVENT: lazy_gettext("Webhook events"),
    ResourceType.SUBSCRIPTION: lazy_gettext("Plan"),
    ResourceType.ORG: lazy_gettext("Organization"),
}

Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.AUDIT_READ))]


class ExportForm(BaseModel):
    """The form of the file."""

    format: Format = Format.CSV


@router.get("")
async def show_audit(caller: Reader) -> Response:
    """Show a page of the log, filtered by the query."""
    values, cursor = _submitted(caller), caller.request.query_params.get("cursor")
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
        known = await audit_sentences.known(session, caller.member, log.items, values["actor"])
    chosen = {name: value for name, value in values.items() if value}
    return pages.section(
        caller.request,
        "audit.html",
        error=error,
        values=values,
        log=log,
        known=known,
        sentence=audit_sentences.sentence,
        actors=_actors(team, made, values["actor"], known.names),
        kinds=[(kind.value, name) for kind, name in _KINDS.items()],
        newest=_address(chosen) if cursor else "",
        older=_address({**chosen, "cursor": log.next_cursor}) if log.next_cursor else "",
        export_query=urlencode(chosen),
        of_action=lambda action: _address({**chosen, "action": action}),
        is_filtered=bool(chosen),
        format_json=_format_json,
    )


@router.get("/export")
async def export(caller: Reader) -> Response:
    """Return the entries that match the filters as a file."""
    query = caller.request.query_params
    form = forms.checked(ExportForm, {"format": query["format"]} if query.get("format") else {})
    wanted = Wanted(
        _describing(translations.current()),
        form.format,
        _filters(_submitted(caller)),
        export_columns.separator(),
    )
    return StreamingResponse(
        await audit_exports.start(caller.services.exports, caller.member, wanted),
        media_type=audit_exports.MEDIA_TYPES[wanted.format],
        headers={
            "Content-Disposition": f'attachment; filename="{wanted.filename}"',
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
        },
    )


def _describing(language: Language) -> Describe:
    """Return what writes sentences after the request, when its language is no longer known."""

    async def describe(
        session: ReadSession, member: Member, entries: Sequence[AuditEvent]
    ) -> Sequence[str]:
        known = await audit_sentences.known(session, member, entries)
        with translations.using(language):
            return [audit_sentences.text(entry, known) for entry in entries]

    return describe


def _submitted(caller: RequestContext) -> dict[str, str]:
    query = caller.request.query_params
    return {name: query.get(name, "").strip() for name in _FILTERS}


def _actors(
    team: Sequence[TeamMember], made: Sequence[Key], chosen: str, named: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the options of the actor filter: members, keys and the selected actor."""
    options = {one.user_id: one.full_name or one.email for one in team}
    options |= {one.id: _("API key %(name)s", name=one.name) for one in made}
    if chosen in named:
        options.setdefault(chosen, named[chosen])
    return list(options.items())


def _filters(values: Mapping[str, str]) -> Filters:
    for name in ("action", "resource_type", "actor"):
        # No such name exists, and PostgreSQL accepts no NUL.
        if len(values[name]) > _MAX_FILTER or not values[name].isprintable():
            raise ValidationFailed.of(name, _("Choose one from the list."))
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
        message = _("Choose a date, such as %(date)s.", date="2026-03-14")
        raise ValidationFailed.of(name, message) from None


def _address(query: Mapping[str, str]) -> str:
    return f"{_PAGE}?{urlencode(query)}" if query else _PAGE


def _format_json(snapshot: Mapping[str, Any]) -> str:
    return json.dumps(snapshot, indent=2, ensure_ascii=False)
