"""The plans and their figures."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
    """The limits of a plan."""

    name: PlanName
    #: Newly read receipts a calendar month, UTC; None for no quota.
    receipts_a_month: int | None
    #: Requests a minute, per key or user and per IP.
    requests_a_minute: int
    #: Uploads in flight at once, per key and per IP.
    uploads_at_once: int


PLANS = {
    plan.name: plan
    for plan in (
        Plan(PlanName.FREE, 50, 100, 1),
        Plan(PlanName.INDIE, 1_000, 200, 3),
        Plan(PlanName.STARTUP, 25_000, 1_000, 10),
        Plan(PlanName.SCALE, 250_000, 5_000, 50),
        # Figures of enterprise are agreed with each org; what is not agreed is as with scale.
        Plan(PlanName.ENTERPRISE, 250_000, 5_000, 50),
    )
}


# How many readings of an org are in the queue at a time; the others stay pending. A single org uses
# at most this many readers, and other orgs wait for no more of its readings.
READINGS_CARRIED: Mapping[PlanName, int] = {
    PlanName.FREE: 2,
    PlanName.INDIE: 4,
    PlanName.STARTUP: 8,
    PlanName.SCALE: 16,
    PlanName.ENTERPRISE: 16,
}


def plan_of(name: str, agreed: Mapping[str, int] | None) -> Plan:
    """Return the plan of an org; agreed figures, by the names above, are for enterprise alone."""
    plan = PLANS[PlanName(name)]
    if not agreed or plan.name is not PlanName.ENTERPRISE:
        return plan
    return Plan(
        name=plan.name,
        receipts_a_month=agreed.get("receipts_a_month", plan.receipts_a_month),
        requests_a_minute=agreed.get("requests_a_minute", plan.requests_a_minute),
        uploads_at_once=agreed.get("uploads_at_once", plan.uploads_at_once),
    )


@dataclass(frozen=True, slots=True)
class Plans:
    """The plans of an installation: sold to each org, or enterprise without a quota for all."""

    are_sold: bool = True

    def name_of(self, stored: str) -> PlanName:
        """Return the plan that an org has, by the one that is stored."""
        return PlanName(stored) if self.are_sold else PlanName.ENTERPRISE

    def of(self, stored: str, agreed: Mapping[str, int] | None) -> Plan:
        """Return the figures of an org; those agreed hold where enterprise is stored."""
        if self.are_sold:
            return plan_of(stored, agreed)
        is_agreed = stored == PlanName.ENTERPRISE
        plan = plan_of(PlanName.ENTERPRISE, agreed if is_agreed else None)
        return replace(plan, receipts_a_month=None)

    def readings_carried(self, stored: str) -> int:
        """Return how many readings of an org the queue carries at a time."""
        return READINGS_CARRIED[self.name_of(stored)]


#: The default: plans are sold.
SOLD = Plans()
