"""Webhooks: where an org's events go, what signs them, and what became of each."""

import datetime as dt
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from fastapi import Depends, Response
from pydantic import BaseModel

from recibo.errors import ServiceError
from recibo.lib import clock
from recibo.portal import forms, pages, request_context, routers
from recibo.portal.error_messages import MESSAGES
from recibo.portal.forms import Trimmed
from recibo.portal.request_context import RequestContext
from recibo.schemas.permissions import Permission
from recibo.schemas.webhooks import Delivered, Endpoint
from recibo.services.pagination import PageRequest
from recibo.services.webhooks import delivery_log, endpoints, manual_sends
from recibo.services.webhooks.endpoints import Secrets
from recibo.store.db import Session

router = routers.make("/portal/webhooks")

_PAGE = "/portal/webhooks"
_EVENTS_A_PAGE = 20
_ATTEMPTS_A_PAGE = 50
# By then the first four tries at an event have failed; servers are restarted within minutes.
_ALARMING = dt.timedelta(hours=1)
#: What is said of what was done, by what the address tells after it.
_NOTICES = {
    "set": "The endpoint is set. Send a test event to see whether it arrives.",
    "removed": "The endpoint is removed, with its signing secret.",
    "enabled": "The endpoint is enabled again.",
    "rotated": "There is a new signing secret. The previous one stays valid for 24 hours.",
    "tested": "A test event is on its way.",
    "resent": "The event is on its way again.",
}

#: What a button asks of the services, in a transaction.
Act = Callable[[Session], Awaitable[object]]


Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.WEBHOOKS_READ))]
Writer = Annotated[RequestContext, Depends(request_context.context_with(Permission.WEBHOOKS_WRITE))]


class SecretOf(StrEnum):
    """Which of the two secrets a button is about."""

    ENDPOINT = "endpoint"
    ORG = "org"


class EndpointForm(BaseModel):
    """Where the org's events shall go; whether that is a URL, is judged with all else about it."""

    url: Trimmed = ""


class RotateForm(BaseModel):
    """Which secret to replace."""

    secret: SecretOf


@dataclass(frozen=True, slots=True)
class Health:
    """How the endpoint fares: nothing is set while it takes what is sent."""

    failing_since: dt.datetime | None = None
    retry_at: dt.datetime | None = None
    #: Whether it fails for so long that somebody should look.
    is_alarming: bool = False


@router.get("")
async def show_webhooks(caller: Reader) -> Response:
    """Show the endpoint, the secrets to those who may see them, and a page of events."""
    return await _shown(caller)


@router.post("")
async def set_endpoint(
    caller: Writer, form: Annotated[EndpointForm, Depends(forms.plain(EndpointForm))]
) -> Response:
    """Set where events go."""
    policy = caller.services.webhook_policy

    async def put(session: Session) -> None:
        await endpoints.put(session, caller.member, form.url, policy=policy)

    return await _done(caller, put, notice="set", values={"url": form.url})


@router.post("/remove")
async def remove_endpoint(caller: Writer) -> Response:
    """Remove the endpoint, with its secret and what is owed to it."""
    return await _done(
        caller, lambda session: endpoints.remove(session, caller.member), notice="removed"
    )


@router.post("/enable")
async def enable_endpoint(caller: Writer) -> Response:
    """Switch on an endpoint that failed for too long."""
    return await _done(
        caller, lambda session: endpoints.enable(session, caller.member), notice="enabled"
    )


@router.post("/rotate")
async def rotate_secret(
    caller: Writer, form: Annotated[RotateForm, Depends(forms.plain(RotateForm))]
) -> Response:
    """Replace a secret."""
    keyring = caller.services.identity.keyring
    of_endpoint = form.secret is SecretOf.ENDPOINT

    async def rotate(session: Session) -> None:
        await endpoints.rotate(session, keyring, caller.member, of_endpoint=of_endpoint)

    return await _done(caller, rotate, notice="rotated")


@router.post("/test")
async def send_test(caller: Writer) -> Response:
    """Send an event that tells of nothing."""
    return await _done(
        caller, lambda session: manual_sends.send_test(session, caller.member), notice="tested"
    )


@router.get("/events/{event_id}")
async def show_event(caller: Reader, event_id: str) -> Response:
    """Show an event as it is sent, and a page of the attempts at it."""
    wanted = _wanted(caller, _ATTEMPTS_A_PAGE)
    async with caller.services.database.read() as session:
        one = await delivery_log.get(session, caller.member, event_id, wanted=wanted)
    return pages.show(
        caller.request,
        "webhook_event.html",
        delivered=one.delivered,
        next_cursor=one.next_cursor,
        notice=caller.notice(_NOTICES),
        now=clock.now(),
        may_write=caller.may(Permission.WEBHOOKS_WRITE),
    )


@router.post("/events/{event_id}/resend")
async def resend_event(caller: Writer, event_id: str) -> Response:
    """Send an event once more."""
    return await _done(
        caller,
        lambda session: manual_sends.resend(session, caller.member, event_id),
        notice="resent",
        page=f"{_PAGE}/events/{event_id}",
    )


async def _done(
    caller: RequestContext,
    act: Act,
    *,
    notice: str,
    page: str = _PAGE,
    values: Mapping[str, str] | None = None,
) -> Response:
    """Do what a button asks for and lead on; what is refused, is said on the page."""
    try:
        async with caller.services.database.write() as session:
            await act(session)
    except MESSAGES as e:
        return await _shown(caller, error=e, values=values)
    return pages.see_other(f"{page}?notice={notice}")


async def _shown(
    caller: RequestContext,
    *,
    error: ServiceError | None = None,
    values: Mapping[str, str] | None = None,
) -> Response:
    """Return the page, with what was filled in and refused, if anything was."""
    secrets = await _secrets(caller)
    async with caller.services.database.read() as session:
        endpoint = await endpoints.get(session, caller.member)
        wanted = _wanted(caller, _EVENTS_A_PAGE)
        events = await delivery_log.recent(session, caller.member, wanted=wanted)
    return pages.section(
        caller.request,
        "webhooks.html",
        error=error,
        values=values or {"url": endpoint.url if endpoint else ""},
        endpoint=endpoint,
        secrets=secrets,
        events=events,
        notice="" if error else caller.notice(_NOTICES),
        now=clock.now(),
        health=_health(endpoint, events.data),
        https_only=caller.services.https_webhooks_only,
        is_first_page=wanted.cursor is None,
        may_write=caller.may(Permission.WEBHOOKS_WRITE),
    )


def _health(endpoint: Endpoint | None, listed: Sequence[Delivered]) -> Health:
    since = endpoint.failing_since if endpoint else None
    if since is None:
        return Health()
    # What a request named an address for goes elsewhere.
    retries = [one.due_at for one in listed if one.due_at and one.is_retried and one.url is None]
    is_alarming = clock.now() - since >= _ALARMING
    return Health(since, min(retries, default=None), is_alarming)


async def _secrets(caller: RequestContext) -> Secrets | None:
    """Return what those see who may write.

    A secret that is not there yet is made, so that it is in place before the first event comes.
    """
    if not caller.may(Permission.WEBHOOKS_WRITE):
        return None
    async with caller.services.database.write() as session:
        return await endpoints.secrets(session, caller.services.identity.keyring, caller.member)


def _wanted(caller: RequestContext, limit: int) -> PageRequest:
    cursor = caller.request.query_params.get("cursor")
    return PageRequest(limit, cursor, caller.services.cursor_key)
