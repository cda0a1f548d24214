"""The wire form of a member of an org."""

import datetime as dt

from pydantic import BaseModel, ConfigDict

from recibo.schemas.states import Role


class Member(BaseModel):
    """A user in an org."""

    model_config = ConfigDict(frozen=True)

    user_id: str
    email: str
    full_name: str | None
    role: Role
    #: When the user joined.
    created_at: dt.datetime
