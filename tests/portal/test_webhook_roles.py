"""Who may see and do what on the pages of webhooks."""

from collections.abc import Mapping

import pytest

from recibo.schemas.states import DeliveryState, Role
from tests import events, make, people
from tests.installation import Installation, client_of
from tests.portal import hooks, looking, visits

UNKNOWN = "evt_" + "0" * 32
WRITERS = {Role.OWNER, Role.ADMIN, Role.DEVELOPER}
# Each form of the pages, and what it sends.
FORMS: Mapping[str, Mapping[str, str]] = {
    "": {"url": hooks.URL},
    "/test": {},
    "/rotate": {"secret": "org"},
    "/enable": {},
    "/remove": {},
    f"/events/{UNKNOWN}/resend": {},
}


async def test_page_asks_strangers_to_sign_in_and_come_back(service: Installation) -> None:
    asked = visits.led_to(await service.stranger.get(hooks.PATH))
    event = visits.led_to(await service.stranger.get(f"{hooks.PATH}/events/{UNKNOWN}"))
    sent = [visits.led_to(await hooks.press(service, path, **form)) for path, form in FORMS.items()]

    assert "/portal/sign-in?next=/portal/webhooks" == asked
    assert f"/portal/sign-in?next=/portal/webhooks/events/{UNKNOWN}" == event
    assert [asked] * len(FORMS) == sent


@pytest.mark.parametrize("role", Role)
async def test_roles_see_and_do_what_they_may(service: Installation, role: Role) -> None:
    ana = await people.signed_up(service)
    event_id = await events.deliver_event(service.database, ana.org_id)
    await hooks.browser_of(service, ana)
    await hooks.pressed(service, url=hooks.URL)
    await hooks.browser_of(service, await people.joined(service, ana, role))
    page = await service.stranger.get(hooks.PATH)
    event = await service.stranger.get(f"{hooks.PATH}/events/{event_id}")
    home = await visits.home(service.stranger)
    assert home is not None

    if role is Role.BILLING:
        assert [403, 403] == [page.status_code, event.status_code]
        assert "Your role, Billing, does not allow this." in looking.at(page).text
        assert hooks.PATH not in home.links
    else:
        assert [200, 200] == [page.status_code, event.status_code]
        assert hooks.PATH in home.links
        assert hooks.URL in page.text
        assert event_id in event.text
    may = role in WRITERS
    assert (2 if may else 0) == len(hooks.SECRET.findall(page.text))
    assert may == bool(hooks.actions(page.text))
    assert may == bool(hooks.actions(event.text))
    assert "whsec" not in event.text


@pytest.mark.parametrize("role", sorted(set(Role) - WRITERS))
async def test_who_may_not_write_is_refused_by_every_form(
    service: Installation, role: Role
) -> None:
    ana = await people.signed_up(service)
    await hooks.browser_of(service, ana)
    await hooks.pressed(service, url=hooks.URL)
    before = hooks.SECRET.findall((await hooks.shown(service)).text)
    await hooks.browser_of(service, await people.joined(service, ana, role))
    answers = [await hooks.press(service, path, **form) for path, form in FORMS.items()]
    bad = await hooks.press(service, url="ftp://x")
    await hooks.browser_of(service, ana)

    assert [403] * len(FORMS) == [answer.status_code for answer in answers]
    assert 403 == bad.status_code
    refusal = f"Your role, {role.capitalize()}, does not allow this."
    assert all(refusal in looking.at(answer).text for answer in answers)
    assert before == hooks.SECRET.findall((await hooks.shown(service)).text)
    assert [] == await events.event_bodies(service.database)


async def test_who_is_in_no_org_has_no_webhooks(service: Installation) -> None:
    tokens = await make.session(service.services.identity, None)
    service.stranger.cookies.set("service_access", tokens.access_token)

    answer = await service.stranger.get(hooks.PATH)

    assert 403 == answer.status_code
    assert (await visits.home(service.stranger)) is not None


async def test_pages_of_another_org_hold_nothing_of_this_one(service: Installation) -> None:
    ana = await people.signed_up(service)
    bea = await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    event_id = await events.deliver_event(service.database, ana.org_id)
    await hooks.browser_of(service, ana)
    await hooks.pressed(service, url=hooks.URL)
    anas = set(hooks.SECRET.findall((await hooks.shown(service)).text))
    await hooks.browser_of(service, bea)
    await hooks.pressed(service, url="https://bea.test/")
    page = await hooks.shown(service)
    event = await service.stranger.get(f"{hooks.PATH}/events/{event_id}")
    sent = await hooks.press(service, f"/events/{event_id}/resend")

    assert 2 == len(anas)
    assert set() == anas & set(hooks.SECRET.findall(page.text))
    assert hooks.URL not in page.text
    assert event_id not in page.text
    assert [404, 404] == [event.status_code, sent.status_code]
    (delivery,) = await events.deliveries(service.database)
    assert DeliveryState.DELIVERED == delivery.state


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"},
                {"Sec-Fetch-Site": "cross-site"}],
)  # fmt: skip
async def test_pages_of_other_sites_change_nothing(
    door: Installation, headers: Mapping[str, str]
) -> None:
    await hooks.owner(door)
    answer = await door.stranger.post(hooks.PATH, data={"url": hooks.URL}, headers=headers)

    assert 403 == answer.status_code
    assert await hooks.endpoint(door) is None


async def test_programs_without_an_origin_pass(door: Installation) -> None:
    """As a browser that is driven by hand: a cookie, a form, and no header more."""
    tokens = (await people.signed_up(door)).tokens
    cookie = {"Cookie": f"service_access={tokens['access_token']}"}
    async with client_of(door.asgi, headers=cookie) as client:
        page = looking.at(await client.get(hooks.PATH))
        _, action = next(one for one in page.forms if one[1] == hooks.PATH)
        answer = await client.post(action or "", data={"url": hooks.URL})

    assert 303 == answer.status_code
    row = await hooks.endpoint(door)
    assert row is not None
    assert hooks.URL == row.url
