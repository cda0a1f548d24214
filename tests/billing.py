"""Buys plans the way owners and their browsers do."""

from typing import Any, cast

import httpx

from tests.installation import Installation
from tests.people import Session
from tests.portal import pages

SUCCESS = "https://shop.example/paid?order=7"
CANCEL = "https://shop.example/not-paid"
BACK = "https://shop.example/billing"


async def subscription(i: Installation, who: Session) -> dict[str, Any]:
    """Return the subscription as the API reports it."""
    answer = await i.stranger.get("/v1/billing/subscription", headers=who.headers)
    assert answer.status_code == 200, answer.text
    return cast("dict[str, Any]", answer.json())


async def ask_checkout(i: Installation, who: Session, **changes: Any) -> httpx.Response:
    """Ask for a checkout page."""
    body = {"plan": "indie", "success_url": SUCCESS, "cancel_url": CANCEL, **changes}
    url = "/v1/billing/checkout-session"
    return await i.stranger.post(url, json=body, headers=who.headers)


async def checkout(i: Installation, who: Session, plan: str = "indie", **changes: Any) -> str:
    """Return the address of a checkout page."""
    answer = await ask_checkout(i, who, plan=plan, **changes)
    assert answer.status_code == 200, answer.text
    assert ["url"] == list(answer.json())
    return str(answer.json()["url"])


async def ask_portal(i: Installation, who: Session, return_url: Any = BACK) -> httpx.Response:
    """Ask for a portal page."""
    url = "/v1/billing/portal-session"
    return await i.stranger.post(url, json={"return_url": return_url}, headers=who.headers)


async def portal(i: Installation, who: Session) -> str:
    """Return the address of a portal page."""
    answer = await ask_portal(i, who)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["url"])


async def click(i: Installation, url: str, label: str) -> httpx.Response:
    """Click a button of a page, found by the beginning of its label."""
    answer = await i.stranger.get(url)
    assert answer.status_code == 200, answer.text
    for action, text, fields in pages.forms_with_buttons(answer):
        if text.startswith(label):
            return await i.stranger.post(action, data=fields)
    raise AssertionError((label, pages.parse(answer).text))


async def bought(i: Installation, who: Session, plan: str = "indie") -> None:
    """Buy a plan in the sandbox."""
    answer = await click(i, await checkout(i, who, plan), "Pay")
    assert (303, SUCCESS) == (answer.status_code, answer.headers["location"])
