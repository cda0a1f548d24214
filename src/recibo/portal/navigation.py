"""The sections of the portal, in the order of the navigation: one line each."""

from dataclasses import dataclass

from recibo.schemas.actor import SignedIn
from recibo.schemas.permissions import Permission
from recibo.schemas.plans import SOLD, Plans


@dataclass(frozen=True, slots=True)
class Section:
    """A page that the navigation leads to."""

    path: str
    name: str
    #: The required permission; None if every user may see it.
    permission: Permission | None = None
    #: Whether it exists only if plans are sold.
    is_about_plans: bool = False

    def holds(self, path: str) -> bool:
        """Return whether a page belongs to this section."""
        return path == self.path or path.startswith(f"{self.path}/")


_SECTIONS = (
    Section("/portal/receipts", "Receipts", Permission.RECEIPTS_READ),
    Section("/portal/keys", "API keys", Permission.KEYS_READ),
    Section("/portal/analytics", "Analytics", Permission.ANALYTICS_READ),
    Section("/portal/webhooks", "Webhooks", Permission.WEBHOOKS_READ),
    Section("/portal/members", "Members", Permission.TEAM_READ),
    Section("/portal/organization", "Organization", Permission.ORG_READ),
    Section("/portal/billing", "Billing", Permission.BILLING_READ, is_about_plans=True),
    Section("/portal/audit", "Audit log", Permission.AUDIT_READ),
    Section("/portal/security", "Security"),
)  # fmt: skip


def path_of(path: str) -> str:
    """Return the path of a page's section; empty if it belongs to none."""
    return next((section.path for section in _SECTIONS if section.holds(path)), "")


def seen_by(user: SignedIn | None, *, plans: Plans = SOLD) -> list[Section]:
    """Return the sections that a user may see."""
    if user is None:
        return []
    member = user.member
    return [
        section
        for section in _SECTIONS
        if (plans.are_sold or not section.is_about_plans)
        and (section.permission is None or (member is not None and member.may(section.permission)))
    ]
