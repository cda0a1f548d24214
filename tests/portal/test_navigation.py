"""Who sees which section of the portal."""

import re
from collections.abc import Mapping

import pytest

from recibo.schemas.permissions import PERMISSIONS, Permission
from recibo.schemas.states import Role
from tests import make, people
from tests.installation import Installation
from tests.portal import forms, pages

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
async def test_navigation_shows_only_what_the_role_may_see(
    sqlite_service: Installation, role: Role
) -> None:
    owner = await people.signed_up(sqlite_service)
    await forms.sign_in_as(sqlite_service, await people.joined(sqlite_service, owner, role))
    home = await forms.get_page(sqlite_service, "/portal")
    answers = {path: await sqlite_service.stranger.get(path) for path in SECTIONS}

    security = await forms.get_page(sqlite_service, "/portal/security")

    # On phones it is also among the tabs of settings.
    assert 0 < home.links.count("/portal/security") < security.links.count("/portal/security")
    may = {path for path, permission in SECTIONS.items() if permission in PERMISSIONS[role]}
    assert may == set(home.links) & set(SECTIONS)
    assert may == {path for path, answer in answers.items() if answer.status_code == 200}
    for path in set(SECTIONS) - may:
        assert 403 == answers[path].status_code
        said = f"Your role, {role.capitalize()}, does not allow this."
        assert said in pages.parse(answers[path]).text


async def test_user_without_org_sees_a_hint(sqlite_service: Installation) -> None:
    tokens = await make.session(sqlite_service.services.identity, None)
    sqlite_service.stranger.cookies.set("service_access", tokens.access_token)
    home = await forms.get_page(sqlite_service, "/portal")
    answers = [await sqlite_service.stranger.get(path) for path in SECTIONS]

    assert set() == set(home.links) & set(SECTIONS)
    assert {403} == {answer.status_code for answer in answers}


async def test_anonymous_users_are_redirected_to_sign_in_and_back(
    sqlite_service: Installation,
) -> None:
    for path in SECTIONS:
        answer = await sqlite_service.stranger.get(path)
        assert f"/portal/sign-in?next={path}" == answer.headers["location"]


async def test_current_section_is_marked(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    for path in SECTIONS:
        answer = await sqlite_service.stranger.get(path)
        # The sidebar and the bars of phones each have a link.
        current = re.findall(r'<a href="([^"]+)" aria-current="page"', answer.text)
        assert {path} == set(current)
