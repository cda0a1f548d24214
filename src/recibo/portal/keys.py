"""The pages of API keys: create, list, revoke. A secret is shown once."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Response
from pydantic import BaseModel

from recibo.errors import ServiceError, ValidationFailed
from recibo.lib import clock
from recibo.portal import forms, pages, request_context, routers, service_messages
from recibo.portal.error_messages import MESSAGES
from recibo.portal.forms import Trimmed
from recibo.portal.request_context import RequestContext
from recibo.portal.translations import _, gettext_noop, lazy_gettext
from recibo.schemas.keys import Key
from recibo.schemas.permissions import Permission
from recibo.schemas.states import KeyKind, Scope
from recibo.services.identity import actor_names, keys
from recibo.services.identity.keys import Issued, NewKey

router = routers.make("/portal/keys")

_PAGE = "/portal/keys"
_DAY = dt.timedelta(days=1)
_NOTICES = {"revoked": lazy_gettext("The key is revoked: its next request is refused.")}
# The initial values of the form.
_BLANK = {"name": "", "kind": KeyKind.SECRET.value, "read": "on", "write": "on", "last_day": ""}

Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.KEYS_READ))]
Writer = Annotated[RequestContext, Depends(request_context.context_with(Permission.KEYS_WRITE))]


class KeyForm(BaseModel):
    """The key to create; validated by the service."""

    name: Trimmed = ""
    kind: str = KeyKind.SECRET
    read: str = ""
    write: str = ""
    extract: str = ""
    last_day: Trimmed = ""

    @property
    def wanted(self) -> NewKey:
        """The request to the service; raises ValidationFailed."""
        ticked = {Scope.READ: self.read, Scope.WRITE: self.write, Scope.EXTRACT_WRITE: self.extract}
        if self.kind == KeyKind.SECRET and not any(ticked.values()):
            raise ValidationFailed.of("scopes", gettext_noop("Select at least one scope."))
        return NewKey(
            name=self.name,
            kind=_kind(self.kind),
            scopes=[scope for scope, sent in ticked.items() if sent],
            expires_at=_end_of(self.last_day),
        )


@dataclass(frozen=True, slots=True)
class Listed:
    """A key with the additional values that the page shows."""

    key: Key
    #: The name of its creator.
    maker: str
    #: Whether it is revoked or expired.
    is_inactive: bool
    may_revoke: bool


@router.get("")
async def show_keys(caller: Reader) -> Response:
    """Show the keys, and the form that creates one."""
    return await _shown(caller)


@router.post("")
async def create_key(
    caller: Writer, form: Annotated[KeyForm, Depends(forms.plain(KeyForm))]
) -> Response:
    """Create a key and show its secret in this response only."""
    try:
        async with caller.services.database.write() as session:
            issued = await keys.issue(session, caller.member, form.wanted)
    except MESSAGES as e:
        return await _shown(caller, error=e, values={**form.model_dump(), "scopes": ""})
    return await _shown(caller, issued=issued)


@router.post("/{key_id}/revoke")
async def revoke_key(caller: Writer, key_id: str) -> Response:
    """Revoke a key."""
    try:
        async with caller.services.database.write() as session:
            await keys.revoke(session, caller.member, key_id)
    except MESSAGES as e:
        return await _shown(caller, error=e)
    return pages.see_other(f"{_PAGE}?notice=revoked")


async def _shown(
    caller: RequestContext,
    *,
    error: ServiceError | None = None,
    values: Mapping[str, str] | None = None,
    issued: Issued | None = None,
) -> Response:
    listed = await _listed(caller)
    return pages.section(
        caller.request,
        "keys.html",
        error=error,
        values=values or _BLANK,
        issued=issued,
        base=caller.services.base_url or str(caller.request.base_url).rstrip("/"),
        active=[one for one in listed if not one.is_inactive],
        inactive=[one for one in listed if one.is_inactive],
        notice="" if error or issued else caller.notice(_NOTICES),
        today=clock.now().date(),
        may_write=caller.may(Permission.KEYS_WRITE),
    )


async def _listed(caller: RequestContext) -> list[Listed]:
    member, now = caller.member, clock.now()
    async with caller.services.database.read() as session:
        found = await keys.newest_first(session, member, caller.services.identity.key_uses)
        makers = service_messages.actors(
            await actor_names.of(session, member, [key.created_by for key in found])
        )
    return [
        Listed(
            key=key,
            maker=makers.get(key.created_by or "", _("an operator")),
            is_inactive=key.revoked_at is not None or _is_past(key.expires_at, now),
            may_revoke=keys.may_revoke(member, key.created_by),
        )
        for key in found
    ]


def _is_past(moment: dt.datetime | None, now: dt.datetime) -> bool:
    return moment is not None and moment <= now


def _kind(given: str) -> KeyKind:
    try:
        return KeyKind(given)
    except ValueError:
        raise ValidationFailed.of("kind", f"is one of {', '.join(KeyKind)}") from None


def _end_of(last_day: str) -> dt.datetime | None:
    """Return the end of a day, UTC; None without a day."""
    if not last_day:
        return None
    try:
        end = dt.datetime.combine(dt.date.fromisoformat(last_day), dt.time(), dt.UTC) + _DAY
    except (ValueError, OverflowError):
        raise ValidationFailed.of(
            "last_day", gettext_noop("must be a date, such as 2027-01-31")
        ) from None
    if end <= clock.now():
        raise ValidationFailed.of("last_day", gettext_noop("must not be in the past"))
    return end
