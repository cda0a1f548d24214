"""The wire form of an API key."""

import datetime as dt

from pydantic import BaseModel, ConfigDict

from recibo.schemas.states import KeyKind, Scope


class Key(BaseModel):
    """An API key's record; its secret is shown only once, when it is made."""

    model_config = ConfigDict(frozen=True)

    id: str
    org_id: str
    name: str
    kind: KeyKind
    #: The first eight characters of the secret.
    prefix: str
    #: The last four.
    last4: str
    scopes: list[Scope]
    is_live: bool
    expires_at: dt.datetime | None
    revoked_at: dt.datetime | None
    created_at: dt.datetime
    created_by: str | None
    last_used_at: dt.datetime | None
