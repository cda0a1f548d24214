"""Who sees which section of the portal."""

from collections.abc import Mapping

import pytest

from recibo.schemas.permissions import PERMISSIONS, Permission
from recibo.schemas.states import Role
from tests import make, people
from tests.installation import Installation
from tests.portal import looking, pressing

#: Each section that not everybody sees, and what a role needs to see it.
SECTIONS: Mapping[str, Permission] = {
    "/portal/receipts": Permission.RECEIPTS_READ,
    "/portal/keys": Permission.KEYS_READ,
    "/portal/members": Permission.TEAM_READ,
    "/portal/organization": Permission.ORG_READ,
    "/portal/billing": Permission.BILLING_READ,
    "/portal/analytics": Permission.ANALYTICS_READ,
    "/portal/audit": Permission.AUDIT_READ,
    "/portal/webhooks": Permission.WEBHOOKS_READ,
}


@pytest.mark.parametrize("role", Role)
async def test_roles_are_led_to_what_they_may_see_and_to_nothing_else(
    door: Installation, role: Role
) -> None:
    owner = await people.signed_up(door)
    await pressing.browser_of(door, await people.joined(door, owner, role))
    home = await pressing.shown(door, "/portal")
    answers = {path: await door.stranger.get(path) for path in SECTIONS}

    assert "/portal/security" in home.links
    may = {path for path, permission in SECTIONS.items() if permission in PERMISSIONS[role]}
    assert may == set(home.links) & set(SECTIONS)
    assert may == {path for path, answer in answers.items() if answer.status_code == 200}
    for path in set(SECTIONS) - may:
        assert 403 == answers[path].status_code
        said = f"Your role, {role.capitalize()}, does not allow this."
        assert said in looking.at(answers[path]).text


async def test_who_is_in_no_org_is_told_so(door: Installation) -> None:
    tokens = await make.session(door.services.identity, None)
    door.stranger.cookies.set("service_access", tokens.access_token)
    home = await pressing.shown(door, "/portal")
    answers = [await door.stranger.get(path) for path in SECTIONS]

    assert set() == set(home.links) & set(SECTIONS)
    assert {403} == {answer.status_code for answer in answers}


async def test_strangers_sign_in_and_come_back(door: Installation) -> None:
    for path in SECTIONS:
        answer = await door.stranger.get(path)
        assert f"/portal/sign-in?next={path}" == answer.headers["location"]


async def test_section_that_is_shown_is_marked(door: Installation) -> None:
    await pressing.browser_of(door, await people.signed_up(door))
    for path in SECTIONS:
        answer = await door.stranger.get(path)
        assert f'<a href="{path}" aria-current="page">' in answer.text
        assert 1 == answer.text.count('aria-current="page"'), path
