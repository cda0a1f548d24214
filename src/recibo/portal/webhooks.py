"""The pages of webhooks: endpoints, signing secrets, events and attempts."""

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
from recibo.portal.translations import lazy_gettext
from recibo.schemas.permissions import Permission
from recibo.schemas.states import DeliveryState
from recibo.schemas.webhooks import DeliveredEvent, Endpoint
from recibo.services.pagination import PageRequest
from recibo.services.webhooks import delivery_log, endpoints, manual_sends
from recibo.services.webhooks.endpoints import Secrets
from recibo.store.db import Session

router = routers.make("/portal/webhooks")

PAGE = "/portal/webhooks"
#: Of events, or of the deliveries to an endpoint.
DELIVERIES_A_PAGE = 20
_ATTEMPTS_A_PAGE = 50
# Four attempts at an event have failed by then; a restart of a server takes minutes.
_ALARMING = dt.timedelta(hours=1)
#: Notices after a redirect, by the query parameter `notice`.
_NOTICES = {
    "set": lazy_gettext("The endpoint is set. Send a test event to see whether it arrives."),
    "removed": lazy_gettext("The endpoint is removed, with its signing secret."),
    "enabled": lazy_gettext("The endpoint is enabled again."),
    "rotated": lazy_gettext(
        "There is a new signing secret. The previous one stays valid for 24 hours."
    ),
    "tested": lazy_gettext("A test event is on its way."),
    "resent": lazy_gettext("The event is on its way again."),
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
    """The URL of the default endpoint; validated by the service."""

    url: Trimmed = ""


class RotateForm(BaseModel):
    """Which secret to replace."""

    secret: SecretOf


@dataclass(frozen=True, slots=True)
class Health:
    """The health of an endpoint; empty while deliveries succeed."""

    failing_since: dt.datetime | None = None
    retry_at: dt.datetime | None = None
    #: Whether it has failed long enough for an alert.
    is_alarming: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """An endpoint as the list shows it."""

    endpoint: Endpoint
    is_default: bool
    #: The states of its last deliveries, oldest first.
    outcomes: Sequence[DeliveryState]

    @property
    def done(self) -> int:
        """How many of them are finished, one way or the other."""
        return len([one for one in self.outcomes if one is not DeliveryState.PENDING])

    @property
    def delivered(self) -> int:
        """How many of them arrived."""
        return len([one for one in self.outcomes if one is DeliveryState.DELIVERED])


@router.get("")
async def show_webhooks(caller: Reader) -> Response:
    """Show the endpoints, a page of events, and the secrets if the member may see them."""
    return await _shown(caller)


@router.post("")
async def set_endpoint(
    caller: Writer, form: Annotated[EndpointForm, Depends(forms.plain(EndpointForm))]
) -> Response:
    """Set the URL of the default endpoint."""
    policy = caller.services.webhook_policy

    async def put(session: Session) -> None:
        await endpoints.put(session, caller.member, form.url, policy=policy)

    return await _done(caller, put, notice="set", values={"url": form.url})


@router.post("/remove")
async def remove_endpoint(caller: Writer) -> Response:
    """Remove the default endpoint, its secret and its pending deliveries."""
    return await _done(
        caller, lambda session: endpoints.remove(session, caller.member), notice="removed"
    )


@router.post("/enable")
async def enable_endpoint(caller: Writer) -> Response:
    """Enable the default endpoint."""
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
    """Send a test event to all enabled endpoints."""
    return await _done(
        caller, lambda session: manual_sends.send_test(session, caller.member), notice="tested"
    )


@router.get("/events/{event_id}")
async def show_event(caller: Reader, event_id: str) -> Response:
    """Show an event's content and a page of its attempts."""
    listed = wanted(caller, _ATTEMPTS_A_PAGE)
    async with caller.services.database.read() as session:
        one = await delivery_log.get(session, caller.member, event_id, wanted=listed)
    return pages.show(
        caller.request,
        "webhook_event.html",
        delivered=one.delivered,
        attempts=one.attempts,
        next_cursor=one.next_cursor,
        notice=caller.notice(_NOTICES),
        now=clock.now(),
        may_write=caller.may(Permission.WEBHOOKS_WRITE),
    )


@router.post("/events/{event_id}/resend")
async def resend_event(caller: Writer, event_id: str) -> Response:
    """Send an event again to its receivers."""
    return await _resent(caller, event_id)


@router.post("/events/{event_id}/deliveries/{delivery_id}/resend")
async def resend_delivery(caller: Writer, event_id: str, delivery_id: str) -> Response:
    """Send an event again to one of its receivers."""
    return await _resent(caller, event_id, delivery_id)


async def _resent(
    caller: RequestContext, event_id: str, delivery_id: str | None = None
) -> Response:
    return await _done(
        caller,
        lambda session: manual_sends.resend(
            session, caller.member, event_id, delivery_id=delivery_id
        ),
        notice="resent",
        page=f"{PAGE}/events/{event_id}",
    )


async def _done(
    caller: RequestContext,
    act: Act,
    *,
    notice: str,
    page: str = PAGE,
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
    page = wanted(caller, DELIVERIES_A_PAGE)
    async with caller.services.database.read() as session:
        found = await endpoints.listed(session, caller.member)
        states = await delivery_log.outcomes(session, caller.member, [one.id for one in found])
        events = await delivery_log.recent(session, caller.member, wanted=page)
    listed = [Listed(one, one is found[0], states[one.id]) for one in found]
    return pages.section(
        caller.request,
        "webhooks.html",
        error=error,
        values=values or {"url": found[0].url if found else ""},
        listed=listed,
        most=endpoints.MOST,
        secrets=secrets,
        events=events,
        notice="" if error else caller.notice(_NOTICES),
        now=clock.now(),
        health={one.id: health_of(one, events.data) for one in found},
        https_only=caller.services.https_webhooks_only,
        is_first_page=page.cursor is None,
        may_write=caller.may(Permission.WEBHOOKS_WRITE),
    )


def health_of(endpoint: Endpoint, events: Sequence[DeliveredEvent]) -> Health:
    """Return the health of an endpoint, and its next attempt if it is among these events."""
    since = endpoint.failing_since
    if since is None:
        return Health()
    retries = [
        one.due_at
        for event in events
        for one in event.deliveries
        if one.due_at and one.is_retried and one.endpoint_id == endpoint.id
    ]
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


def wanted(caller: RequestContext, limit: int) -> PageRequest:
    """Return which page of a list the address asks for."""
    cursor = caller.request.query_params.get("cursor")
    return PageRequest(limit, cursor, caller.services.cursor_key)
