"""The webhook endpoint of an org and its secrets, on a page of the portal."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from recibo.lib import clock
from recibo.schemas.ids import EndpointId
from recibo.services.webhooks import signing
from tests import installation
from tests.installation import Installation
from tests.portal import hooks, looking, visits

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror='x'>\u202e\"&amp;"
# Which secret to rotate.
ENDPOINT, ORG = {"secret": "endpoint"}, {"secret": "org"}


async def test_home_leads_there(service: Installation) -> None:
    await hooks.owner(service)
    home = await visits.home(service.stranger)

    assert home is not None
    assert hooks.PATH in home.links


async def test_endpoint_is_set_by_a_plain_form(service: Installation) -> None:
    org_id = await hooks.owner(service)
    before = looking.at(await hooks.shown(service))
    after = await hooks.pressed(service, url=f"  {hooks.URL} ")

    row = await hooks.endpoint(service)
    assert ("post", hooks.PATH) in before.forms
    assert ("url", "") == (before.inputs["url"]["type"], before.inputs["url"]["value"])
    assert row is not None
    assert (org_id, hooks.URL) == (row.org_id, row.url)
    assert hooks.URL == after.inputs["url"]["value"]
    assert "The endpoint is set." in after.by_role["status"]


async def test_secret_of_an_endpoint_is_there_when_the_endpoint_is(service: Installation) -> None:
    await hooks.owner(service)
    before = await hooks.shown(service)
    await hooks.pressed(service, url=hooks.URL)
    after = await hooks.shown(service)

    (of_org,) = hooks.SECRET.findall(before.text)
    of_endpoint, second = hooks.SECRET.findall(after.text)
    assert of_org == second != of_endpoint
    assert (
        "Signing secret of the default endpoint Signs events that are sent to the endpoint above. "
        "Set an endpoint first." in looking.at(before).text
    )
    text = looking.at(after).text
    assert 1 == len(
        re.findall(
            f"Signing secret of the default endpoint .{{,60}} {re.escape(of_endpoint)}", text
        )
    )
    assert 1 == len(
        re.findall(f"Signing secret of per-request webhook_url .{{,60}} {re.escape(of_org)}", text)
    )
    assert "no-store" == after.headers["cache-control"]


async def test_secrets_are_those_that_sign(service: Installation) -> None:
    org_id = await hooks.owner(service)
    await hooks.pressed(service, url=hooks.URL)
    found = hooks.SECRET.findall((await hooks.shown(service)).text)
    row = await hooks.endpoint(service)
    assert row is not None

    async with service.database.write() as session:
        keyring = service.services.identity.keyring
        owners = (org_id, EndpointId(row.id))
        signed = await signing.of(session, keyring, org_id, owners)

    assert [signed[row.id].current, signed[org_id].current] == found


async def test_secrets_stay_until_they_are_rotated(service: Installation) -> None:
    await hooks.owner(service)
    await hooks.pressed(service, url=hooks.URL)
    first = hooks.SECRET.findall((await hooks.shown(service)).text)
    await hooks.pressed(service, url=hooks.URL + "/other")
    second = hooks.SECRET.findall((await hooks.shown(service)).text)
    said = await hooks.pressed(service, "/rotate", **ENDPOINT)
    third = hooks.SECRET.findall((await hooks.shown(service)).text)
    await hooks.pressed(service, "/rotate", **ORG)
    fourth = hooks.SECRET.findall((await hooks.shown(service)).text)

    assert first == second
    assert first[0] != third[0]
    assert first[1] == third[1]
    assert third[0] == fourth[0]
    assert third[1] != fourth[1]
    assert "stays valid for 24 hours" in said.by_role["status"]


async def test_end_of_the_secret_before_is_told_until_it_comes(service: Installation) -> None:
    await hooks.owner(service)
    await hooks.pressed(service, url=hooks.URL)
    until = clock.now() + signing.OVERLAP
    await hooks.pressed(service, "/rotate", **ENDPOINT)
    during = looking.at(await hooks.shown(service)).text
    with clock.moved(signing.OVERLAP):
        after = looking.at(await hooks.shown(service)).text

    assert 1 == during.count("The previous secret stays valid until")
    assert f"stays valid until {until:%Y-%m-%d %H:}" in during
    assert "The previous secret" not in after


async def test_removed_endpoint_takes_its_secret_along(service: Installation) -> None:
    await hooks.owner(service)
    await hooks.pressed(service, url=hooks.URL)
    of_endpoint, of_org = hooks.SECRET.findall((await hooks.shown(service)).text)
    said = await hooks.pressed(service, "/remove")
    left = hooks.SECRET.findall((await hooks.shown(service)).text)
    await hooks.pressed(service, url=hooks.URL)
    anew = hooks.SECRET.findall((await hooks.shown(service)).text)

    assert "The endpoint is removed, with its signing secret." == said.by_role["status"]
    assert [of_org] == left
    assert of_org == anew[1]
    assert of_endpoint != anew[0]


REFUSED = {
    "": "Endpoint URL must be a URL that begins with http:// or https://.",
    "hooks.acme.test": "Endpoint URL must be a URL that begins with http:// or https://.",
    "ftp://hooks.acme.test/x": "Endpoint URL must be a URL that begins with http:// or https://.",
    "javascript:alert(1)": "Endpoint URL must be a URL that begins with http:// or https://.",
    "https://": "Endpoint URL must be a URL that begins with http:// or https://.",
    "https://ana:secret@hooks.acme.test/": "Endpoint URL must not hold a user name or password.",
    "http://169.254.169.254/": "Endpoint URL points to an address that webhooks are not sent to.",
    "http://[fe80::1]/": "Endpoint URL points to an address that webhooks are not sent to.",
    "https://a.test/" + "x" * 2048: (
        "Endpoint URL must be a URL of at most 2048 printable characters."
    ),
    "https://a.test/\r\nx": "Endpoint URL must be a URL of at most 2048 printable characters.",
    "https://a.test:0/": "Endpoint URL must not name port 0.",
    "https://a.test:99999/": "Endpoint URL is not a URL.",
    f"https://a.test/{HOSTILE}": (
        "Endpoint URL must be a URL of at most 2048 printable characters."
    ),
    "https://<script>/": "Endpoint URL must name a host.",
}


async def test_url_that_is_refused_stands_there_with_the_reason(door: Installation) -> None:
    await hooks.owner(door)
    for url, said in REFUSED.items():
        answer = await hooks.press(door, url=url)
        page = looking.at(answer)
        assert 400 == answer.status_code
        assert url.strip() == page.inputs["url"]["value"]
        assert said == page.error("url")
        assert "Please correct the fields marked below." == page.alert
        assert page.title.startswith("Error: ")
        assert "<script" not in answer.text
        assert "Signing secret of per-request webhook_url" in page.text

    assert await hooks.endpoint(door) is None


async def test_form_without_its_field_is_refused_beside_it(door: Installation) -> None:
    await hooks.owner(door)
    answer = await hooks.press(door, colour="red")

    assert 400 == answer.status_code
    assert "begins with" in looking.at(answer).error("url")


async def test_url_of_a_megabyte_is_refused(door: Installation) -> None:
    await hooks.owner(door)
    answer = await hooks.press(door, url="https://a.test/" + "x" * 1024 * 1024)

    assert 400 == answer.status_code
    assert "larger than 64 KB" in looking.at(answer).text
    assert await hooks.endpoint(door) is None


async def test_private_addresses_and_http_are_refused_where_they_are_not_allowed(
    sqlite_url: str, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {
        "environment": "production",
        "secret_key": "s" * 40,
        "base_url": "https://recibo.test",
        "email_url": "smtp://127.0.0.1:1",
    }
    async with installation.start(sqlite_url, tmp_path, with_worker=False, **settings) as i:
        i.stranger.base_url = httpx.URL("https://recibo.test")
        await visits.sign_up(i.stranger, email="ana@gmail.com")
        answers = [
            await hooks.press(i, url=url)
            for url in (
                "https://127.0.0.1/",
                "https://10.0.0.1/",
                "http://hooks.acme.test/",
                hooks.URL,
            )
        ]
        hint = looking.at(await hooks.shown(i)).by_id["url-hint"]

    assert [400, 400, 400, 303] == [answer.status_code for answer in answers]
    assert hint.endswith("It begins with https://.")


async def test_private_addresses_are_taken_in_development(door: Installation) -> None:
    await hooks.owner(door)

    assert 303 == (await hooks.press(door, url="http://127.0.0.1:9000/hook")).status_code


async def test_endpoint_that_failed_too_long_says_so_and_is_switched_on_again(
    service: Installation,
) -> None:
    await hooks.owner(service)
    await hooks.pressed(service, url=hooks.URL)
    await hooks.switch_off(service)
    off = await hooks.shown(service)
    refused = await hooks.press(service, "/test")
    said = await hooks.pressed(service, "/enable")
    on = await hooks.shown(service)

    assert "Disabled since" in looking.at(off).text
    assert f"{hooks.PATH}/test" not in hooks.actions(off.text)
    assert 409 == refused.status_code
    assert "switch it on first" in looking.at(refused).alert
    assert "enabled again" in said.by_role["status"]
    assert "Switched off" not in looking.at(on).text
    assert f"{hooks.PATH}/enable" not in hooks.actions(on.text)
    row = await hooks.endpoint(service)
    assert row is not None
    assert (None, None) == (row.disabled_at, row.failing_since)


@pytest.mark.parametrize("path", ["/test", "/enable", "/remove"])
async def test_without_an_endpoint_its_buttons_say_to_set_one(
    service: Installation, path: str
) -> None:
    await hooks.owner(service)
    answer = await hooks.press(service, path)

    assert 404 == answer.status_code
    assert "set its URL first" in looking.at(answer).alert
    assert f"{hooks.PATH}{path}" not in hooks.actions(answer.text)


@pytest.mark.parametrize("form", [{}, {"secret": ""}, {"secret": "both"}])
async def test_rotation_names_one_of_the_two(door: Installation, form: dict[str, str]) -> None:
    await hooks.owner(door)

    assert 400 == (await hooks.press(door, "/rotate", **form)).status_code


@pytest.mark.parametrize("notice", ["<script>", "nothing", "set&notice=x"])
async def test_page_says_nothing_that_its_address_makes_up(door: Installation, notice: str) -> None:
    await hooks.owner(door)

    assert "status" not in looking.at(await hooks.shown(door, f"?notice={notice}")).by_role
