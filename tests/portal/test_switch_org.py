"""Switching to another organization in the header."""

from recibo.schemas.states import AuditAction, Role
from recibo.store import tables
from tests import people
from tests.installation import Installation
from tests.portal import accounts, forms

PATH = "/portal/switch-org"


async def with_two_orgs(i: Installation, role: Role = Role.DEVELOPER) -> tuple[str, str]:
    """Sign the browser in as Ana, who owns one org and joined another; return their ids."""
    bea = await people.signed_up(i, email="bea@people.test", org="Loja Bea")
    ana = await people.signed_up(i)
    token = (await people.invite_with_token(i, bea, ana.email, role))[1]
    await people.accept(i, token)
    await accounts.sign_in(i.stranger)
    await i.stranger.post(PATH, data={"org_id": ana.org_id})
    return ana.org_id, bea.org_id


async def test_switching_stays_in_the_section(service: Installation) -> None:
    _, other = await with_two_orgs(service)
    before = await forms.get_page(service, "/portal/receipts")
    answer = await service.stranger.post(
        PATH, data={"org_id": other, "next": "/portal/receipts/rcp_1?x=1"}
    )
    after = await forms.get_page(service, "/portal/receipts")

    assert ("post", PATH) in before.forms
    assert "Owner of Padaria Aurora" in before.text
    assert "/portal/receipts" == accounts.redirect_target(answer)
    assert "Developer of Loja Bea" in after.text


async def test_section_that_the_role_may_not_see_is_left(sqlite_service: Installation) -> None:
    _, other = await with_two_orgs(sqlite_service, Role.VIEWER)
    targets = [
        accounts.redirect_target(
            await sqlite_service.stranger.post(PATH, data={"org_id": other, "next": page})
        )
        for page in ("/portal/audit", "/portal/members", "https://evil.example/", "/portal/style")
    ]

    assert ["/portal", "/portal/members", "/portal", "/portal"] == targets


async def test_former_session_ends_and_the_switch_is_audited(service: Installation) -> None:
    mine, other = await with_two_orgs(service)
    before = service.stranger.cookies["service_access"]
    await service.stranger.post(PATH, data={"org_id": other})
    old = await service.stranger.get("/v1/auth/me", headers=people.bearer(before))
    entries = [
        one
        for one in await service.rows(tables.AuditEvent)
        if one.action == AuditAction.USER_ORG_SWITCHED and one.org_id == other
    ]

    assert 401 == old.status_code
    assert [({"org_id": mine}, {"org_id": other})] == [(one.before, one.after) for one in entries]


async def test_other_orgs_are_refused(sqlite_service: Installation) -> None:
    await with_two_orgs(sqlite_service)
    stranger = await people.signed_up(sqlite_service, email="cid@people.test", org="Cid")
    await accounts.sign_in(sqlite_service.stranger)
    for org_id in (stranger.org_id, "org_unknown", "x"):
        await forms.submit_refused(sqlite_service, PATH, 404, org_id=org_id)


async def test_user_of_one_org_has_no_menu(sqlite_service: Installation) -> None:
    await accounts.sign_up(sqlite_service.stranger)
    page = await forms.get_page(sqlite_service, "/portal")

    assert ("post", PATH) not in page.forms


async def test_session_of_an_invitation_has_no_menu(service: Installation) -> None:
    """It may not leave its organization, so the menu would answer with 403."""
    bea = await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    ana = await people.signed_up(service)
    token = (await people.invite_with_token(service, bea, ana.email, Role.DEVELOPER))[1]
    await service.stranger.post("/portal/accept-invite", data={"token": token})
    page = await forms.get_page(service, "/portal")

    assert "Developer of Loja Bea" in page.text
    assert ("post", PATH) not in page.forms
