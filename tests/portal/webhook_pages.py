"""Open the pages of webhooks and submit their forms."""

import re

import httpx
from sqlalchemy import update

from recibo.lib import clock
from recibo.schemas.ids import OrgId
from recibo.store import tables
from tests.installation import Installation
from tests.people import Session
from tests.portal import accounts, pages

PATH = "/portal/webhooks"
URL = "https://hooks.acme.test/recibo"
SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")


async def sign_in_as(i: Installation, who: Session) -> httpx.AsyncClient:
    """Set a session's cookie in the client."""
    i.stranger.cookies.clear()
    i.stranger.cookies.set("service_access", who.tokens["access_token"])
    return i.stranger


async def sign_up_owner(i: Installation) -> OrgId:
    """Sign up the owner of a new org and return the org's id."""
    await accounts.sign_up(i.stranger)
    me = await i.stranger.get("/v1/auth/me")
    return OrgId(me.json()["org"]["id"])


async def post(i: Installation, path: str = "", **fields: str) -> httpx.Response:
    """Submit a form of the page."""
    return await i.stranger.post(f"{PATH}{path}", data=fields)


async def submit(i: Installation, path: str = "", **fields: str) -> pages.Page:
    """Submit a form of the page, and return the page it redirects to."""
    answer = await post(i, path, **fields)
    return pages.parse(await i.stranger.get(accounts.redirect_target(answer)))


async def get(i: Installation, path: str = "") -> httpx.Response:
    """Return the page."""
    answer = await i.stranger.get(f"{PATH}{path}")
    assert answer.status_code == 200, answer.text
    return answer


async def endpoint_row(i: Installation) -> tables.WebhookEndpoint | None:
    """Return the only endpoint there is."""
    rows = await i.rows(tables.WebhookEndpoint)
    return rows[0] if rows else None


async def endpoint_rows(i: Installation) -> list[tables.WebhookEndpoint]:
    """Return all endpoints, the oldest first."""
    return sorted(await i.rows(tables.WebhookEndpoint), key=lambda one: one.id)


async def disable_endpoint(i: Installation) -> None:
    """Disable the endpoint, as the dispatcher does after a long failure."""
    async with i.database.write() as session:
        values = {"failing_since": clock.now() - 5 * accounts.DAY, "disabled_at": clock.now()}
        await session.execute(update(tables.WebhookEndpoint).values(values))


def form_actions(text: str) -> set[str]:
    """Return the actions of a page's forms."""
    return set(re.findall(r'<form method="post" action="([^"]+)"', text)) - {"/portal/sign-out"}
