"""The team: GET, PATCH and DELETE of /v1/org/members."""

import datetime as dt
from typing import cast

import httpx
import pytest

from recibo.errors import InsufficientScope, NoSession, ServiceError
from recibo.lib import clock, ids
from recibo.schemas.actor import Member
from recibo.schemas.states import AuditAction, Role
from recibo.services.identity import members, sessions
from recibo.store.tables import ApiKey, Membership
from tests import make, people, races
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.people import Session

pytestmark = ON_SQLITE

MEMBERS = "/v1/org/members"
MINUTE = dt.timedelta(minutes=1)
OTHERS = [role for role in Role if role is not Role.OWNER]


async def change(i: Installation, who: Session, whom: str, role: str) -> httpx.Response:
    """As a user, give a member another role."""
    url = f"{MEMBERS}/{whom}"
    return await i.stranger.patch(url, json={"role": role}, headers=who.headers)


async def remove(i: Installation, who: Session, whom: str) -> httpx.Response:
    """As a user, remove a member."""
    return await i.stranger.delete(f"{MEMBERS}/{whom}", headers=who.headers)


async def roles(i: Installation, who: Session) -> dict[str, str]:
    """Return the role of each member, in join order."""
    answer = await i.stranger.get(MEMBERS, headers=who.headers)
    assert answer.status_code == 200, answer.text
    return {member["user_id"]: member["role"] for member in answer.json()}


async def actor_of(i: Installation, who: Session) -> Member:
    """Return a member of the org as an actor."""
    keyring, token = i.services.identity.keyring, who.tokens["access_token"]
    signed_in = await sessions.authenticate(i.database, keyring, token, visit=make.VISIT)
    assert signed_in.member is not None
    return signed_in.member


async def key_of(i: Installation, who: Session, **body: str) -> str:
    """As a user, make an API key, and return its secret."""
    body = {"name": "key", **body}
    answer = await i.stranger.post("/v1/api-keys", json=body, headers=who.headers)
    assert answer.status_code == 201, answer.text
    return cast("str", answer.json()["secret"])


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Return status and code of an error."""
    return answer.status_code, answer.json()["error"]["code"]


@ON_BOTH
async def test_members_are_listed_in_the_order_in_which_they_joined(
    idle_service: Installation,
) -> None:
    ana = await people.signed_up(idle_service)
    # The account is older than the membership, which is what counts.
    bea = await people.signed_up(idle_service, email="bea@people.test", org="Bea")
    caio = await people.joined(idle_service, ana, Role.VIEWER)
    await people.join_by_invitation(idle_service, ana, bea.email, Role.ADMIN)

    listed = (await idle_service.stranger.get(MEMBERS, headers=ana.headers)).json()

    assert [
        (ana.user_id, ana.email, None, "owner"),
        (caio.user_id, caio.email, None, "viewer"),
        (bea.user_id, bea.email, None, "admin"),
    ] == [(one["user_id"], one["email"], one["full_name"], one["role"]) for one in listed]
    assert {"user_id", "email", "full_name", "role", "created_at"} == set(listed[0])


async def test_member_has_the_name_of_the_account(door: Installation) -> None:
    ana = await people.signed_up(door)
    await door.stranger.patch("/v1/auth/me", json={"name": "Ana"}, headers=ana.headers)

    (listed,) = (await door.stranger.get(MEMBERS, headers=ana.headers)).json()

    assert "Ana" == listed["full_name"]


@pytest.mark.parametrize("role", Role)
async def test_owner_gives_any_role(idle_service: Installation, role: Role) -> None:
    ana = await people.signed_up(idle_service)
    bea = await people.joined(idle_service, ana, Role.DEVELOPER)

    answer = await change(idle_service, ana, bea.user_id, role)

    assert (200, bea.user_id, role) == (
        answer.status_code,
        answer.json()["user_id"],
        answer.json()["role"],
    )
    assert {"user_id", "email", "full_name", "role", "created_at"} == set(answer.json())
    assert {ana.user_id: "owner", bea.user_id: role} == await roles(idle_service, ana)


async def test_role_change_is_audited(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    bea = await people.joined(idle_service, ana, Role.DEVELOPER)
    await change(idle_service, ana, bea.user_id, "viewer")

    (event,) = await people.audited(idle_service, ana, AuditAction.MEMBER_ROLE_CHANGED)

    assert ("membership", bea.user_id, ana.user_id) == (
        event["resource_type"],
        event["resource_id"],
        event["actor_user_id"],
    )
    assert ({"role": "developer"}, {"role": "viewer"}) == (event["before"], event["after"])


async def test_the_role_held_already_is_200_and_not_audited(door: Installation) -> None:
    ana = await people.signed_up(door)

    assert 200 == (await change(door, ana, ana.user_id, "owner")).status_code
    assert [] == await people.audited(door, ana, AuditAction.MEMBER_ROLE_CHANGED)


async def test_last_owner_cannot_be_demoted(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    await people.joined(idle_service, ana, Role.ADMIN)
    # An owner elsewhere is none here.
    await people.signed_up(idle_service, email="eve@people.test", org="Eve")

    answers = [await change(idle_service, ana, ana.user_id, role) for role in OTHERS]

    assert [(400, "validation_error")] * len(OTHERS) == [refusal(answer) for answer in answers]
    assert "owner" == (await roles(idle_service, ana))[ana.user_id]


async def test_one_of_two_owners_can_be_demoted(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    bea = await people.joined(idle_service, ana, Role.OWNER)

    assert 200 == (await change(idle_service, ana, ana.user_id, "viewer")).status_code
    assert (400, "validation_error") == refusal(
        await change(idle_service, bea, bea.user_id, "admin")
    )


async def test_only_an_owner_makes_changes_or_removes_an_owner(
    idle_service: Installation,
) -> None:
    ana = await people.signed_up(idle_service)
    await people.joined(idle_service, ana, Role.OWNER)
    bea = await people.joined(idle_service, ana, Role.ADMIN)
    caio = await people.joined(idle_service, ana, Role.DEVELOPER)

    answers = [
        await change(idle_service, bea, caio.user_id, "owner"),
        await change(idle_service, bea, bea.user_id, "owner"),
        await change(idle_service, bea, ana.user_id, "viewer"),
        await change(idle_service, bea, ana.user_id, "owner"),
        await remove(idle_service, bea, ana.user_id),
    ]

    assert [(403, "insufficient_scope")] * 5 == [refusal(answer) for answer in answers]
    assert {"owner"} == {
        detail["message"].split("`")[1]
        for answer in answers
        for detail in answer.json()["error"]["details"]
    }
    assert {"owner", "admin", "developer"} == set((await roles(idle_service, ana)).values())
    # What they may do is another matter.
    assert 200 == (await change(idle_service, bea, caio.user_id, "viewer")).status_code
    assert 204 == (await remove(idle_service, bea, caio.user_id)).status_code


@pytest.mark.parametrize("body", [{}, {"role": None}, {"role": "king"}, {"role": 1}, []])
async def test_role_that_is_none_is_400(door: Installation, body: object) -> None:
    ana = await people.signed_up(door)

    url = f"{MEMBERS}/{ana.user_id}"
    answer = await door.stranger.patch(url, json=body, headers=ana.headers)

    assert (400, "validation_error") == refusal(answer)


async def test_unknown_member_is_404(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    eve = await people.signed_up(idle_service, email="eve@people.test", org="Eve")
    gone = await people.joined(idle_service, ana)
    assert 204 == (await remove(idle_service, ana, gone.user_id)).status_code

    for whom in (
        *(eve.user_id, gone.user_id, ids.new("usr"), "me", "%00", "a" * 5000),
        *("%F0%9F%98%80", "..%2Finvitations", ana.user_id.upper()),
    ):
        assert (404, "not_found") == refusal(await change(idle_service, ana, whom, "viewer"))
        assert (404, "not_found") == refusal(await remove(idle_service, ana, whom))
    assert {eve.user_id: "owner"} == await roles(idle_service, eve)


@ON_BOTH
async def test_removed_member_is_gone(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    bea = await people.joined(idle_service, ana, Role.VIEWER)

    answer = await remove(idle_service, ana, bea.user_id)

    assert (204, b"") == (answer.status_code, answer.content)
    assert {ana.user_id: "owner"} == await roles(idle_service, ana)
    (event,) = await people.audited(idle_service, ana, AuditAction.MEMBER_REMOVED)
    assert ("membership", bea.user_id) == (event["resource_type"], event["resource_id"])
    assert {"email": bea.email, "role": "viewer"} == event["before"]


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN])
async def test_members_cannot_remove_themselves(idle_service: Installation, role: Role) -> None:
    """So the last owner is never removed: only owners remove owners, and this one is alone."""
    ana = await people.signed_up(idle_service)
    bea = await people.joined(idle_service, ana, role)

    assert (400, "validation_error") == refusal(await remove(idle_service, bea, bea.user_id))
    assert (400, "validation_error") == refusal(await remove(idle_service, ana, ana.user_id))
    assert {ana.user_id: "owner", bea.user_id: role} == await roles(idle_service, ana)


@ON_BOTH
async def test_keys_that_a_removed_member_made_here_are_revoked(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    at_home = await people.signed_up(i, email="bea@people.test", org="Bea")
    bea = await people.join_by_invitation(i, ana, at_home.email)
    of_bea, of_ana, of_bea_at_home = [await key_of(i, who) for who in (bea, ana, at_home)]

    before = clock.now()
    await remove(i, ana, bea.user_id)

    assert (401, "unauthorized") == refusal(await i.get("/key", secret=of_bea))
    assert 200 == (await i.get("/key", secret=of_ana)).status_code
    assert 200 == (await i.get("/key", secret=of_bea_at_home)).status_code
    (revoked,) = [row for row in await i.rows(ApiKey) if row.revoked_at is not None]
    assert revoked.revoked_at is not None
    assert before <= revoked.revoked_at <= clock.now()
    (event,) = await people.audited(i, ana, AuditAction.APIKEY_REVOKED)
    assert ("api_key", revoked.id, ana.user_id) == (
        event["resource_type"],
        event["resource_id"],
        event["actor_user_id"],
    )


async def test_expired_keys_of_a_removed_member_stay_expired(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.joined(i, ana, Role.DEVELOPER)
    secret = await key_of(i, bea, expires_at=(clock.now() + MINUTE).isoformat())

    with clock.moved(MINUTE):
        await remove(i, ana, bea.user_id)

        assert (401, "expired_api_key") == refusal(await i.get("/key", secret=secret))
        assert [] == await people.audited(i, ana, AuditAction.APIKEY_REVOKED)


async def test_sessions_of_a_removed_member_end_in_this_org_alone(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.signed_up(i, email="bea@people.test", org="Bea")
    here = await people.join_by_invitation(i, ana, bea.email)

    await remove(i, ana, bea.user_id)

    me = "/v1/auth/me"
    assert (401, "unauthorized") == refusal(await i.stranger.get(me, headers=here.headers))
    assert 200 == (await i.stranger.get(me, headers=bea.headers)).status_code
    refreshed = [
        await i.stranger.post(
            "/v1/auth/refresh", json={"refresh_token": one.tokens["refresh_token"]}
        )
        for one in (here, bea)
    ]
    assert [401, 200] == [answer.status_code for answer in refreshed]


async def test_session_of_a_removed_member_stays_ended_when_the_user_joins_again(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    before = await people.join_by_invitation(i, ana, "bea@people.test")
    await remove(i, ana, before.user_id)
    with clock.moved(MINUTE):
        after = await people.join_by_invitation(i, ana, before.email)
        answers = [
            await i.stranger.get("/v1/auth/me", headers=one.headers) for one in (before, after)
        ]

    assert [401, 200] == [answer.status_code for answer in answers]


async def test_user_without_an_org_left_signs_in_to_none(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.signed_up(i, email="bea@people.test", org="Bea")
    eve = await people.joined(i, bea, Role.OWNER)
    assert 204 == (await remove(i, eve, bea.user_id)).status_code

    body = {"email": bea.email, "password": people.PASSWORD}
    tokens = (await i.stranger.post("/v1/auth/login", json=body)).json()
    i.stranger.cookies.clear()

    assert tokens["org_id"] is None
    headers = people.bearer(tokens["access_token"])
    me = (await i.stranger.get("/v1/auth/me", headers=headers)).json()
    assert (None, None) == (me["org"], me["role"])
    assert (403, "insufficient_scope") == refusal(await i.stranger.get(MEMBERS, headers=headers))
    assert (404, "not_found") == refusal(await i.stranger.get("/v1/org", headers=headers))
    assert {ana.user_id: "owner"} == await roles(i, ana)


async def test_role_holds_from_the_next_request_on(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    bea = await people.joined(idle_service, ana, Role.ADMIN)
    caio = await people.joined(idle_service, ana, Role.VIEWER)

    assert 200 == (await change(idle_service, bea, caio.user_id, "billing")).status_code
    await change(idle_service, ana, bea.user_id, "viewer")
    assert (403, "insufficient_scope") == refusal(
        await change(idle_service, bea, caio.user_id, "viewer")
    )
    await change(idle_service, ana, caio.user_id, "admin")
    assert 200 == (await change(idle_service, caio, bea.user_id, "billing")).status_code


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        (Role.OWNER, None, set()),
        (Role.OWNER, Role.ADMIN, {"admin", "viewer"}),
        (Role.OWNER, Role.DEVELOPER, set()),
        (Role.OWNER, Role.BILLING, set()),
        (Role.ADMIN, None, set()),
        (Role.ADMIN, Role.VIEWER, set()),
        (Role.ADMIN, Role.OWNER, {"admin", "viewer"}),
    ],
)
async def test_invitations_that_a_member_could_no_longer_send_are_revoked(
    idle_service: Installation, before: Role, after: Role | None, left: set[str]
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.joined(i, ana, before)
    for role in (Role.OWNER, Role.ADMIN, Role.VIEWER):
        await people.invited(i, ana, f"ana-{role}@people.test", role)
        if role is not Role.OWNER or before is Role.OWNER:
            await people.invited(i, bea, f"bea-{role}@people.test", role)

    if after is None:
        await remove(i, ana, bea.user_id)
    else:
        await change(i, ana, bea.user_id, after)

    listed = (await i.stranger.get("/v1/org/invitations", headers=ana.headers)).json()["data"]
    of_ana = [one for one in listed if one["email"].startswith("ana-")]
    of_bea = {one["role"] for one in listed if one["email"].startswith("bea-")}
    assert (3, left) == (len(of_ana), of_bea)
    revoked = await people.audited(i, ana, AuditAction.INVITATION_REVOKED)
    sent = {"admin", "viewer"} | ({"owner"} if before is Role.OWNER else set())
    assert sent - left == {event["before"]["role"] for event in revoked}


@ON_BOTH
async def test_two_owners_who_demote_each_other_at_once_leave_one(
    idle_service: Installation,
) -> None:
    ana = await people.signed_up(idle_service)
    bea = await people.joined(idle_service, ana, Role.OWNER)

    answers = await races.answers_of(
        idle_service.database,
        change(idle_service, ana, bea.user_id, "viewer"),
        change(idle_service, bea, ana.user_id, "viewer"),
    )

    assert [200, 403] == sorted(answer.status_code for answer in answers)
    held = {row.user_id: row.role for row in await idle_service.rows(Membership)}
    assert {"owner", "viewer"} == {held[ana.user_id], held[bea.user_id]}


@ON_BOTH
async def test_two_owners_who_demote_themselves_at_once_leave_one(
    idle_service: Installation,
) -> None:
    ana = await people.signed_up(idle_service)
    bea = await people.joined(idle_service, ana, Role.OWNER)

    answers = await races.answers_of(
        idle_service.database,
        change(idle_service, ana, ana.user_id, "viewer"),
        change(idle_service, bea, bea.user_id, "viewer"),
    )

    assert [200, 400] == sorted(answer.status_code for answer in answers)


@ON_BOTH
async def test_two_owners_who_remove_each_other_at_once_leave_one(
    idle_service: Installation,
) -> None:
    ana = await people.signed_up(idle_service)
    bea = await people.joined(idle_service, ana, Role.OWNER)

    answers = await races.answers_of(
        idle_service.database,
        remove(idle_service, ana, bea.user_id),
        remove(idle_service, bea, ana.user_id),
    )

    assert [204, 401] == sorted(answer.status_code for answer in answers)
    here = [row for row in await idle_service.rows(Membership) if row.org_id == ana.org_id]
    assert ["owner"] == [row.role for row in here]


@ON_BOTH
async def test_rights_lost_since_the_request_was_let_in_are_lost(
    idle_service: Installation,
) -> None:
    """The guard saw the old role; the service looks again, with the org locked."""
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.joined(i, ana, Role.ADMIN)
    caio = await people.joined(i, ana, Role.VIEWER)
    actor = await actor_of(i, bea)

    async def tried() -> type[ServiceError] | None:
        try:
            await members.change_role(i.database, actor, caio.user_id, role=Role.ADMIN)
        except ServiceError as e:
            return type(e)
        return None

    await change(i, ana, bea.user_id, "viewer")
    assert InsufficientScope is await tried()
    await remove(i, ana, bea.user_id)
    assert NoSession is await tried()
    assert "viewer" == (await roles(i, ana))[caio.user_id]


@ON_BOTH
async def test_services_leave_an_owner_when_two_demote_each_other(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.joined(i, ana, Role.OWNER)
    first, second = await actor_of(i, ana), await actor_of(i, bea)

    outcomes = await races.at_once(
        i.database,
        members.change_role(i.database, first, second.user_id, role=Role.ADMIN),
        members.change_role(i.database, second, first.user_id, role=Role.ADMIN),
    )

    assert 1 == sum(isinstance(one, InsufficientScope) for one in outcomes)
    held = {row.user_id: row.role for row in await i.rows(Membership)}
    assert {"owner", "admin"} == {held[ana.user_id], held[bea.user_id]}
