"""Accepting an invitation on a page."""

import pytest

from recibo.schemas.states import Role
from tests import people, second_factors
from tests.databases import ON_SQLITE
from tests.installation import Installation
from tests.people import PASSWORD
from tests.portal import accounts, forms, pages
from tests.portal.accounts import EMAIL

pytestmark = ON_SQLITE

PATH = "/portal/accept-invite"
INVITED = "bob@people.test"


async def token_for(i: Installation, email: str = INVITED) -> str:
    """Invite an address to an org and return the token of the mail."""
    owner = await people.signed_up(i, email="owner@people.test", org="Padaria Aurora")
    invitation = await people.invited(i, owner, email)
    return await people.invitation_token(i, invitation["id"])


async def test_opening_an_invitation_accepts_nothing(service: Installation) -> None:
    token = await token_for(service)
    answers = [await service.stranger.get(PATH, params={"token": token}) for _ in range(3)]

    answer = await service.stranger.post(PATH, data={"token": token})

    page = pages.parse(answers[0])
    assert [("post", PATH)] == page.forms
    assert token == page.inputs["token"]["value"]
    assert 303 == answer.status_code


async def test_invitation_shows_org_role_inviter_and_invitee(
    service: Installation,
) -> None:
    answer = await service.stranger.get(PATH, params={"token": await token_for(service)})

    page = pages.parse(answer)
    assert "Join Padaria Aurora · Recibo" == page.title
    assert f"owner@people.test invites you, {INVITED}, to this organization." in page.text
    assert "Your role there: Developer." in page.text


@pytest.mark.parametrize("of", ["nothing", "one that was accepted"])
async def test_invalid_invitation_shows_an_error_at_once(service: Installation, of: str) -> None:
    token = await token_for(service) if of != "nothing" else "nothing"
    if of != "nothing":
        await service.stranger.post(PATH, data={"token": token})
    answer = await service.stranger.get(PATH, params={"token": token})

    page = pages.parse(answer)
    assert 400 == answer.status_code
    assert "ask for a new one" in page.alert
    assert "Padaria Aurora" not in page.text
    assert "Code from the email" == page.labels["token"]


async def test_first_password_form_has_the_username_for_password_managers(
    service: Installation,
) -> None:
    await service.stranger.post(PATH, data={"token": await token_for(service)})
    asked = pages.parse(await service.stranger.get("/portal/set-password"))
    form = {"new_password": "short", "username": INVITED}
    again = pages.parse(await service.stranger.post("/portal/set-password", data=form))

    for page in (asked, again):
        field = page.inputs["username"]
        assert (INVITED, "username") == (field["value"], field["autocomplete"])
        assert "hidden" in field


async def test_invited_person_joins_and_sets_a_password(service: Installation) -> None:
    answer = await service.stranger.post(PATH, data={"token": await token_for(service)})
    asked = await service.stranger.get(accounts.redirect_target(answer))
    set_ = await service.stranger.post("/portal/set-password", data={"new_password": PASSWORD})
    page = await accounts.home(service.stranger)
    service.stranger.cookies.clear()

    again = await accounts.sign_in(service.stranger, email=INVITED)

    assert "New password" == pages.parse(asked).labels["new_password"]
    assert "/portal" == accounts.redirect_target(set_)
    assert page is not None
    assert f"Signed in as {INVITED}" in page.text
    assert "Developer of Padaria Aurora" in page.text
    assert "/portal" == accounts.redirect_target(again)


async def test_first_password_needs_eight_characters(service: Installation) -> None:
    await service.stranger.post(PATH, data={"token": await token_for(service)})

    answer = await service.stranger.post("/portal/set-password", data={"new_password": "short"})

    assert 400 == answer.status_code
    assert "needs at least 8" in pages.parse(answer).error("new_password")


async def test_user_with_a_password_cannot_set_a_first_one(service: Installation) -> None:
    await accounts.sign_up(service.stranger)
    asked = await service.stranger.get("/portal/set-password")
    form = {"new_password": "another long password"}

    answer = await service.stranger.post("/portal/set-password", data=form)

    assert "/portal" == accounts.redirect_target(asked)
    assert 400 == answer.status_code
    assert "Current password is required" in pages.parse(answer).alert
    service.stranger.cookies.clear()
    assert 303 == (await accounts.sign_in(service.stranger)).status_code


async def test_existing_account_joins_without_a_password_form(
    service: Installation,
) -> None:
    token = await token_for(service, EMAIL)
    await accounts.sign_up(service.stranger)
    service.stranger.cookies.clear()

    answer = await service.stranger.post(PATH, data={"token": token})
    onward = await service.stranger.get(accounts.redirect_target(answer))
    page = await accounts.home(service.stranger)

    assert "/portal" == accounts.redirect_target(onward)
    assert page is not None
    assert "Developer of Padaria Aurora" in page.text


async def test_second_factor_is_asked_for(service: Installation) -> None:
    who = await second_factors.two_factor_user(service, email=EMAIL)
    token = await token_for(service, EMAIL)

    answer = await service.stranger.post(PATH, data={"token": token})
    before = await accounts.home(service.stranger)
    code = await service.stranger.post(accounts.redirect_target(answer), data={"code": who.code})
    after = await accounts.home(service.stranger)

    assert before is None
    assert "/portal" == accounts.redirect_target(code)
    assert after is not None
    assert " of Padaria Aurora" in after.text


async def test_invitation_works_once(service: Installation) -> None:
    token = await token_for(service)
    await service.stranger.post(PATH, data={"token": token})
    service.stranger.cookies.clear()

    answer = await service.stranger.post(PATH, data={"token": token})

    assert 400 == answer.status_code
    assert "ask for a new one" in pages.parse(answer).alert
    assert {} == dict(service.stranger.cookies)


async def test_who_is_signed_in_keeps_their_organizations(service: Installation) -> None:
    ana = await people.signed_up(service)
    owner = await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    token = (await people.invite_with_token(service, owner, ana.email, Role.DEVELOPER))[1]
    await accounts.sign_in(service.stranger)
    before = service.stranger.cookies["service_access"]
    answer = await service.stranger.post(PATH, data={"token": token})
    there = await forms.get_page(service, "/portal")
    old = await service.stranger.get("/v1/auth/me", headers=people.bearer(before))
    back = await service.stranger.post("/portal/switch-org", data={"org_id": ana.org_id})
    home = await forms.get_page(service, "/portal")

    assert 303 == answer.status_code
    assert "Developer of Loja Bea" in there.text
    assert 401 == old.status_code
    assert "/portal" == accounts.redirect_target(back)
    assert "Owner of Padaria Aurora" in home.text


async def test_who_is_signed_in_as_another_user_may_not_leave_the_organization(
    service: Installation,
) -> None:
    ana = await people.signed_up(service)
    owner = await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    other = await people.signed_up(service, email="cai@people.test", org="Loja Cai")
    token = (await people.invite_with_token(service, owner, other.email, Role.DEVELOPER))[1]
    await accounts.sign_in(service.stranger)
    await service.stranger.post(PATH, data={"token": token})
    answer = await service.stranger.post("/portal/switch-org", data={"org_id": other.org_id})
    page = await forms.get_page(service, "/portal")

    assert ana.org_id != other.org_id
    assert 403 == answer.status_code
    assert "Developer of Loja Bea" in page.text
