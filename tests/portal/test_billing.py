"""The page of billing."""

import pytest

from recibo.schemas.states import Role
from tests import billing, people
from tests.installation import Installation
from tests.portal import accounts, forms, pages

PATH = "/portal/billing"


async def test_plan_is_bought_and_managed(service: Installation) -> None:
    ana = await people.signed_up(service)
    await forms.sign_in_as(service, ana)
    before = await forms.get_page(service, PATH)
    sold_at = accounts.redirect_target(
        await service.stranger.post(f"{PATH}/checkout", data={"plan": "indie"})
    )
    back = accounts.redirect_target(await billing.click(service, sold_at, "Pay"))
    after = pages.parse(await service.stranger.get(back))
    managed_at = accounts.redirect_target(await service.stranger.post(f"{PATH}/manage"))
    managed = await forms.get_page(service, managed_at)

    assert "Your plan: Free" in before.text
    assert "0 of 50 receipts this month" in before.text
    assert "Credits used this month" in before.text
    assert {f"{PATH}/checkout"} == forms.form_actions(before, PATH)
    assert f"http://recibo.test{PATH}?notice=paid&plan=indie" == back
    assert "Your plan: Indie" in after.text
    assert "0 of 1,000 receipts this month" in after.text
    assert "Thank you." in after.by_role["status"]
    assert "Choose Indie" not in after.buttons
    assert "Indie, $9 a month" in managed.text
    assert f"http://recibo.test{PATH}" in managed.links


async def test_canceled_checkout_links_back(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    sold_at = accounts.redirect_target(
        await sqlite_service.stranger.post(f"{PATH}/checkout", data={"plan": "scale"})
    )
    (back,) = [
        link for link in (await forms.get_page(sqlite_service, sold_at)).links if PATH in link
    ]
    page = await forms.get_page(sqlite_service, back)

    assert page.by_role["status"].startswith("You left the checkout.")
    assert "Your plan: Free" in page.text


async def test_plan_that_is_not_for_sale_is_refused_on_the_page(
    sqlite_service: Installation,
) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    for plan in ("free", "enterprise", "golden", ""):
        page = await forms.submit_refused(sqlite_service, f"{PATH}/checkout", 400, plan=plan)
        assert "must be one of indie, startup, scale" in page.alert
    early = await forms.submit_refused(sqlite_service, f"{PATH}/manage", 400)
    assert "There is no payment customer yet" in early.alert


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.DEVELOPER}))
async def test_buttons_match_the_role(sqlite_service: Installation, role: Role) -> None:
    ana = await people.signed_up(sqlite_service)
    await billing.bought(sqlite_service, ana)
    await forms.sign_in_as(sqlite_service, await people.joined(sqlite_service, ana, role))
    page = await forms.get_page(sqlite_service, PATH)

    if role is Role.VIEWER:
        assert set() == forms.form_actions(page, PATH)
        await forms.submit_refused(sqlite_service, f"{PATH}/checkout", 403, plan="scale")
        await forms.submit_refused(sqlite_service, f"{PATH}/manage", 403)
    else:
        assert {f"{PATH}/checkout", f"{PATH}/manage"} == forms.form_actions(page, PATH)
