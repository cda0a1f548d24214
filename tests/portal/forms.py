"""Open pages of the portal and submit their forms."""

import re

import httpx

from tests.installation import Installation
from tests.people import Session
from tests.portal import accounts, pages


async def sign_in_as(i: Installation, who: Session) -> httpx.AsyncClient:
    """Set a session's cookie in the client."""
    i.stranger.cookies.clear()
    i.stranger.cookies.set("service_access", who.tokens["access_token"])
    return i.stranger


async def get_page(i: Installation, path: str) -> pages.Page:
    """Return a page, which must exist."""
    answer = await i.stranger.get(path)
    assert answer.status_code == 200, answer.text
    return pages.parse(answer)


async def submit(i: Installation, path: str, **fields: str) -> pages.Page:
    """Submit a form, which must be accepted, and return the page it redirects to."""
    answer = await i.stranger.post(path, data=fields)
    return pages.parse(await i.stranger.get(accounts.redirect_target(answer)))


async def submit_refused(i: Installation, path: str, status: int, **fields: str) -> pages.Page:
    """Submit a form, which must be refused, and return the page with the error."""
    answer = await i.stranger.post(path, data=fields)
    assert answer.status_code == status, answer.text
    return pages.parse(answer)


def form_actions(page: pages.Page, beginning: str) -> set[str]:
    """Return the actions of a page's forms that start with a path."""
    found = {action or "" for _, action in page.forms}
    return {one for one in found if re.match(re.escape(beginning), one)}
