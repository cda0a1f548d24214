"""The page of API keys."""

import datetime as dt
import re

import httpx
import pytest

from recibo.lib import clock
from recibo.portal import formats
from recibo.schemas.states import Role
from recibo.store import tables
from tests import people
from tests.installation import Installation
from tests.portal import forms, pages

PATH = "/portal/keys"
SECRET = re.compile(r"(?:sk_live|pk_publishable)_\w{38}")
HOSTILE = "</p><script>alert(1)</script>\"'&amp;"


async def made(i: Installation, **form: str) -> tuple[str, httpx.Response]:
    """Make a key on the page, and return its secret and the page that shows it."""
    fields = {"name": "Expenses", "kind": "secret", "read": "on", "write": "on"}
    answer = await i.stranger.post(PATH, data={**fields, **form})
    assert answer.status_code == 200, answer.text
    (secret,) = set(SECRET.findall(answer.text))
    return secret, answer


async def own(i: Installation, secret: str) -> httpx.Response:
    """Ask the API what a key is."""
    return await i.get("/key", secret=secret)


async def test_key_is_created_with_its_secret_shown_once_and_revoked(service: Installation) -> None:
    await forms.sign_in_as(service, await people.signed_up(service))
    last_day = clock.now().date() + dt.timedelta(days=30)
    secret, answer = await made(service, name=HOSTILE, write="", last_day=last_day.isoformat())
    works = (await own(service, secret)).json()
    again = await service.stranger.get(PATH)
    said = await forms.submit(service, f"{PATH}/{works['id']}/revoke")
    after = await service.stranger.get(PATH)

    assert "no-store" == answer.headers["cache-control"]
    assert (HOSTILE, ["read"]) == (works["name"], works["scopes"])
    day_after = (last_day + dt.timedelta(days=1)).isoformat()
    assert f"{day_after}T00:00:00Z" == works["expires_at"]
    assert "<script>" not in answer.text
    assert f"{secret[:8]}…{secret[-4:]}" in pages.parse(again).text
    assert [] == SECRET.findall(again.text)
    assert "X-API-Key: YOUR_API_KEY" in pages.parse(again).text
    assert "YOUR_API_KEY" not in answer.text
    assert "is revoked" in said.by_role["status"]
    assert "1 revoked or expired" in pages.parse(after).text
    assert set() == forms.form_actions(pages.parse(after), f"{PATH}/")
    assert 401 == (await own(service, secret)).status_code


async def test_publishable_key_has_its_fixed_scope(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    _, page = await made(sqlite_service, kind="publishable")

    assert "Publishable extract:write" in pages.parse(page).text


@pytest.mark.parametrize(
    ("field", "form", "said"),
    [
        ("name", {"name": " "}, "Name must have 1 to 255 characters."),
        ("name", {"name": "x" * 256}, "Name must have 1 to 255 characters."),
        ("last_day", {"last_day": "soon"}, "Last day must be a date, such as 2027-01-31."),
        ("last_day", {"last_day": "9999-12-31"}, "Last day must be a date, such as 2027-01-31."),
        ("last_day", {"last_day": "2020-01-01"}, "Last day must not be in the past."),
    ],
)
async def test_refused_values_are_shown_with_the_reason(
    sqlite_service: Installation, field: str, form: dict[str, str], said: str
) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    filled = {"name": "Expenses", "kind": "publishable", "extract": "on", **form}
    page = await forms.submit_refused(sqlite_service, PATH, 400, **filled)

    assert said == page.error(field)
    assert filled[field].strip() == page.inputs[field]["value"]
    assert "checked" in page.inputs["extract"]
    assert "checked" not in page.inputs["read"]
    # The demo org has one.
    assert 1 == len(await sqlite_service.rows(tables.ApiKey))


async def test_secret_key_needs_a_scope_and_a_valid_kind(
    sqlite_service: Installation,
) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    no_scope = await forms.submit_refused(sqlite_service, PATH, 400, name="Expenses")
    no_kind = await forms.submit_refused(
        sqlite_service, PATH, 400, name="Expenses", kind="golden", read="on"
    )

    assert "Select at least one scope." in no_scope.by_id["scopes-error"]
    assert "must be one of secret, publishable" in no_kind.by_id["kind-error"]


async def test_developer_revokes_only_own_keys(service: Installation) -> None:
    ana = await people.signed_up(service)
    dev = await people.joined(service, ana, Role.DEVELOPER)
    await forms.sign_in_as(service, ana)
    anas, _ = await made(service, name="Anas")
    await forms.sign_in_as(service, dev)
    devs, _ = await made(service, name="Devs")
    page = await forms.get_page(service, PATH)
    anas_id = (await own(service, anas)).json()["id"]
    devs_id = (await own(service, devs)).json()["id"]
    refused = await forms.submit_refused(service, f"{PATH}/{anas_id}/revoke", 403)

    assert {f"{PATH}/{devs_id}/revoke"} == forms.form_actions(page, f"{PATH}/")
    assert f"{ana.email} {formats.day(clock.now())}" in page.text
    assert "Your role does not allow this." in refused.text
    assert 200 == (await own(service, anas)).status_code


async def test_keys_of_another_org_cannot_be_seen_or_revoked(service: Installation) -> None:
    ana = await people.signed_up(service)
    bea = await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    await forms.sign_in_as(service, ana)
    secret, _ = await made(service, name="Anas key")
    key_id = (await own(service, secret)).json()["id"]
    await forms.sign_in_as(service, bea)
    page = await forms.get_page(service, PATH)

    assert "Anas key" not in page.text
    await forms.submit_refused(service, f"{PATH}/{key_id}/revoke", 404)
    await forms.submit_refused(service, f"{PATH}/nothing/revoke", 404)
    assert 200 == (await own(service, secret)).status_code
