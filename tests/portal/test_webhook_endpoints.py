"""The pages of a webhook endpoint: add, change, disable, delete, its secret and deliveries."""

import pytest

from recibo.schemas.states import DeliveryState, EventType, Role
from tests import events, people
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.portal import accounts, pages, webhook_pages

pytestmark = ON_SQLITE

UNKNOWN = "whe_" + "0" * 32
SECOND = "https://hooks.acme.test/accounting"


async def add(i: Installation, url: str = SECOND, **fields: str) -> str:
    """Add an endpoint and return the path of its page, without the section's."""
    answer = await webhook_pages.post(
        i, "/endpoints", url=url, **{"events": "all", "description": "", **fields}
    )
    assert 303 == answer.status_code, answer.text
    path, _, query = answer.headers["location"].partition("?")
    assert "notice=added" == query
    return str(path.removeprefix(webhook_pages.PATH))


async def test_endpoint_is_added_with_chosen_types(service: Installation) -> None:
    await webhook_pages.sign_up_owner(service)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    path = await add(
        service, description="Accounting", events="chosen", event_types="receipt.approved"
    )
    listed = pages.parse(await webhook_pages.get(service))
    page = pages.parse(await webhook_pages.get(service, path))

    rows = await webhook_pages.endpoint_rows(service)
    assert [None, ["receipt.approved"]] == [one.event_types for one in rows]
    assert "Endpoints 2" in listed.text
    assert f"{SECOND} Accounting receipt.approved No deliveries yet Active" in listed.text
    assert f"{webhook_pages.URL} Default endpoint All events" in listed.text
    assert f"{webhook_pages.PATH}{path}" in listed.links
    assert (SECOND, "Accounting") == (
        page.inputs["url"]["value"],
        page.inputs["description"]["value"],
    )
    assert 1 == page.text.count("whsec_")


async def test_form_with_errors_keeps_what_was_typed(service: Installation) -> None:
    await webhook_pages.sign_up_owner(service)
    wrong = await webhook_pages.post(
        service, "/endpoints", url="ftp://x", description="Till", events="chosen"
    )
    none = await webhook_pages.post(service, "/endpoints", url=SECOND, events="chosen")

    page = pages.parse(wrong)
    assert [400, 400] == [wrong.status_code, none.status_code]
    assert "Endpoint URL must be a URL that begins with http:// or https://." == page.error("url")
    assert ("ftp://x", "Till") == (
        page.inputs["url"]["value"],
        page.inputs["description"]["value"],
    )
    assert "Events must include at least one type." in pages.parse(none).text
    assert [] == await webhook_pages.endpoint_rows(service)


@ON_BOTH
async def test_endpoint_is_changed_disabled_enabled_and_deleted(service: Installation) -> None:
    await webhook_pages.sign_up_owner(service)
    path = await add(service)
    changed = await webhook_pages.submit(
        service, path, url=SECOND + "/2", description="Bank", events="all"
    )
    disabled = await webhook_pages.submit(service, f"{path}/disable")
    refused = await webhook_pages.post(service, f"{path}/test")
    enabled = await webhook_pages.submit(service, f"{path}/enable")
    tested = await webhook_pages.submit(service, f"{path}/test")
    removed = await webhook_pages.submit(service, f"{path}/remove")

    assert "The endpoint is changed." == changed.by_role["status"]
    assert SECOND + "/2" == changed.inputs["url"]["value"]
    assert "No events are sent to it." in disabled.by_role["status"]
    assert "Disabled since" in disabled.text
    assert 409 == refused.status_code
    assert "enabled" in enabled.by_role["status"]
    assert "webhook.test Waiting" in tested.text
    assert "The endpoint is removed, with its signing secret." == removed.by_role["status"]
    assert [] == await webhook_pages.endpoint_rows(service)


async def test_rotation_changes_the_secret_of_one_endpoint(service: Installation) -> None:
    await webhook_pages.sign_up_owner(service)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    path = await add(service)
    default, org = webhook_pages.SECRET.findall((await webhook_pages.get(service)).text)
    (before,) = webhook_pages.SECRET.findall((await webhook_pages.get(service, path)).text)
    said = await webhook_pages.submit(service, f"{path}/rotate")
    (after,) = webhook_pages.SECRET.findall((await webhook_pages.get(service, path)).text)

    assert "stays valid for 24 hours" in said.by_role["status"]
    assert 4 == len({default, org, before, after})
    assert [default, org] == webhook_pages.SECRET.findall((await webhook_pages.get(service)).text)


async def test_one_delivery_of_an_event_is_resent(service: Installation) -> None:
    org_id = await webhook_pages.sign_up_owner(service)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    path = await add(service)
    event_id = await events.emit_event(
        service.database, org_id, EventType.RECEIPT_COMPLETED, url=None
    )
    for one in await webhook_pages.endpoint_rows(service):
        await events.attempt(service.database, event_id, endpoint_id=one.id)
    both = await webhook_pages.get(service)
    alone = await webhook_pages.get(service, path)
    _, second = await events.deliveries(service.database)
    resend = f"/events/{event_id}/deliveries/{second.id}/resend"
    said = await webhook_pages.submit(service, resend)

    assert "receipt.completed 2 of 2 delivered Delivered" in pages.parse(both).text
    for page in (both, alone):
        assert f"{webhook_pages.PATH}{resend}" in webhook_pages.form_actions(page.text)
    assert "The event is on its way again." == said.by_role["status"]
    assert [DeliveryState.DELIVERED, DeliveryState.PENDING] == [
        one.state for one in await events.deliveries(service.database)
    ]


async def test_ten_endpoints_are_the_most(sqlite_service: Installation) -> None:
    await webhook_pages.sign_up_owner(sqlite_service)
    for number in range(10):
        await add(sqlite_service, f"https://e{number}.acme.test/")
    listed = pages.parse(await webhook_pages.get(sqlite_service))
    refused = await webhook_pages.post(sqlite_service, "/endpoints", url=SECOND)

    assert "An organization has at most 10." in listed.text
    assert f"{webhook_pages.PATH}/new" not in listed.links
    assert 409 == refused.status_code
    assert (
        "An organization has at most 10 endpoints. Delete one first." == pages.parse(refused).alert
    )


@pytest.mark.parametrize("path", ["", "/test", "/enable", "/disable", "/rotate", "/remove"])
async def test_unknown_endpoint_is_404(sqlite_service: Installation, path: str) -> None:
    await webhook_pages.sign_up_owner(sqlite_service)
    for one in (UNKNOWN, "whe_1", "%00"):
        answer = await webhook_pages.post(
            sqlite_service, f"/endpoints/{one}{path}", url=SECOND, events="all"
        )
        assert 404 == answer.status_code
    assert (
        404
        == (
            await sqlite_service.stranger.get(f"{webhook_pages.PATH}/endpoints/{UNKNOWN}")
        ).status_code
    )


@pytest.mark.parametrize("role", Role)
async def test_pages_match_the_role(service: Installation, role: Role) -> None:
    ana = await people.signed_up(service)
    await webhook_pages.sign_in_as(service, ana)
    path = await add(service)
    await webhook_pages.sign_in_as(service, await people.joined(service, ana, role))
    new = await service.stranger.get(f"{webhook_pages.PATH}/new")
    page = await service.stranger.get(f"{webhook_pages.PATH}{path}")
    posts = [
        await webhook_pages.post(service, path + one, url=SECOND, events="all")
        for one in ("", "/test", "/disable", "/enable", "/rotate", "/remove")
    ]

    may = role in {Role.OWNER, Role.ADMIN, Role.DEVELOPER}
    assert (200 if may else 403) == new.status_code
    assert (403 if role is Role.BILLING else 200) == page.status_code
    assert may == ("whsec_" in page.text)
    assert may == bool(webhook_pages.form_actions(page.text))
    assert [303 if may else 403] * 6 == [one.status_code for one in posts]


async def test_endpoint_of_another_org_is_404(service: Installation) -> None:
    ana = await people.signed_up(service)
    bea = await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    await webhook_pages.sign_in_as(service, ana)
    path = await add(service)
    await webhook_pages.sign_in_as(service, bea)
    shown = await service.stranger.get(f"{webhook_pages.PATH}{path}")
    removed = await webhook_pages.post(service, f"{path}/remove")

    assert [404, 404] == [shown.status_code, removed.status_code]
    assert 1 == len(await webhook_pages.endpoint_rows(service))


async def test_visitor_signs_in_first(sqlite_service: Installation) -> None:
    for path in ("/new", f"/endpoints/{UNKNOWN}"):
        answer = await sqlite_service.stranger.get(f"{webhook_pages.PATH}{path}")
        assert "/portal/sign-in" in accounts.redirect_target(answer)
