"""The pages of webhooks: endpoint, signing secrets, events and attempts."""

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
from recibo.schemas.webhooks import Endpoint, EventDelivery
from recibo.services.pagination import PageRequest
from recibo.services.webhooks import delivery_log, endpoints, manual_sends
from recibo.services.webhooks.endpoints import Secrets
from recibo.store.db import Session

router = routers.make("/portal/webhooks")

_PAGE = "/portal/webhooks"
_EVENTS_A_PAGE = 20
_ATTEMPTS_A_PAGE = 50
# Four attempts at an event have failed by then; a restart of a server takes minutes.
_ALARMING = dt.timedelta(hours=1)
#: Notices after a redirect, by the query parameter `notice`.
_NOTICES = {
    "set": "The endpoint is set. Send a test event to see whether it arrives.",
    "removed": "The endpoint is removed, with its signing secret.",
    "enabled": "The endpoint is enabled again.",
    "rotated": "There is a new signing secret. The previous one stays valid for 24 hours.",
    "tested": "A test event is on its way.",
    "resent": "The event is on its way again.",
}

#: The action of a button, run in a transaction.
Act = Callable[[Session], Awaitable[object]]


Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.WEBHOOKS_READ))]
Writer = Annotated[RequestContext, Depends(request_context.context_with(Permission.WEBHOOKS_WRITE))]


class SecretOf(StrEnum):
    """Which of the two secrets to rotate."""

    ENDPOINT = "endpoint"
    ORG = "org"


class EndpointForm(BaseModel):
    """The URL of the endpoint; validated by the service."""

    url: Trimmed = ""


class RotateForm(BaseModel):
    """Which secret to replace."""

    secret: SecretOf


@dataclass(frozen=True, slots=True)
class Health:
    """The health of the endpoint; empty while deliveries succeed."""

    failing_since: dt.datetime | None = None
    retry_at: dt.datetime | None = None
    #: Whether it has failed long enough for an alert.
    is_alarming: bool = False


@router.get("")
async def show_webhooks(caller: Reader) -> Response:
    """Show the endpoint, a page of events, and the secrets if the member may see them."""
    return await _shown(caller)


@router.post("")
async def set_endpoint(
    caller: Writer, form: Annotated[EndpointForm, Depends(forms.plain(EndpointForm))]
) -> Response:
    """Set the URL of the endpoint."""
    policy = caller.services.webhook_policy

    async def put(session: Session) -> None:
        await endpoints.put(session, caller.member, form.url, policy=policy)

    return await _done(caller, put, notice="set", values={"url": form.url})


@router.post("/remove")
async def remove_endpoint(caller: Writer) -> Response:
    """Remove the endpoint, its secret and its pending deliveries."""
    return await _done(
        caller, lambda session: endpoints.remove(session, caller.member), notice="removed"
    )


@router.post("/enable")
async def enable_endpoint(caller: Writer) -> Response:
    """Enable an endpoint that was disabled."""
    return await _done(
        caller, lambda session: endpoints.enable(session, caller.member), notice="enabled"
    )


@router.post("/rotate")
async def rotate_secret(
    caller: Writer, form: Annotated[RotateForm, Depends(forms.plain(RotateForm))]
) -> Response:
    """Rotate a secret."""
    keyring = caller.services.identity.keyring
    of_endpoint = form.secret is SecretOf.ENDPOINT

    async def rotate(session: Session) -> None:
        await endpoints.rotate(session, keyring, caller.member, of_endpoint=of_endpoint)

    return await _done(caller, rotate, notice="rotated")


@router.post("/test")
async def send_test(caller: Writer) -> Response:
    """Send a test event."""
    return await _done(
        caller, lambda session: manual_sends.send_test(session, caller.member), notice="tested"
    )


@router.get("/events/{event_id}")
async def show_event(caller: Reader, event_id: str) -> Response:
    """Show an event's content and a page of its attempts."""
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
    """Send an event again."""
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
    """Run an action and redirect to the page; errors are shown on it."""
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
    """Render the page, with the submitted values and the error, if there is one."""
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


def _health(endpoint: Endpoint | None, listed: Sequence[EventDelivery]) -> Health:
    since = endpoint.failing_since if endpoint else None
    if since is None:
        return Health()
    # Deliveries to the webhook_url of an upload do not count.
    retries = [one.due_at for one in listed if one.due_at and one.is_retried and one.url is None]
    is_alarming = clock.now() - since >= _ALARMING
    return Health(since, min(retries, default=None), is_alarming)


async def _secrets(caller: RequestContext) -> Secrets | None:
    """Return the secrets, if the member may see them.

    Creates missing secrets, so that they exist before the first event.
    """
    if not caller.may(Permission.WEBHOOKS_WRITE):
        return None
    async with caller.services.database.write() as session:
        return await endpoints.secrets(session, caller.services.identity.keyring, caller.member)


def _wanted(caller: RequestContext, limit: int) -> PageRequest:
    cursor = caller.request.query_params.get("cursor")
    return PageRequest(limit, cursor, caller.services.cursor_key)
