"""GET /v1/webhooks/events; the portal manages the endpoints."""

from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel, Field

from recibo.api import routers
from recibo.api.deps import CanRead, refuse_repeated
from recibo.api.queries import Digits
from recibo.api.responses import errors_of
from recibo.schemas.states import EventType
from recibo.schemas.webhooks import WebhookEvent
from recibo.services.pagination import PageRequest
from recibo.services.webhooks import events
from recibo.web.services import TheServices

router = routers.make("/v1/webhooks", tag="webhooks")


class EventQuery(BaseModel):
    """The filter of a list."""

    type: EventType | None = Field(default=None, description="Only events of this type.")
    limit: Digits = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, description="`next_cursor` of the page before.")


class EventList(BaseModel):
    """One page of events."""

    data: list[WebhookEvent]
    has_more: bool
    next_cursor: str | None


@router.get("/events", summary="List webhook events", responses=errors_of(400, 401, 403, 429, 500))
async def list_webhook_events(
    request: Request,
    actor: CanRead,
    services: TheServices,
    query: Annotated[EventQuery, Query()],
) -> EventList:
    """List the events that were sent or attempted, newest first, each as it was sent.

    A deleted receipt stays in its earlier events.
    """
    refuse_repeated(request, EventQuery)
    async with services.database.read() as session:
        page = await events.history(
            session,
            actor,
            query.type,
            wanted=PageRequest(query.limit, query.cursor, services.cursor_key),
        )
    return EventList(data=page.data, has_more=page.has_more, next_cursor=page.next_cursor)
