"""The webhook endpoint of an org and its secrets, on a page of the portal."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from recibo.lib import clock
from recibo.portal import formats
from recibo.schemas.ids import EndpointId
from recibo.services.webhooks import signing
from tests import installation
from tests.databases import ON_SQLITE
from tests.installation import Installation
from tests.portal import accounts, pages, webhook_pages

pytestmark = ON_SQLITE

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror='x'>\u202e\"&amp;"
# Which secret to rotate.
ENDPOINT, ORG = {"secret": "endpoint"}, {"secret": "org"}


async def test_home_links_to_webhooks(service: Installation) -> None:
    await webhook_pages.sign_up_owner(service)
    home = await accounts.home(service.stranger)

    assert home is not None
    assert webhook_pages.PATH in home.links


async def test_endpoint_is_set_by_a_plain_form(service: Installation) -> None:
    org_id = await webhook_pages.sign_up_owner(service)
    before = pages.parse(await webhook_pages.get(service))
    after = await webhook_pages.submit(service, url=f"  {webhook_pages.URL} ")

    row = await webhook_pages.endpoint_row(service)
    assert ("post", webhook_pages.PATH) in before.forms
    assert ("url", "") == (before.inputs["url"]["type"], before.inputs["url"]["value"])
    assert row is not None
    assert (org_id, webhook_pages.URL) == (row.org_id, row.url)
    assert webhook_pages.URL == after.inputs["url"]["value"]
    assert "The endpoint is set." in after.by_role["status"]


async def test_endpoint_secret_exists_only_with_an_endpoint(service: Installation) -> None:
    await webhook_pages.sign_up_owner(service)
    before = await webhook_pages.get(service)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    after = await webhook_pages.get(service)

    (of_org,) = webhook_pages.SECRET.findall(before.text)
    of_endpoint, second = webhook_pages.SECRET.findall(after.text)
    assert of_org == second != of_endpoint
    assert (
        "Signing secret of the default endpoint Set an endpoint first. "
        "Signs events that are sent to the endpoint above." in pages.parse(before).text
    )
    text = pages.parse(after).text
    assert 1 == text.count(f"Signing secret of the default endpoint {of_endpoint} ")
    assert 1 == text.count(f"Signing secret of per-request webhook_url {of_org} ")
    assert "no-store" == after.headers["cache-control"]


async def test_shown_secrets_are_used_for_signing(service: Installation) -> None:
    org_id = await webhook_pages.sign_up_owner(service)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    found = webhook_pages.SECRET.findall((await webhook_pages.get(service)).text)
    row = await webhook_pages.endpoint_row(service)
    assert row is not None

    async with service.database.write() as session:
        keyring = service.services.identity.keyring
        owners = (org_id, EndpointId(row.id))
        signed = await signing.of(session, keyring, org_id, owners)

    assert [signed[row.id].current, signed[org_id].current] == found


async def test_secrets_change_only_on_rotation(service: Installation) -> None:
    await webhook_pages.sign_up_owner(service)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    first = webhook_pages.SECRET.findall((await webhook_pages.get(service)).text)
    await webhook_pages.submit(service, url=webhook_pages.URL + "/other")
    second = webhook_pages.SECRET.findall((await webhook_pages.get(service)).text)
    said = await webhook_pages.submit(service, "/rotate", **ENDPOINT)
    third = webhook_pages.SECRET.findall((await webhook_pages.get(service)).text)
    await webhook_pages.submit(service, "/rotate", **ORG)
    fourth = webhook_pages.SECRET.findall((await webhook_pages.get(service)).text)

    assert first == second
    assert first[0] != third[0]
    assert first[1] == third[1]
    assert third[0] == fourth[0]
    assert third[1] != fourth[1]
    assert "stays valid for 24 hours" in said.by_role["status"]


async def test_expiry_of_the_previous_secret_is_shown(service: Installation) -> None:
    await webhook_pages.sign_up_owner(service)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    until = clock.now() + signing.OVERLAP
    await webhook_pages.submit(service, "/rotate", **ENDPOINT)
    during = pages.parse(await webhook_pages.get(service)).text
    with clock.moved(signing.OVERLAP):
        after = pages.parse(await webhook_pages.get(service)).text

    assert 1 == during.count("The previous secret stays valid until")
    assert f"stays valid until {formats.day(until)}, {until:%H:}" in during
    assert "The previous secret" not in after


async def test_removing_the_endpoint_removes_its_secret(service: Installation) -> None:
    await webhook_pages.sign_up_owner(service)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    of_endpoint, of_org = webhook_pages.SECRET.findall((await webhook_pages.get(service)).text)
    said = await webhook_pages.submit(service, "/remove")
    left = webhook_pages.SECRET.findall((await webhook_pages.get(service)).text)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    new_secrets = webhook_pages.SECRET.findall((await webhook_pages.get(service)).text)

    assert "The endpoint is removed, with its signing secret." == said.by_role["status"]
    assert [of_org] == left
    assert of_org == new_secrets[1]
    assert of_endpoint != new_secrets[0]


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


async def test_refused_url_is_shown_with_the_reason(
    sqlite_service: Installation,
) -> None:
    await webhook_pages.sign_up_owner(sqlite_service)
    for url, said in REFUSED.items():
        answer = await webhook_pages.post(sqlite_service, url=url)
        page = pages.parse(answer)
        assert 400 == answer.status_code
        assert url.strip() == page.inputs["url"]["value"]
        assert said == page.error("url")
        assert "Please correct the fields marked below." == page.alert
        assert page.title.startswith("Error: ")
        assert "<script>" not in answer.text
        assert "Signing secret of per-request webhook_url" in page.text

    assert await webhook_pages.endpoint_row(sqlite_service) is None


async def test_form_without_url_has_an_error_at_the_field(sqlite_service: Installation) -> None:
    await webhook_pages.sign_up_owner(sqlite_service)
    answer = await webhook_pages.post(sqlite_service, colour="red")

    assert 400 == answer.status_code
    assert "begins with" in pages.parse(answer).error("url")


async def test_url_of_a_megabyte_is_refused(sqlite_service: Installation) -> None:
    await webhook_pages.sign_up_owner(sqlite_service)
    answer = await webhook_pages.post(sqlite_service, url="https://a.test/" + "x" * 1024 * 1024)

    assert 400 == answer.status_code
    assert "larger than 64 KB" in pages.parse(answer).text
    assert await webhook_pages.endpoint_row(sqlite_service) is None


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
        await accounts.sign_up(i.stranger, email="ana@gmail.com")
        answers = [
            await webhook_pages.post(i, url=url)
            for url in (
                "https://127.0.0.1/",
                "https://10.0.0.1/",
                "http://hooks.acme.test/",
                webhook_pages.URL,
            )
        ]
        hint = pages.parse(await webhook_pages.get(i)).by_id["url-hint"]

    assert [400, 400, 400, 303] == [answer.status_code for answer in answers]
    assert hint.endswith("It begins with https://.")


async def test_private_addresses_are_allowed_in_development(sqlite_service: Installation) -> None:
    await webhook_pages.sign_up_owner(sqlite_service)

    assert (
        303
        == (await webhook_pages.post(sqlite_service, url="http://127.0.0.1:9000/hook")).status_code
    )


async def test_disabled_endpoint_says_so_and_can_be_enabled(
    service: Installation,
) -> None:
    await webhook_pages.sign_up_owner(service)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    await webhook_pages.disable_endpoint(service)
    off = await webhook_pages.get(service)
    refused = await webhook_pages.post(service, "/test")
    said = await webhook_pages.submit(service, "/enable")
    on = await webhook_pages.get(service)

    assert "Disabled since" in pages.parse(off).text
    assert f"{webhook_pages.PATH}/test" not in webhook_pages.form_actions(off.text)
    assert 409 == refused.status_code
    assert "switch it on first" in pages.parse(refused).alert
    assert "enabled again" in said.by_role["status"]
    assert "Switched off" not in pages.parse(on).text
    assert f"{webhook_pages.PATH}/enable" not in webhook_pages.form_actions(on.text)
    row = await webhook_pages.endpoint_row(service)
    assert row is not None
    assert (None, None) == (row.disabled_at, row.failing_since)


@pytest.mark.parametrize("path", ["/test", "/enable", "/remove"])
async def test_actions_without_an_endpoint_say_to_set_one(service: Installation, path: str) -> None:
    await webhook_pages.sign_up_owner(service)
    answer = await webhook_pages.post(service, path)

    assert 404 == answer.status_code
    assert "set its URL first" in pages.parse(answer).alert
    assert f"{webhook_pages.PATH}{path}" not in webhook_pages.form_actions(answer.text)


@pytest.mark.parametrize("form", [{}, {"secret": ""}, {"secret": "both"}])
async def test_rotation_requires_a_valid_secret(
    sqlite_service: Installation, form: dict[str, str]
) -> None:
    await webhook_pages.sign_up_owner(sqlite_service)

    assert 400 == (await webhook_pages.post(sqlite_service, "/rotate", **form)).status_code


@pytest.mark.parametrize("notice", ["<script>", "nothing", "set&notice=x"])
async def test_unknown_notice_in_the_url_is_ignored(
    sqlite_service: Installation, notice: str
) -> None:
    await webhook_pages.sign_up_owner(sqlite_service)

    assert (
        "status"
        not in pages.parse(await webhook_pages.get(sqlite_service, f"?notice={notice}")).by_role
    )
