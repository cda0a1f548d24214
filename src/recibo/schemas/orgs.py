"""The wire form of an organization."""

import datetime as dt

from pydantic import BaseModel, ConfigDict

from recibo.schemas.plans import PlanName


class Org(BaseModel):
    """An organization."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    slug: str
    logo_url: str | None
    billing_email: str
    plan: PlanName
    created_at: dt.datetime
