"""The page of the team."""

import pytest

from recibo.schemas.states import Role
from recibo.store import tables
from tests import people
from tests.installation import Installation
from tests.portal import looking, pressing

PATH = "/portal/members"
BEA = "bea@people.test"
HOSTILE = '"><script>alert(1)</script>@people.test'


async def roles(i: Installation, org_id: str) -> dict[str, str]:
    """Return who is in an org, with what role."""
    rows = await i.rows(tables.Membership)
    return {row.user_id: row.role for row in rows if row.org_id == org_id}


async def test_team_is_invited_changed_and_removed(service: Installation) -> None:
    ana = await people.signed_up(service)
    await pressing.browser_of(service, ana)
    invited = await pressing.pressed(service, f"{PATH}/invite", email=f" {BEA} ", role="viewer")
    again = await pressing.pressed(service, f"{PATH}/invite", email=BEA, role="viewer")
    (pending,) = [one for one in await service.rows(tables.Invitation) if not one.revoked_at]
    withdrawn = await pressing.pressed(service, f"{PATH}/invitations/{pending.id}/withdraw")
    bea = await people.joined(service, ana, Role.VIEWER)
    changed = await pressing.pressed(service, f"{PATH}/{bea.user_id}/role", role="admin")
    during = await roles(service, ana.org_id)
    removed = await pressing.pressed(service, f"{PATH}/{bea.user_id}/remove")

    assert f"{BEA} Viewer" in invited.text
    assert 1 == again.text.count(BEA)
    assert BEA not in withdrawn.text
    assert f"{bea.email} Admin" in changed.text
    assert "admin" == during[bea.user_id]
    assert bea.email not in removed.text
    assert {ana.user_id: "owner"} == await roles(service, ana.org_id)


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.OWNER, Role.BILLING}))
async def test_buttons_are_those_of_the_role(door: Installation, role: Role) -> None:
    ana = await people.signed_up(door)
    await people.invited(door, ana, BEA, Role.OWNER)
    cid = await people.joined(door, ana, role)
    await pressing.browser_of(door, cid)
    page = await pressing.shown(door, PATH)

    assert BEA in page.text
    if role is Role.ADMIN:
        # Not over the owner, nor over who is invited as one.
        assert "Owner: " not in page.by_id["role-hint"]
        own = f"{PATH}/{cid.user_id}/role"
        assert {f"{PATH}/invite", own} == pressing.actions(page, PATH)
        assert "Owner" not in page.by_id["role"]
        refused = await pressing.refused(door, f"{PATH}/{ana.user_id}/remove", 403)
        assert "owner" in refused.text
    else:
        assert set() == pressing.actions(page, PATH)
        for path in ("/invite", f"/{ana.user_id}/role", f"/{ana.user_id}/remove"):
            await pressing.refused(door, f"{PATH}{path}", 403, email=BEA, role="viewer")
    assert 2 == len(await roles(door, ana.org_id))


async def test_what_is_refused_is_said_on_the_page(door: Installation) -> None:
    ana = await people.signed_up(door)
    await pressing.browser_of(door, ana)
    invite, own = f"{PATH}/invite", f"{PATH}/{ana.user_id}"
    bad = await pressing.refused(door, invite, 400, email=HOSTILE, role="viewer")
    no_role = await pressing.refused(door, invite, 400, email=BEA, role="king")
    member = await pressing.refused(door, invite, 409, email=ana.email, role="viewer")
    last_owner = await pressing.refused(door, f"{own}/role", 400, role="viewer")
    oneself = await pressing.refused(door, f"{own}/remove", 400)
    unknown = await pressing.refused(door, f"{PATH}/usr_nobody/remove", 404)

    assert HOSTILE == bad.inputs["email"]["value"]
    assert "must have an @-sign" in bad.error("email")
    assert "must be one of owner, admin" in no_role.by_id["role-error"]
    assert "is a member's already" in member.alert
    assert "without an owner" in last_owner.alert
    assert "another member must remove you" in oneself.alert
    assert "no such member" in unknown.alert


async def test_team_of_another_org_is_out_of_reach(service: Installation) -> None:
    ana = await people.signed_up(service)
    invitation = await people.invited(service, ana, "cid@people.test")
    bea = await people.signed_up(service, email=BEA, org="Loja Bea")
    await pressing.browser_of(service, bea)
    page = await pressing.shown(service, PATH)

    assert ana.email not in page.text
    assert "cid@people.test" not in page.text
    await pressing.refused(service, f"{PATH}/{ana.user_id}/remove", 404)
    await pressing.refused(service, f"{PATH}/{ana.user_id}/role", 404, role="viewer")
    withdraw = f"{PATH}/invitations/{invitation['id']}/withdraw"
    assert "no such invitation" in (await pressing.refused(service, withdraw, 404)).alert
    assert {ana.user_id: "owner"} == await roles(service, ana.org_id)


async def test_own_demotion_acts_at_once(door: Installation) -> None:
    ana = await people.signed_up(door)
    await people.joined(door, ana, Role.OWNER)
    await pressing.browser_of(door, ana)
    await door.stranger.post(f"{PATH}/{ana.user_id}/role", data={"role": "billing"})
    page = looking.at(await door.stranger.get(PATH))

    assert "Your role, Billing, does not allow this." in page.text
