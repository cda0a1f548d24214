"""GET and PATCH /v1/auth/me."""

import pytest
from sqlalchemy import delete, update

from recibo.lib import clock
from recibo.schemas.ids import OrgId, UserId
from recibo.schemas.states import Role
from recibo.services.identity import sessions
from recibo.store import tables
from tests import make
from tests.installation import Installation
from tests.people import bearer, joined, signed_up
from tests.sign_ins import ask, audit_entries, outcome

UNAUTHORIZED = (401, "unauthorized")


@pytest.mark.parametrize("role", Role)
async def test_every_role_can_read_its_account(idle_service: Installation, role: Role) -> None:
    ana = await signed_up(idle_service)
    bea = await joined(idle_service, ana, role)

    me = (await ask(idle_service, "/me", method="GET", **bea.headers)).json()

    assert (bea.user_id, bea.email, None) == (
        me["user"]["id"], me["user"]["email"], me["user"]["name"]
    )  # fmt: skip
    assert (ana.org_id, role) == (me["org"]["id"], me["role"])
    assert {"id", "name", "slug", "plan", "billing_email"} == me["org"].keys()
    assert {
        "id", "email", "name", "created_at", "email_verified", "two_factor_enabled"
    } == me["user"].keys()  # fmt: skip


async def test_org_and_role_are_null_without_a_membership(idle_service: Installation) -> None:
    pair = await make.session(idle_service.services.identity, None)

    me = await ask(idle_service, "/me", method="GET", **bearer(pair.access_token))

    assert pair.org_id is None
    assert 200 == me.status_code
    assert (None, None) == (me.json()["org"], me.json()["role"])


async def test_role_is_the_one_of_this_very_moment(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    bea = await joined(idle_service, ana, Role.ADMIN)
    async with idle_service.database.write() as session:
        await session.execute(
            update(tables.Membership)
            .where(tables.Membership.user_id == bea.user_id)
            .values(role=Role.VIEWER)
        )

    assert "viewer" == (await ask(idle_service, "/me", method="GET", **bea.headers)).json()["role"]


async def test_tokens_of_a_removed_member_are_401(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    bea = await joined(idle_service, ana)
    async with idle_service.database.write() as session:
        await session.execute(
            delete(tables.Membership).where(tables.Membership.user_id == bea.user_id)
        )
        await sessions.end_in_org(session, UserId(bea.user_id), OrgId(ana.org_id))
    refresh = {"refresh_token": bea.tokens["refresh_token"]}

    assert UNAUTHORIZED == outcome(await ask(idle_service, "/me", method="GET", **bea.headers))
    assert (401, "authentication_failed") == outcome(await ask(idle_service, "/refresh", refresh))
    assert 200 == (await ask(idle_service, "/me", method="GET", **ana.headers)).status_code


async def test_tokens_of_a_disabled_user_are_401(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    async with idle_service.database.write() as session:
        await session.execute(update(tables.User).values(disabled_at=clock.now()))

    assert UNAUTHORIZED == outcome(await ask(idle_service, "/me", method="GET", **ana.headers))


async def test_tokens_of_a_user_who_is_gone_are_401(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    async with idle_service.database.write() as session:
        await session.execute(delete(tables.Membership))
        await session.execute(delete(tables.User).where(tables.User.id == ana.user_id))

    assert UNAUTHORIZED == outcome(await ask(idle_service, "/me", method="GET", **ana.headers))
    refresh = {"refresh_token": ana.tokens["refresh_token"]}
    assert (401, "authentication_failed") == outcome(await ask(idle_service, "/refresh", refresh))


async def test_name_is_changed_cleared_and_kept(idle_service: Installation) -> None:
    ana = await signed_up(idle_service)
    names = []
    for body in ({"name": "Ana"}, {}, {"email": "x"}, {"name": None}, {"name": "é" * 255}):
        answer = await ask(idle_service, "/me", body, method="PATCH", **ana.headers)
        assert 200 == answer.status_code
        me = await ask(idle_service, "/me", method="GET", **ana.headers)
        assert me.json() == answer.json()
        names.append(answer.json()["user"]["name"])

    assert ["Ana", "Ana", "Ana", None, "é" * 255] == names
    rows = await audit_entries(idle_service, "user.updated")
    assert [(None, "Ana"), ("Ana", None), (None, "é" * 255)] == [
        (row.before and row.before["full_name"], row.after and row.after["full_name"])
        for row in rows
    ]


@pytest.mark.parametrize("name", ["a" * 256, 1, ["Ana"], {}, True])
async def test_names_that_do_not_hold_are_400(door: Installation, name: object) -> None:
    ana = await signed_up(door)

    answer = await ask(door, "/me", {"name": name}, method="PATCH", **ana.headers)

    assert (400, "validation_error") == outcome(answer)
    assert ["name"] == [one["field"] for one in answer.json()["error"]["details"]]
