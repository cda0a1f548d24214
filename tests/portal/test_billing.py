"""The page of billing."""

import pytest

from recibo.schemas.states import Role
from tests import billing, people
from tests.installation import Installation
from tests.portal import looking, pressing, visits

PATH = "/portal/billing"


async def test_plan_is_bought_and_managed(service: Installation) -> None:
    ana = await people.signed_up(service)
    await pressing.browser_of(service, ana)
    before = await pressing.shown(service, PATH)
    sold_at = visits.led_to(await service.stranger.post(f"{PATH}/checkout", data={"plan": "indie"}))
    back = visits.led_to(await billing.click(service, sold_at, "Pay"))
    after = looking.at(await service.stranger.get(back))
    managed_at = visits.led_to(await service.stranger.post(f"{PATH}/manage"))
    managed = await pressing.shown(service, managed_at)

    assert "Your plan: Free" in before.text
    assert "0 of 50 receipts this month" in before.text
    assert "Credits used this month" in before.text
    assert {f"{PATH}/checkout"} == pressing.actions(before, PATH)
    assert f"http://recibo.test{PATH}?notice=paid&plan=indie" == back
    assert "Your plan: Indie" in after.text
    assert "0 of 1,000 receipts this month" in after.text
    assert "Thank you." in after.by_role["status"]
    assert "Choose Indie" not in after.buttons
    assert "Indie, $9 a month" in managed.text
    assert f"http://recibo.test{PATH}" in managed.links


async def test_checkout_that_is_left_leads_back(door: Installation) -> None:
    await pressing.browser_of(door, await people.signed_up(door))
    sold_at = visits.led_to(await door.stranger.post(f"{PATH}/checkout", data={"plan": "scale"}))
    (back,) = [link for link in (await pressing.shown(door, sold_at)).links if PATH in link]
    page = await pressing.shown(door, back)

    assert page.by_role["status"].startswith("You left the checkout.")
    assert "Your plan: Free" in page.text


async def test_what_is_not_for_sale_is_said_on_the_page(door: Installation) -> None:
    await pressing.browser_of(door, await people.signed_up(door))
    for plan in ("free", "enterprise", "golden", ""):
        page = await pressing.refused(door, f"{PATH}/checkout", 400, plan=plan)
        assert "must be one of indie, startup, scale" in page.alert
    early = await pressing.refused(door, f"{PATH}/manage", 400)
    assert "There is no payment customer yet" in early.alert


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.DEVELOPER}))
async def test_buttons_are_those_of_the_role(door: Installation, role: Role) -> None:
    ana = await people.signed_up(door)
    await billing.bought(door, ana)
    await pressing.browser_of(door, await people.joined(door, ana, role))
    page = await pressing.shown(door, PATH)

    if role is Role.VIEWER:
        assert set() == pressing.actions(page, PATH)
        await pressing.refused(door, f"{PATH}/checkout", 403, plan="scale")
        await pressing.refused(door, f"{PATH}/manage", 403)
    else:
        assert {f"{PATH}/checkout", f"{PATH}/manage"} == pressing.actions(page, PATH)
