"""The sections of the portal, in the order of the navigation: one line each."""

from collections.abc import Sequence
from dataclasses import dataclass

from recibo.portal.translations import LazyText, lazy_gettext
from recibo.schemas.actor import SignedIn
from recibo.schemas.permissions import PERMISSIONS, Permission
from recibo.schemas.plans import SOLD, Plans
from recibo.schemas.states import Role


@dataclass(frozen=True, slots=True)
class Section:
    """A page that the navigation leads to."""

    path: str
    name: LazyText
    #: The name of its icon in `static/icons.svg`.
    icon: str
    #: The required permission; None if every user may see it.
    permission: Permission | None = None
    #: Whether it exists only if plans are sold.
    is_about_plans: bool = False
    #: The key that leads to it, after G.
    key: str = ""

    def holds(self, path: str) -> bool:
        """Return whether a page belongs to this section."""
        return path == self.path or path.startswith(f"{self.path}/")

    def is_open_to(self, role: Role) -> bool:
        """Return whether a role may see it."""
        return self.permission is None or self.permission in PERMISSIONS[role]

    def current(self, path: str) -> str:
        """Return the `aria-current` of its link on a page; empty if the page is elsewhere."""
        if path == self.path:
            return "page"
        return "true" if self is not HOME and self.holds(path) else ""


@dataclass(frozen=True, slots=True)
class Group:
    """Sections under one heading of the sidebar."""

    #: None for the first group, which has no heading.
    name: LazyText | None
    sections: Sequence[Section]


HOME = Section("/portal", lazy_gettext("Home"), "house", key="h")
RECEIPTS = Section(
    "/portal/receipts", lazy_gettext("Inbox"), "inbox", Permission.RECEIPTS_READ, key="i"
)
ANALYTICS = Section(
    "/portal/analytics", lazy_gettext("Analytics"), "chart-column", Permission.ANALYTICS_READ
)

#: The sections by their headings in the sidebar.
GROUPS = (
    Group(None, (RECEIPTS, ANALYTICS)),
    Group(lazy_gettext("Developers"), (
        Section("/portal/keys", lazy_gettext("API keys"), "key-round", Permission.KEYS_READ),
        Section("/portal/webhooks", lazy_gettext("Webhooks"), "webhook", Permission.WEBHOOKS_READ),
    )),
    Group(lazy_gettext("Organization"), (
        Section("/portal/members", lazy_gettext("Members"), "users", Permission.TEAM_READ),
        Section("/portal/billing", lazy_gettext("Billing"), "credit-card", Permission.BILLING_READ,
                is_about_plans=True),
        Section("/portal/audit", lazy_gettext("Audit log"), "scroll-text", Permission.AUDIT_READ),
        Section("/portal/organization", lazy_gettext("Settings"), "settings", Permission.ORG_READ),
    )),
    Group(lazy_gettext("Account"), (
        Section("/portal/security", lazy_gettext("Security"), "shield-check"),
    )),
)  # fmt: skip
_SECTIONS = tuple(section for group in GROUPS for section in group.sections)


def path_of(path: str) -> str:
    """Return the path of a page's section; empty if it belongs to none."""
    section = section_of(path)
    return section.path if section else ""


def section_of(path: str) -> Section | None:
    """Return the section of a page, whose path may have a query; None if it belongs to none."""
    bare = path.partition("?")[0]
    return next((section for section in _SECTIONS if section.holds(bare)), None)


def seen_by(user: SignedIn | None, *, plans: Plans = SOLD) -> list[Section]:
    """Return the sections that a user may see."""
    return [section for group in groups(user, plans=plans) for section in group.sections]


def groups(user: SignedIn | None, *, plans: Plans = SOLD) -> list[Group]:
    """Return the groups of the sidebar with the sections that a user may see."""
    if user is None:
        return []
    found = [Group(one.name, _allowed(one.sections, user, plans)) for one in GROUPS]
    return [group for group in found if group.sections]


def _allowed(sections: Sequence[Section], user: SignedIn, plans: Plans) -> list[Section]:
    member = user.member
    return [
        section
        for section in sections
        if (plans.are_sold or not section.is_about_plans)
        and (section.permission is None or (member is not None and member.may(section.permission)))
    ]
