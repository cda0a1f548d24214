"""The wire form of an invitation."""

import datetime as dt

from pydantic import BaseModel, ConfigDict, Field

from recibo.schemas.states import Role


class Invitation(BaseModel):
    """An offer to join an org."""

    model_config = ConfigDict(frozen=True)

    id: str
    email: str
    role: Role = Field(description="The role of the new member.")
    expires_at: dt.datetime
    accepted_at: dt.datetime | None = Field(description="`null` until it is accepted.")
    created_at: dt.datetime
