"""The page of the team."""

import re

import pytest

from recibo.schemas.states import Role
from recibo.store import tables
from tests import people
from tests.installation import Installation
from tests.portal import forms, pages

PATH = "/portal/members"
BEA = "bea@people.test"
HOSTILE = '"><script>alert(1)</script>@people.test'


async def roles(i: Installation, org_id: str) -> dict[str, str]:
    """Return who is in an org, with what role."""
    rows = await i.rows(tables.Membership)
    return {row.user_id: row.role for row in rows if row.org_id == org_id}


async def test_team_is_invited_changed_and_removed(service: Installation) -> None:
    ana = await people.signed_up(service)
    await forms.sign_in_as(service, ana)
    invited = await forms.submit(service, f"{PATH}/invite", email=f" {BEA} ", role="viewer")
    again = await forms.submit(service, f"{PATH}/invite", email=BEA, role="viewer")
    (pending,) = [one for one in await service.rows(tables.Invitation) if not one.revoked_at]
    withdrawn = await forms.submit(service, f"{PATH}/invitations/{pending.id}/withdraw")
    bea = await people.joined(service, ana, Role.VIEWER)
    changed = await forms.submit(service, f"{PATH}/{bea.user_id}/role", role="admin")
    during = await roles(service, ana.org_id)
    removed = await forms.submit(service, f"{PATH}/{bea.user_id}/remove")

    assert f"{BEA} Viewer" in invited.text
    assert 1 == again.text.count(BEA)
    assert BEA not in withdrawn.text
    assert "The role is changed." == changed.by_role["status"]
    assert "Owner: full access; there is always at least one owner." in changed.text
    assert "admin" == during[bea.user_id]
    assert bea.email not in removed.text
    assert {ana.user_id: "owner"} == await roles(service, ana.org_id)


async def test_invitation_is_for_a_bookkeeper_at_first(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    before = await sqlite_service.stranger.get(PATH)
    await sqlite_service.stranger.post(
        "/portal/organization/viewers", data={"viewers_write": "true"}
    )
    after = await sqlite_service.stranger.get(PATH)

    for answer in (before, after):
        (chosen,) = re.findall(
            r'<option value="(\w+)" selected', answer.text.partition('id="invite"')[2]
        )
        assert "viewer" == chosen
    hints = [pages.parse(answer).by_id["role-hint"] for answer in (before, after)]
    assert "Viewer: reads and exports receipts, and changes nothing;" in hints[0]
    assert "Let viewers upload and correct" in hints[0]
    assert "/portal/organization#viewers" in pages.parse(before).links
    # Each role has a line.
    assert "Bookkeeper (viewer): uploads, corrects, approves, exports and deletes" in hints[1]
    assert "Let viewers" not in hints[1]
    for role in ("Owner", "Admin", "Developer", "Billing"):
        assert f"{role}: " in hints[1]


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.OWNER, Role.BILLING}))
async def test_buttons_match_the_role(sqlite_service: Installation, role: Role) -> None:
    ana = await people.signed_up(sqlite_service)
    await people.invited(sqlite_service, ana, BEA, Role.OWNER)
    cid = await people.joined(sqlite_service, ana, role)
    await forms.sign_in_as(sqlite_service, cid)
    page = await forms.get_page(sqlite_service, PATH)

    assert BEA in page.text
    if role is Role.ADMIN:
        # Not over the owner, nor over who is invited as one.
        assert "Owner: " not in page.by_id["role-hint"]
        own = f"{PATH}/{cid.user_id}/role"
        assert {f"{PATH}/invite", own} == forms.form_actions(page, PATH)
        assert "Owner" not in page.by_id["role"]
        refused = await forms.submit_refused(sqlite_service, f"{PATH}/{ana.user_id}/remove", 403)
        assert "owner" in refused.text
    else:
        assert set() == forms.form_actions(page, PATH)
        for path in ("/invite", f"/{ana.user_id}/role", f"/{ana.user_id}/remove"):
            await forms.submit_refused(
                sqlite_service, f"{PATH}{path}", 403, email=BEA, role="viewer"
            )
    assert 2 == len(await roles(sqlite_service, ana.org_id))


async def test_errors_are_shown_on_the_page(sqlite_service: Installation) -> None:
    ana = await people.signed_up(sqlite_service)
    await forms.sign_in_as(sqlite_service, ana)
    invite, own = f"{PATH}/invite", f"{PATH}/{ana.user_id}"
    bad = await forms.submit_refused(sqlite_service, invite, 400, email=HOSTILE, role="viewer")
    no_role = await forms.submit_refused(sqlite_service, invite, 400, email=BEA, role="king")
    member = await forms.submit_refused(sqlite_service, invite, 409, email=ana.email, role="viewer")
    last_owner = await forms.submit_refused(sqlite_service, f"{own}/role", 400, role="viewer")
    oneself = await forms.submit_refused(sqlite_service, f"{own}/remove", 400)
    unknown = await forms.submit_refused(sqlite_service, f"{PATH}/usr_unknown/remove", 404)

    assert HOSTILE == bad.inputs["email"]["value"]
    assert "must have an @-sign" in bad.error("email")
    assert "must be one of owner, admin" in no_role.by_id["role-error"]
    assert "is a member's already" in member.alert
    assert "without an owner" in last_owner.alert
    assert "another member must remove you" in oneself.alert
    assert "no such member" in unknown.alert


async def test_members_of_another_org_are_inaccessible(service: Installation) -> None:
    ana = await people.signed_up(service)
    invitation = await people.invited(service, ana, "cid@people.test")
    bea = await people.signed_up(service, email=BEA, org="Loja Bea")
    await forms.sign_in_as(service, bea)
    page = await forms.get_page(service, PATH)

    assert ana.email not in page.text
    assert "cid@people.test" not in page.text
    await forms.submit_refused(service, f"{PATH}/{ana.user_id}/remove", 404)
    await forms.submit_refused(service, f"{PATH}/{ana.user_id}/role", 404, role="viewer")
    withdraw = f"{PATH}/invitations/{invitation['id']}/withdraw"
    assert "no such invitation" in (await forms.submit_refused(service, withdraw, 404)).alert
    assert {ana.user_id: "owner"} == await roles(service, ana.org_id)


async def test_own_demotion_takes_effect_at_once(sqlite_service: Installation) -> None:
    ana = await people.signed_up(sqlite_service)
    await people.joined(sqlite_service, ana, Role.OWNER)
    await forms.sign_in_as(sqlite_service, ana)
    await sqlite_service.stranger.post(f"{PATH}/{ana.user_id}/role", data={"role": "billing"})
    page = pages.parse(await sqlite_service.stranger.get(PATH))

    assert "Your role, Billing, does not allow this." in page.text
