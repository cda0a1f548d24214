"""Whether single keys act on the pages: WCAG 2.1.4 requires a way to turn them off."""

from enum import StrEnum
from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import BaseModel

from recibo.portal import choices, forms, pages, routers
from recibo.web.services import TheServices

router = routers.make("/portal/shortcuts")


class Keys(StrEnum):
    """Whether single keys act."""

    ON = "on"
    OFF = "off"


class KeysForm(BaseModel):
    """The choice, and the page to return to."""

    keys: Keys
    next: str = ""


@router.post("")
async def choose(
    request: Request,
    services: TheServices,
    form: Annotated[KeysForm, Depends(forms.plain(KeysForm))],
) -> Response:
    """Store the choice in a cookie of the browser."""
    return choices.remember(
        request, services, cookie=pages.KEYS_COOKIE, value=form.keys, next_path=form.next
    )
