"""Sections of the portal: who looks at them, and the buttons that are pressed there."""

import re

import httpx

from tests.installation import Installation
from tests.people import Session
from tests.portal import looking, visits


async def browser_of(i: Installation, who: Session) -> httpx.AsyncClient:
    """Give the browser somebody's session."""
    i.stranger.cookies.clear()
    i.stranger.cookies.set("service_access", who.tokens["access_token"])
    return i.stranger


async def shown(i: Installation, path: str) -> looking.Page:
    """Return a page that is there."""
    answer = await i.stranger.get(path)
    assert answer.status_code == 200, answer.text
    return looking.at(answer)


async def pressed(i: Installation, path: str, **fields: str) -> looking.Page:
    """Send a form that is taken, and return the page that it leads to."""
    answer = await i.stranger.post(path, data=fields)
    return looking.at(await i.stranger.get(visits.led_to(answer)))


async def refused(i: Installation, path: str, status: int, **fields: str) -> looking.Page:
    """Send a form that is refused, and return the page that says why."""
    answer = await i.stranger.post(path, data=fields)
    assert answer.status_code == status, answer.text
    return looking.at(answer)


def actions(page: looking.Page, beginning: str) -> set[str]:
    """Return where the forms of a page lead, of those that begin so."""
    found = {action or "" for _, action in page.forms}
    return {one for one in found if re.match(re.escape(beginning), one)}
