"""The page of the audit log."""

import re
from collections.abc import Mapping

import httpx
import pytest

from recibo.lib import clock
from tests import people
from tests.installation import Installation
from tests.portal import accounts, forms, pages

PATH = "/portal/audit"
HOSTILE = '</pre><script>alert(1)</script>\u202e"&amp;'


async def shown(i: Installation, query: Mapping[str, str]) -> httpx.Response:
    """Return the page of some filters."""
    answer = await i.stranger.get(PATH, params=query)
    assert answer.status_code == 200, answer.text
    return answer


def actions(answer: httpx.Response) -> list[str]:
    """Return the actions of the entries on a page, from its top."""
    return re.findall(r"<summary>\s*<code>([^<]+)</code>", answer.text)


async def test_entries_are_listed_newest_first_with_their_changes(service: Installation) -> None:
    ana = await people.signed_up(service)
    await forms.sign_in_as(service, ana)
    await service.stranger.post("/v1/api-keys", json={"name": HOSTILE})
    answer = await shown(service, {})
    page = pages.parse(answer)

    assert ["apikey.created", "user.signed_up", "org.created"] == actions(answer)
    assert ana.email in page.text
    assert HOSTILE.replace('"', r"\"") in page.text
    assert "<script" not in answer.text


async def test_filters_are_those_of_the_api(service: Installation) -> None:
    ana = await people.signed_up(service)
    await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    await forms.sign_in_as(service, ana)
    await service.stranger.patch("/v1/org", json={"name": "Aurora"})
    today = clock.now().date()
    tomorrow = (today + accounts.DAY).isoformat()
    found = {
        "action=org.updated": ["org.updated"],
        "action=org.deleted": [],
        "resource_type=user": ["user.signed_up"],
        f"actor={ana.user_id}": ["org.updated", "user.signed_up", "org.created"],
        "actor=usr_unknown": [],
        f"since={tomorrow}": [],
        f"until={tomorrow}&resource_type=org": ["org.updated", "org.created"],
    }

    for query, expected in found.items():
        answer = await shown(service, dict(httpx.QueryParams(query)))
        assert expected == actions(answer), query
        assert bool(expected) != ("No entries match these filters." in answer.text)
        name, _, value = query.partition("&")[0].partition("=")
        assert re.search(f'name="{name}".*?"{re.escape(value)}"', answer.text, re.DOTALL)


async def test_links_to_pages_keep_the_filters(
    sqlite_service: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recibo.portal.audit._ENTRIES_A_PAGE", 2)
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    for name in ("One", "Two", "Three"):
        await sqlite_service.stranger.patch("/v1/org", json={"name": name})
    first = await shown(sqlite_service, {"action": "org.updated"})
    (older,) = [link for link in pages.parse(first).links if "cursor=" in link]
    second = await sqlite_service.stranger.get(older)
    mixed = await sqlite_service.stranger.get(older.replace("org.updated", "org.created"))

    assert ["org.updated"] * 2 == actions(first)
    assert ["org.updated"] == actions(second)
    assert f"{PATH}?action=org.updated" in pages.parse(second).links
    assert 400 == mixed.status_code
    assert "is not a cursor of this list" in pages.parse(mixed).alert


async def test_invalid_filter_has_an_error_at_its_field(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    bad = {"since": "soon", "until": "2026-13-01", "action": "a\0b", "actor": "x" * 999}
    for name, value in bad.items():
        answer = await sqlite_service.stranger.get(PATH, params={name: value})
        assert 400 == answer.status_code, name
        assert pages.parse(answer).by_id[f"{name}-error"]
        assert [] == actions(answer)


async def test_date_filters_include_both_days(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    answer = await shown(sqlite_service, {"since": "0001-01-01", "until": "9999-12-31"})

    assert ["user.signed_up", "org.created"] == actions(answer)
