"""The theme of the pages: light, dark, or that of the system. A cookie stores the choice."""

from enum import StrEnum
from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import BaseModel

from recibo.portal import choices, forms, pages, routers
from recibo.web.services import TheServices

router = routers.make("/portal/theme")


class Theme(StrEnum):
    """The theme of the pages."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class ThemeForm(BaseModel):
    """The chosen theme, and the page to return to."""

    theme: Theme
    next: str = ""


@router.post("")
async def choose_theme(
    request: Request,
    services: TheServices,
    form: Annotated[ThemeForm, Depends(forms.plain(ThemeForm))],
) -> Response:
    """Store the theme in a cookie of the browser."""
    return choices.remember(
        request, services, cookie=pages.THEME_COOKIE, value=form.theme, next_path=form.next
    )
