"""Webhook events as they go over the wire, and what the portal shows of webhooks."""

import datetime as dt
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from recibo.schemas.ids import DeliveryId, EndpointId
from recibo.schemas.states import DeliveryState, EventType


class WebhookEvent(BaseModel):
    """The body of a webhook."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(examples=["evt_01964f3b2c4d7e8f9a0b1c2d3e4f5a6b"])
    type: EventType = Field(description="The list grows.")
    org_id: str
    created_at: dt.datetime
    data: dict[str, Any] = Field(
        description="By type: `{receipt}`, `{threshold, used, quota}`, or `{}` of a test."
    )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A webhook endpoint of an org, for events without a per-request URL."""

    id: EndpointId
    url: str
    #: What members call it; may be empty.
    description: str
    #: None for all types, future ones too.
    event_types: tuple[EventType, ...] | None
    created_at: dt.datetime
    updated_at: dt.datetime
    failing_since: dt.datetime | None
    disabled_at: dt.datetime | None

    @property
    def is_enabled(self) -> bool:
        """Whether events are sent to it."""
        return self.disabled_at is None


@dataclass(frozen=True, slots=True)
class SigningSecrets:
    """The signing secrets of one receiver, `whsec_…`."""

    current: str
    #: Previous secrets that still sign, newest first.
    earlier: tuple["EarlierSecret", ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """All signing secrets, the current one first."""
        return (self.current, *(one.secret for one in self.earlier))


@dataclass(frozen=True, slots=True)
class EarlierSecret:
    """A secret that was replaced."""

    secret: str
    #: It signs until this time.
    until: dt.datetime


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a delivery."""

    url: str
    started_at: dt.datetime
    duration_ms: int
    #: The HTTP status; None when there was no answer.
    status: int | None
    #: Why there was no answer, or why it counts as failed.
    error: str | None
    #: The first bytes of the answer, as text.
    answer: str | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """The delivery of an event to one receiver."""

    id: DeliveryId
    #: None if the request named the URL.
    endpoint_id: EndpointId | None
    #: The URL of the request or of the endpoint; None if the endpoint was removed.
    url: str | None
    state: DeliveryState
    #: The time of the next attempt; None if there is none.
    due_at: dt.datetime | None
    #: The newest first.
    attempts: tuple[Attempt, ...]
    #: Whether there are older attempts.
    has_older: bool

    @property
    def is_retried(self) -> bool:
        """Whether the last attempt failed and another one follows."""
        if self.due_at is None or not self.attempts:
            return False
        status = self.attempts[0].status
        return status is None or not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


@dataclass(frozen=True, slots=True)
class DeliveredEvent:
    """An event and its deliveries, as the portal shows it."""

    event: WebhookEvent
    #: At least one.
    deliveries: tuple[Delivery, ...]

    @property
    def delivered(self) -> int:
        """How many of them have succeeded."""
        return len([one for one in self.deliveries if one.state is DeliveryState.DELIVERED])

    @property
    def worst(self) -> Delivery:
        """The delivery that needs attention first."""
        return min(self.deliveries, key=lambda one: (not one.is_retried, _ATTENTION[one.state]))


# The order in which deliveries of one event ask for attention.
_ATTENTION = {
    DeliveryState.FAILED: 0,
    DeliveryState.PENDING: 1,
    DeliveryState.DROPPED: 2,
    DeliveryState.DELIVERED: 3,
}
