"""The pages of a webhook endpoint: add one; show, change, test, disable and delete it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Depends, Response
from pydantic import BaseModel

from recibo.errors import NotFound, ServiceError
from recibo.lib import clock
from recibo.portal import forms, pages, routers
from recibo.portal.error_messages import MESSAGES
from recibo.portal.forms import Trimmed
from recibo.portal.request_context import RequestContext
from recibo.portal.translations import gettext_noop, lazy_gettext
from recibo.portal.webhooks import DELIVERIES_A_PAGE, PAGE, Act, Reader, Writer, health_of, wanted
from recibo.schemas.permissions import Permission
from recibo.schemas.states import EventType
from recibo.schemas.webhooks import Endpoint, SigningSecrets
from recibo.services.webhooks import delivery_log, endpoints, manual_sends
from recibo.services.webhooks.endpoints import Wanted
from recibo.store.db import Session

router = routers.make("/portal/webhooks")

_NO_ENDPOINT = gettext_noop("There is no endpoint with this id.")
_NOTICES = {
    "added": lazy_gettext("The endpoint is added. Send a test event to see whether it arrives."),
    "changed": lazy_gettext("The endpoint is changed."),
    "enabled": lazy_gettext("The endpoint is enabled. It gets events from now on."),
    "disabled": lazy_gettext("The endpoint is disabled. No events are sent to it."),
    "rotated": lazy_gettext(
        "There is a new signing secret. The previous one stays valid for 24 hours."
    ),
    "tested": lazy_gettext("A test event is on its way."),
}


class Selection(StrEnum):
    """Whether an endpoint gets all events or chosen types."""

    ALL = "all"
    CHOSEN = "chosen"


class EndpointForm(BaseModel):
    """What an endpoint should be; validated by the service."""

    url: Trimmed = ""
    description: Trimmed = ""
    events: Selection = Selection.ALL
    event_types: list[EventType] = []

    @property
    def wanted(self) -> Wanted:
        """The request to the service."""
        chosen = self.event_types if self.events is Selection.CHOSEN else None
        return Wanted(self.url, self.description, chosen)


_Form = Annotated[EndpointForm, Depends(forms.plural(EndpointForm, "event_types"))]


@router.get("/new")
async def show_form(caller: Writer) -> Response:
    """Show the form that adds an endpoint."""
    return _new(caller, EndpointForm())


@router.post("/endpoints")
async def add_endpoint(caller: Writer, form: _Form) -> Response:
    """Add an endpoint."""
    policy = caller.services.webhook_policy
    try:
        async with caller.services.database.write() as session:
            added = await endpoints.add(session, caller.member, form.wanted, policy=policy)
    except MESSAGES as e:
        return _new(caller, form, error=e)
    return pages.see_other(f"{_path(added.id)}?notice=added")


@router.get("/endpoints/{endpoint_id}")
async def show_endpoint(caller: Reader, endpoint_id: str) -> Response:
    """Show an endpoint, its secret and a page of its deliveries."""
    return await _shown(caller, endpoint_id)


@router.post("/endpoints/{endpoint_id}")
async def change_endpoint(caller: Writer, endpoint_id: str, form: _Form) -> Response:
    """Change the URL, the description or the event types."""
    policy = caller.services.webhook_policy

    async def change(session: Session) -> None:
        await endpoints.change(session, caller.member, endpoint_id, form.wanted, policy=policy)

    return await _done(caller, endpoint_id, change, notice="changed", form=form)


@router.post("/endpoints/{endpoint_id}/enable")
async def enable_endpoint(caller: Writer, endpoint_id: str) -> Response:
    """Send events to it again."""
    return await _done(
        caller,
        endpoint_id,
        lambda session: endpoints.enable(session, caller.member, endpoint_id),
        notice="enabled",
    )


@router.post("/endpoints/{endpoint_id}/disable")
async def disable_endpoint(caller: Writer, endpoint_id: str) -> Response:
    """Send no more events to it."""
    return await _done(
        caller,
        endpoint_id,
        lambda session: endpoints.disable(session, caller.member, endpoint_id),
        notice="disabled",
    )


@router.post("/endpoints/{endpoint_id}/rotate")
async def rotate_secret(caller: Writer, endpoint_id: str) -> Response:
    """Rotate its secret."""
    keyring = caller.services.identity.keyring

    async def rotate(session: Session) -> None:
        await endpoints.rotate(
            session, keyring, caller.member, of_endpoint=True, endpoint_id=endpoint_id
        )

    return await _done(caller, endpoint_id, rotate, notice="rotated")


@router.post("/endpoints/{endpoint_id}/test")
async def send_test(caller: Writer, endpoint_id: str) -> Response:
    """Send it a test event."""
    return await _done(
        caller,
        endpoint_id,
        lambda session: manual_sends.send_test(session, caller.member, endpoint_id),
        notice="tested",
    )


@router.post("/endpoints/{endpoint_id}/remove")
async def remove_endpoint(caller: Writer, endpoint_id: str) -> Response:
    """Delete it with its secret and its pending deliveries."""
    async with caller.services.database.write() as session:
        await endpoints.remove(session, caller.member, endpoint_id)
    return pages.see_other(f"{PAGE}?notice=removed")


async def _done(
    caller: RequestContext,
    endpoint_id: str,
    act: Act,
    *,
    notice: str,
    form: EndpointForm | None = None,
) -> Response:
    """Run an action and redirect to the endpoint's page; errors are shown on it."""
    try:
        async with caller.services.database.write() as session:
            await act(session)
    except NotFound:
        raise
    except MESSAGES as e:
        return await _shown(caller, endpoint_id, error=e, form=form)
    return pages.see_other(f"{_path(endpoint_id)}?notice={notice}")


def _path(endpoint_id: str) -> str:
    return f"{PAGE}/endpoints/{endpoint_id}"


def _new(
    caller: RequestContext, form: EndpointForm, *, error: ServiceError | None = None
) -> Response:
    return pages.section(
        caller.request,
        "webhook_endpoint_new.html",
        error=error,
        values=_values(form),
        choices=endpoints.CHOICES,
        https_only=caller.services.https_webhooks_only,
    )


async def _shown(
    caller: RequestContext,
    endpoint_id: str,
    *,
    error: ServiceError | None = None,
    form: EndpointForm | None = None,
) -> Response:
    listed = wanted(caller, DELIVERIES_A_PAGE)
    async with caller.services.database.read() as session:
        endpoint = await endpoints.get(session, caller.member, endpoint_id)
        if endpoint is None:
            raise NotFound(_NO_ENDPOINT)
        found = await delivery_log.of_endpoint(session, caller.member, endpoint.id, wanted=listed)
    return pages.section(
        caller.request,
        "webhook_endpoint.html",
        error=error,
        values=_values(form or _form_of(endpoint)),
        endpoint=endpoint,
        secret=await _secret(caller, endpoint),
        events=found,
        health=health_of(endpoint, found.data),
        choices=endpoints.CHOICES,
        notice="" if error else caller.notice(_NOTICES),
        now=clock.now(),
        https_only=caller.services.https_webhooks_only,
        is_first_page=listed.cursor is None,
        may_write=caller.may(Permission.WEBHOOKS_WRITE),
    )


async def _secret(caller: RequestContext, endpoint: Endpoint) -> SigningSecrets | None:
    """Return the secret, if the member may see it; create a missing one."""
    if not caller.may(Permission.WEBHOOKS_WRITE):
        return None
    keyring = caller.services.identity.keyring
    async with caller.services.database.write() as session:
        return await endpoints.secret_of(session, keyring, caller.member, endpoint.id)


def _form_of(endpoint: Endpoint) -> EndpointForm:
    return EndpointForm(
        url=endpoint.url,
        description=endpoint.description,
        events=Selection.ALL if endpoint.event_types is None else Selection.CHOSEN,
        event_types=list(endpoint.event_types or ()),
    )


def _values(form: EndpointForm) -> Mapping[str, Any]:
    return form.model_dump(mode="json")
