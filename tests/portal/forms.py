"""Sections of the portal: who looks at them, and the buttons that are pressed there."""

import re

import httpx

from tests.installation import Installation
from tests.people import Session
from tests.portal import accounts, pages


async def sign_in_as(i: Installation, who: Session) -> httpx.AsyncClient:
    """Give the browser somebody's session."""
    i.stranger.cookies.clear()
    i.stranger.cookies.set("service_access", who.tokens["access_token"])
    return i.stranger


async def get_page(i: Installation, path: str) -> pages.Page:
    """Return a page that is there."""
    answer = await i.stranger.get(path)
    assert answer.status_code == 200, answer.text
    return pages.parse(answer)


async def submit(i: Installation, path: str, **fields: str) -> pages.Page:
    """Send a form that is taken, and return the page that it leads to."""
    answer = await i.stranger.post(path, data=fields)
    return pages.parse(await i.stranger.get(accounts.redirect_target(answer)))


async def submit_refused(i: Installation, path: str, status: int, **fields: str) -> pages.Page:
    """Send a form that is refused, and return the page that says why."""
    answer = await i.stranger.post(path, data=fields)
    assert answer.status_code == status, answer.text
    return pages.parse(answer)


def form_actions(page: pages.Page, beginning: str) -> set[str]:
    """Return where the forms of a page lead, of those that begin so."""
    found = {action or "" for _, action in page.forms}
    return {one for one in found if re.match(re.escape(beginning), one)}
