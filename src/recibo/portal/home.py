"""The home page of signed-in users."""

from dataclasses import dataclass

from fastapi import Request, Response

from recibo.portal import navigation, pages, routers
from recibo.portal.request_user import TheUser
from recibo.schemas.actor import SignedIn
from recibo.schemas.permissions import Permission
from recibo.schemas.plans import Plans
from recibo.web.services import TheServices

router = routers.make()

_DOCUMENTS = "/docs"


@dataclass(frozen=True, slots=True)
class Card:
    """A link on the home page, and what a member can do there."""

    path: str
    name: str
    about: str
    permission: Permission


# For each page, the first card that the member's role allows is shown.
_CARDS = (
    Card("/portal/receipts", "Receipts", "Upload photos, scans and PDFs, and see what was read.",
         Permission.RECEIPTS_WRITE),
    Card("/portal/receipts", "Receipts", "See the receipts of the organization and what was read.",
         Permission.RECEIPTS_READ),
    Card("/portal/keys", "API keys", "Create keys for the programs that upload receipts.",
         Permission.KEYS_WRITE),
    Card("/portal/analytics", "Analytics", "See readings by day, categories and top merchants.",
         Permission.ANALYTICS_READ),
    Card("/portal/members", "Members", "Invite colleagues and change their roles.",
         Permission.TEAM_INVITE),
    Card("/portal/billing", "Billing", "See what is used, change the plan and manage payments.",
         Permission.BILLING_WRITE),
    Card("/portal/billing", "Billing", "See the plan and how much of it is used.",
         Permission.BILLING_READ),
    Card(_DOCUMENTS, "API documentation", "Look up every request and try it in your own session.",
         Permission.KEYS_READ),
)  # fmt: skip


@router.get("/portal")
async def home(request: Request, user: TheUser, services: TheServices) -> Response:
    """Show the user, org and role, and links to the pages that the role may use."""
    return pages.show(
        request, "home.html", user=user, cards=_offered(user, services.identity.plans)
    )


def _offered(user: SignedIn, plans: Plans) -> list[Card]:
    seen = {one.path for one in navigation.seen_by(user, plans=plans)} | {_DOCUMENTS}
    offered: dict[str, Card] = {}
    for card in _CARDS:
        is_allowed = user.member is not None and user.member.may(card.permission)
        if is_allowed and card.path in seen:
            offered.setdefault(card.path, card)
    return list(offered.values())
