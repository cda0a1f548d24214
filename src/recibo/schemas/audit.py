"""The wire form of an entry of the audit log."""

import datetime as dt
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class AuditEvent(BaseModel):
    """An audit log entry: the action, its target, the actor and the client."""

    model_config = ConfigDict(frozen=True)

    id: str
    action: str = Field(
        description="`subject.action`; the list grows.", examples=["apikey.created"]
    )
    resource_type: str = Field(description="The list grows.", examples=["api_key"])
    resource_id: str | None
    actor_user_id: str | None = Field(description="`null` when no user acted.")
    actor_api_key_id: str | None = Field(description="`null` when no API key acted.")
    ip_address: str | None = Field(examples=["203.0.113.7"])
    user_agent: str | None
    before: dict[str, Any] | None = Field(description="What a change began from.")
    after: dict[str, Any] | None = Field(description="What a change led to.")
    request_id: str | None
    created_at: dt.datetime
