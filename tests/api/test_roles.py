"""Who may do what: the table of roles, and every route against it."""

import re
from typing import Any

import httpx
import pytest

from recibo.lib import ids
from recibo.schemas.permissions import PERMISSIONS, Permission
from recibo.schemas.states import Role
from tests import make, people
from tests.installation import Installation, document

# As the decisions print it, line by line; not derived from the code.
TABLE = """
org:read          owner  admin  developer  viewer  billing
org:write         owner  admin
org:delete        owner
team:read         owner  admin  developer  viewer
team:invite       owner  admin
team:write        owner  admin
team:remove       owner  admin
keys:read         owner  admin  developer
keys:write        owner  admin  developer
receipts:read     owner  admin  developer  viewer
receipts:write    owner  admin  developer
webhooks:read     owner  admin  developer  viewer
webhooks:write    owner  admin  developer
billing:read      owner  admin             viewer  billing
billing:write     owner  admin                     billing
analytics:read    owner  admin  developer  viewer
audit:read        owner  admin
"""
ALLOWED = {line.split()[0]: set(line.split()[1:]) for line in TABLE.split("\n") if line}

# Each route of an org, what it needs, and what it answers those who may. What would change
# something is asked without its body, or of something that is not there.
ROUTES = {
    ("GET", "/v1/org"): ("org:read", 200),
    ("PATCH", "/v1/org"): ("org:write", 400),
    ("GET", "/v1/org/members"): ("team:read", 200),
    ("POST", "/v1/org/members"): ("team:invite", 400),
    ("PATCH", "/v1/org/members/{user_id}"): ("team:write", 400),
    ("DELETE", "/v1/org/members/{user_id}"): ("team:remove", 404),
    ("GET", "/v1/org/invitations"): ("team:read", 200),
    ("DELETE", "/v1/org/invitations/{invitation_id}"): ("team:invite", 404),
    ("GET", "/v1/api-keys"): ("keys:read", 200),
    ("POST", "/v1/api-keys"): ("keys:write", 400),
    ("DELETE", "/v1/api-keys/{key_id}"): ("keys:write", 404),
    ("GET", "/v1/audit"): ("audit:read", 200),
    ("GET", "/v1/billing/subscription"): ("billing:read", 200),
    ("POST", "/v1/billing/checkout-session"): ("billing:write", 400),
    ("POST", "/v1/billing/portal-session"): ("billing:write", 400),
    ("GET", "/v1/analytics/usage"): ("analytics:read", 200),
    ("GET", "/v1/analytics/categories"): ("analytics:read", 200),
    ("GET", "/v1/analytics/top-vendors"): ("analytics:read", 200),
}
NOT_FOUND_WITHOUT_AN_ORG = {"/v1/org", "/v1/billing/checkout-session"}


async def ask(i: Installation, route: tuple[str, str], token: str) -> httpx.Response:
    """Call a route with a session."""
    method, path = route
    url = re.sub(r"\{\w+\}", ids.new("usr"), path)
    return await i.stranger.request(method, url, headers=people.bearer(token))


def lacks(answer: httpx.Response) -> list[str]:
    """Return the permissions that an answer says are missing."""
    error: dict[str, Any] = answer.json()["error"]
    assert (403, "insufficient_scope") == (answer.status_code, error["code"])
    return [
        permission
        for detail in error["details"]
        for permission in re.findall(r"`([a-z]+:[a-z]+)`", f"{detail['message']}")
        if detail["field"] == "permission"
    ]


def test_every_permission_is_held_as_the_table_says() -> None:
    held = {
        permission: {role for role in Role if permission in PERMISSIONS[role]}
        for permission in Permission
    }

    assert held == ALLOWED


@pytest.mark.parametrize("role", Role)
async def test_every_route_follows_the_table(door: Installation, role: Role) -> None:
    ana = await people.signed_up(door)
    user = await people.joined(door, ana, role)
    token = user.tokens["access_token"]

    for route, (permission, status) in ROUTES.items():
        answer = await ask(door, route, token)
        if role in ALLOWED[permission]:
            assert (route, status) == (route, answer.status_code)
        else:
            assert (route, [permission]) == (route, lacks(answer))


async def test_without_an_org_every_route_is_refused(door: Installation) -> None:
    token = (await make.session(door.services.identity, None)).access_token

    for route, (permission, _) in ROUTES.items():
        answer = await ask(door, route, token)
        if route[1] in NOT_FOUND_WITHOUT_AN_ORG:
            assert (route, 404) == (route, answer.status_code)
        else:
            assert (route, [permission]) == (route, lacks(answer))


async def test_without_a_session_every_route_is_401(door: Installation) -> None:
    for route in ROUTES:
        for token in ("", "x", door.secret):
            answer = await ask(door, route, token)
            assert (route, 401) == (route, answer.status_code)
            assert "unauthorized" == answer.json()["error"]["code"]
            assert "WWW-Authenticate" in answer.headers
        # An API key is not a session, in any header.
        answer = await door.client.request(route[0], re.sub(r"\{\w+\}", "x", route[1]))
        assert (route, 401) == (route, answer.status_code)


def test_every_route_of_an_org_is_in_the_list() -> None:
    of_sessions = {
        (method.upper(), path)
        for path, operations in document()["paths"].items()
        for method, operation in operations.items()
        if {"Session": []} in operation.get("security", [])
    }

    # What is about the own account asks for no permission.
    assert set(ROUTES) == {one for one in of_sessions if not one[1].startswith("/v1/auth/")}


async def test_me_of_a_user_without_an_org_has_neither_org_nor_role(door: Installation) -> None:
    token = (await make.session(door.services.identity, None)).access_token

    me = (await door.stranger.get("/v1/auth/me", headers=people.bearer(token))).json()

    assert (None, None) == (me["org"], me["role"])
