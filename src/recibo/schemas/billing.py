"""The wire form of a subscription, and the plans that can be bought."""

import datetime as dt

from pydantic import BaseModel, ConfigDict, Field

from recibo.schemas.plans import PlanName
from recibo.schemas.states import SubscriptionStatus

#: The plans that can be bought, smallest first. Free costs nothing; enterprise is by agreement.
PAID_PLANS = (PlanName.INDIE, PlanName.STARTUP, PlanName.SCALE)


class Subscription(BaseModel):
    """An org's subscription and its usage."""

    model_config = ConfigDict(frozen=True)

    plan: PlanName
    status: SubscriptionStatus
    quota_receipts_month: int | None = Field(description="`null` where there is no quota.")
    usage_this_month: int = Field(description="Receipts completed this calendar month, UTC.")
    credits_used_this_month: int
    rate_limit_per_minute: int
    cancel_at_period_end: bool
    current_period_end: dt.datetime | None
