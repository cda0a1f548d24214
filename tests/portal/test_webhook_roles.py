"""Who may see and do what on the pages of webhooks."""

from collections.abc import Mapping

import pytest

from recibo.schemas.states import DeliveryState, Role
from tests import events, make, people
from tests.databases import ON_SQLITE
from tests.installation import Installation, client_of
from tests.portal import accounts, pages, webhook_pages

pytestmark = ON_SQLITE

UNKNOWN = "evt_" + "0" * 32
WRITERS = {Role.OWNER, Role.ADMIN, Role.DEVELOPER}
# Each form of the pages, and what it sends.
FORMS: Mapping[str, Mapping[str, str]] = {
    "": {"url": webhook_pages.URL},
    "/test": {},
    "/rotate": {"secret": "org"},
    "/enable": {},
    "/remove": {},
    f"/events/{UNKNOWN}/resend": {},
}


async def test_page_redirects_anonymous_users_to_sign_in_and_back(service: Installation) -> None:
    asked = accounts.redirect_target(await service.stranger.get(webhook_pages.PATH))
    event = accounts.redirect_target(
        await service.stranger.get(f"{webhook_pages.PATH}/events/{UNKNOWN}")
    )
    sent = [
        accounts.redirect_target(await webhook_pages.post(service, path, **form))
        for path, form in FORMS.items()
    ]

    assert "/portal/sign-in?next=/portal/webhooks" == asked
    assert f"/portal/sign-in?next=/portal/webhooks/events/{UNKNOWN}" == event
    assert [asked] * len(FORMS) == sent


@pytest.mark.parametrize("role", Role)
async def test_pages_and_buttons_match_the_role(service: Installation, role: Role) -> None:
    ana = await people.signed_up(service)
    event_id = await events.deliver_event(service.database, ana.org_id)
    await webhook_pages.sign_in_as(service, ana)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    await webhook_pages.sign_in_as(service, await people.joined(service, ana, role))
    page = await service.stranger.get(webhook_pages.PATH)
    event = await service.stranger.get(f"{webhook_pages.PATH}/events/{event_id}")
    home = await accounts.home(service.stranger)
    assert home is not None

    if role is Role.BILLING:
        assert [403, 403] == [page.status_code, event.status_code]
        assert "Your role, Billing, does not allow this." in pages.parse(page).text
        assert webhook_pages.PATH not in home.links
    else:
        assert [200, 200] == [page.status_code, event.status_code]
        assert webhook_pages.PATH in home.links
        assert webhook_pages.URL in page.text
        assert event_id in event.text
    may = role in WRITERS
    assert (2 if may else 0) == len(webhook_pages.SECRET.findall(page.text))
    assert may == bool(webhook_pages.form_actions(page.text))
    assert may == bool(webhook_pages.form_actions(event.text))
    assert "whsec" not in event.text


@pytest.mark.parametrize("role", sorted(set(Role) - WRITERS))
async def test_every_form_requires_write_permission(service: Installation, role: Role) -> None:
    ana = await people.signed_up(service)
    await webhook_pages.sign_in_as(service, ana)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    before = webhook_pages.SECRET.findall((await webhook_pages.get(service)).text)
    await webhook_pages.sign_in_as(service, await people.joined(service, ana, role))
    answers = [await webhook_pages.post(service, path, **form) for path, form in FORMS.items()]
    bad = await webhook_pages.post(service, url="ftp://x")
    await webhook_pages.sign_in_as(service, ana)

    assert [403] * len(FORMS) == [answer.status_code for answer in answers]
    assert 403 == bad.status_code
    refusal = f"Your role, {role.capitalize()}, does not allow this."
    assert all(refusal in pages.parse(answer).text for answer in answers)
    assert before == webhook_pages.SECRET.findall((await webhook_pages.get(service)).text)
    assert [] == await events.event_bodies(service.database)


async def test_user_without_org_has_no_webhooks(service: Installation) -> None:
    tokens = await make.session(service.services.identity, None)
    service.stranger.cookies.set("service_access", tokens.access_token)

    answer = await service.stranger.get(webhook_pages.PATH)

    assert 403 == answer.status_code
    assert (await accounts.home(service.stranger)) is not None


async def test_pages_of_another_org_show_nothing_of_this_one(service: Installation) -> None:
    ana = await people.signed_up(service)
    bea = await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    event_id = await events.deliver_event(service.database, ana.org_id)
    await webhook_pages.sign_in_as(service, ana)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    anas = set(webhook_pages.SECRET.findall((await webhook_pages.get(service)).text))
    await webhook_pages.sign_in_as(service, bea)
    await webhook_pages.submit(service, url="https://bea.test/")
    page = await webhook_pages.get(service)
    event = await service.stranger.get(f"{webhook_pages.PATH}/events/{event_id}")
    sent = await webhook_pages.post(service, f"/events/{event_id}/resend")

    assert 2 == len(anas)
    assert set() == anas & set(webhook_pages.SECRET.findall(page.text))
    assert webhook_pages.URL not in page.text
    assert event_id not in page.text
    assert [404, 404] == [event.status_code, sent.status_code]
    (delivery,) = await events.deliveries(service.database)
    assert DeliveryState.DELIVERED == delivery.state


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"},
                {"Sec-Fetch-Site": "cross-site"}],
)  # fmt: skip
async def test_pages_of_other_sites_change_nothing(
    sqlite_service: Installation, headers: Mapping[str, str]
) -> None:
    await webhook_pages.sign_up_owner(sqlite_service)
    answer = await sqlite_service.stranger.post(
        webhook_pages.PATH, data={"url": webhook_pages.URL}, headers=headers
    )

    assert 403 == answer.status_code
    assert await webhook_pages.endpoint_row(sqlite_service) is None


async def test_requests_without_an_origin_are_accepted(sqlite_service: Installation) -> None:
    """As a browser that is driven by hand: a cookie, a form, and no header more."""
    tokens = (await people.signed_up(sqlite_service)).tokens
    cookie = {"Cookie": f"service_access={tokens['access_token']}"}
    async with client_of(sqlite_service.asgi, headers=cookie) as client:
        page = pages.parse(await client.get(webhook_pages.PATH))
        _, action = next(one for one in page.forms if one[1] == webhook_pages.PATH)
        answer = await client.post(action or "", data={"url": webhook_pages.URL})

    assert 303 == answer.status_code
    row = await webhook_pages.endpoint_row(sqlite_service)
    assert row is not None
    assert webhook_pages.URL == row.url
