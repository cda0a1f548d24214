"""The theme that a browser keeps."""

import pytest

from tests.installation import Installation
from tests.portal import accounts


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_chosen_theme_is_kept(sqlite_service: Installation, theme: str) -> None:
    form = {"theme": theme, "next": "/portal/sign-up?next=%2Fportal%2Fkeys"}
    answer = await sqlite_service.stranger.post("/portal/theme", data=form)
    page = await sqlite_service.stranger.get("/portal/sign-in")
    await sqlite_service.stranger.post("/portal/theme", data={"theme": "system"})
    after = await sqlite_service.stranger.get("/portal/sign-in")

    assert form["next"] == accounts.redirect_target(answer)
    assert f'data-theme="{theme}"' in page.text
    assert "data-theme" not in after.text
    assert 1 == page.text.count('name="theme-color"')
    assert 2 == after.text.count('name="theme-color"')


@pytest.mark.parametrize("theme", ["", "blue", '"><script>'])
async def test_unknown_theme_is_refused_and_ignored(
    sqlite_service: Installation, theme: str
) -> None:
    refused = await sqlite_service.stranger.post("/portal/theme", data={"theme": theme})
    sqlite_service.stranger.cookies.set("service_theme", "blue")
    page = await sqlite_service.stranger.get("/portal/sign-in")

    assert 400 == refused.status_code
    assert "data-theme" not in page.text


async def test_redirect_stays_on_the_site(sqlite_service: Installation) -> None:
    form = {"theme": "dark", "next": "https://evil.example/"}
    answer = await sqlite_service.stranger.post("/portal/theme", data=form)

    assert "/portal" == accounts.redirect_target(answer)
