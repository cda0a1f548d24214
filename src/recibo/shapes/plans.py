"""The plans and their figures."""

from dataclasses import dataclass
from enum import StrEnum


class PlanName(StrEnum):
    """The plans that an org can be on."""

    FREE = "free"
    INDIE = "indie"
    STARTUP = "startup"
    SCALE = "scale"
    ENTERPRISE = "enterprise"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a plan allows."""

    name: PlanName
    #: Newly read receipts a calendar month, UTC.
    receipts_a_month: int


PLANS = {
    plan.name: plan
    for plan in (
        Plan(PlanName.FREE, 50),
        Plan(PlanName.INDIE, 1_000),
        Plan(PlanName.STARTUP, 25_000),
        Plan(PlanName.SCALE, 250_000),
        # Figures of enterprise are agreed an org; without an agreement those of scale hold.
        Plan(PlanName.ENTERPRISE, 250_000),
    )
}
