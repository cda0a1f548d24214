"""POST /v1/auth/accept-invite: who gets in, and how far."""

import datetime as dt
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from recibo.lib import clock
from recibo.schemas.states import AuditAction, Role
from recibo.store.tables import Invitation, Membership, User
from tests import inbox, people, races
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation, client_of
from tests.people import Session

pytestmark = ON_SQLITE

ACCEPT, MEMBERS, INVITATIONS = "/v1/auth/accept-invite", "/v1/org/members", "/v1/org/invitations"
WEEK = dt.timedelta(days=7)
MINUTE = dt.timedelta(minutes=1)
INVALID = (400, "validation_error")


async def is_pending(i: Installation, who: Session) -> bool:
    """Return whether an invitation of a user's org is pending."""
    answer = await i.stranger.get(INVITATIONS, headers=who.headers)
    return bool(answer.json()["data"])


async def role_of(i: Installation, user_id: str, org_id: str) -> str | None:
    """Return the role that a user has in an org."""
    rows = await i.rows(Membership)
    return {(row.user_id, row.org_id): row.role for row in rows}.get((user_id, org_id))


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Return status and code of an error."""
    return answer.status_code, answer.json()["error"]["code"]


@ON_BOTH
@pytest.mark.parametrize("role", Role)
async def test_accepting_makes_the_user_and_the_membership(
    idle_service: Installation, role: Role
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    id_, token = await people.invite_with_token(i, ana, "bea@people.test", role)

    answer = await i.stranger.post(ACCEPT, json={"token": token})
    cookies = set(i.stranger.cookies)
    i.stranger.cookies.clear()

    tokens = answer.json()
    assert (200, ana.org_id, "Bearer", 900) == (
        answer.status_code, tokens["org_id"], tokens["token_type"], tokens["expires_in"]
    )  # fmt: skip
    assert {"service_access", "service_refresh"} == cookies
    headers = people.bearer(tokens["access_token"])
    me = (await i.stranger.get("/v1/auth/me", headers=headers)).json()
    assert (tokens["user_id"], "bea@people.test", None, True) == (
        me["user"]["id"], me["user"]["email"], me["user"]["name"], me["user"]["email_verified"]
    )  # fmt: skip
    assert (ana.org_id, role) == (me["org"]["id"], me["role"])
    (user,) = [row for row in await i.rows(User) if row.id == tokens["user_id"]]
    assert user.password_hash is None
    (row,) = [row for row in await i.rows(Invitation) if row.id == id_]
    assert row.accepted_at is not None
    assert not await is_pending(i, ana)
    (event,) = await people.audited(i, ana, AuditAction.INVITATION_ACCEPTED)
    assert ("invitation", id_, user.id) == (
        event["resource_type"], event["resource_id"], event["actor_user_id"]
    )  # fmt: skip


async def test_new_user_may_set_a_password_and_one_that_existed_may_not(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await people.signed_up(i, email="bea@people.test", org="Bea")
    existing = await people.join_by_invitation(i, ana, "bea@people.test")
    new = await people.join_by_invitation(i, ana, "caio@people.test")

    async def tried(who: Session) -> int:
        body = {"new_password": "another long password"}
        answer = await i.stranger.post("/v1/auth/password", json=body, headers=who.headers)
        i.stranger.cookies.clear()
        return answer.status_code

    assert 200 == await tried(new)
    assert 403 == await tried(existing)


async def test_session_of_an_account_that_existed_does_not_leave_the_org(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.signed_up(i, email="bea@people.test", org="Bea")
    here = await people.join_by_invitation(i, ana, bea.email, Role.ADMIN)

    assert (bea.user_id, ana.org_id) == (here.user_id, here.org_id)
    assert 200 == (await i.stranger.get(MEMBERS, headers=here.headers)).status_code
    for path, body in (("switch-org", {"org_id": bea.org_id}), ("logout-all", {})):
        answer = await i.stranger.post(f"/v1/auth/{path}", json=body, headers=here.headers)
        assert (403, "insufficient_scope") == refusal(answer)
    # What it refreshes to is bound as well.
    body = {"refresh_token": here.tokens["refresh_token"]}
    pair = (await i.stranger.post("/v1/auth/refresh", json=body)).json()
    i.stranger.cookies.clear()
    answer = await i.stranger.post(
        "/v1/auth/switch-org",
        json={"org_id": bea.org_id},
        headers=people.bearer(pair["access_token"]),
    )
    assert (403, ana.org_id) == (answer.status_code, pair["org_id"])
    # The user's own sessions and password are as they were.
    assert 200 == (await i.stranger.get("/v1/auth/me", headers=bea.headers)).status_code
    login = {"email": bea.email, "password": people.PASSWORD}
    assert 200 == (await i.stranger.post("/v1/auth/login", json=login)).status_code


async def test_existing_membership_is_kept(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    _, token = await people.invite_with_token(i, ana, "bea@people.test", Role.VIEWER)
    bea = await people.signed_up(i, email="bea@people.test", org="Bea")
    async with i.database.write() as session:
        now = clock.now()
        session.add(
            Membership(org_id=ana.org_id, user_id=bea.user_id, role=Role.ADMIN, created_at=now)
        )

    assert 200 == (await people.accept(i, token)).status_code
    assert "admin" == await role_of(i, bea.user_id, ana.org_id)


@pytest.mark.parametrize("token", ["", "x", "0" * 32, "é" * 32, "' OR 1=1 --", "a" * 100_000])
async def test_unknown_token_is_400(idle_service: Installation, token: str) -> None:
    await people.invited(idle_service, await people.signed_up(idle_service), "bea@people.test")

    assert INVALID == refusal(await people.accept(idle_service, token))


@pytest.mark.parametrize("body", [{}, {"token": None}, {"token": 1}, [], "x"])
async def test_body_without_a_token_is_400(door: Installation, body: object) -> None:
    assert INVALID == refusal(await door.stranger.post(ACCEPT, json=body))


async def test_mail_contains_the_token(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await people.invited(i, ana, "bea@people.test")

    answer = await people.accept(i, await inbox.new_token(i, "accept-invite"))

    assert (200, ana.org_id) == (answer.status_code, answer.json()["org_id"])


@ON_BOTH
async def test_only_the_newest_invitation_is_mailed(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    for role in (Role.ADMIN, Role.VIEWER):
        await people.invited(i, ana, "bea@people.test", role)
    withdrawn = await people.invited(i, ana, "caio@people.test")
    await i.stranger.delete(f"{INVITATIONS}/{withdrawn['id']}", headers=ana.headers)

    (token,) = await inbox.new_tokens(i, "accept-invite")
    bea = await people.session_of(i, await people.accept(i, token))

    assert "viewer" == await role_of(i, bea.user_id, ana.org_id)


async def test_accepted_one_is_400_the_second_time(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    _, token = await people.invite_with_token(idle_service, ana, "bea@people.test")

    answers = [await people.accept(idle_service, token) for _ in range(2)]

    assert [200, 400] == [answer.status_code for answer in answers]
    assert "set-cookie" not in answers[1].headers


async def test_expired_one_is_400(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    (_, first), (_, second) = [
        await people.invite_with_token(idle_service, ana, f"{name}@people.test")
        for name in ("bea", "caio")
    ]

    with clock.moved(WEEK - MINUTE):
        assert 200 == (await people.accept(idle_service, first)).status_code
    with clock.moved(WEEK):
        assert INVALID == refusal(await people.accept(idle_service, second))


async def test_disabled_account_is_401_and_the_invitation_stays(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.signed_up(i, email="bea@people.test", org="Bea")
    _, token = await people.invite_with_token(i, ana, bea.email)
    await set_user(i, bea, disabled_at=clock.now())

    answer = await people.accept(i, token)

    assert (401, "authentication_failed") == refusal(answer)
    assert await role_of(i, bea.user_id, ana.org_id) is None
    assert await is_pending(i, ana)
    await set_user(i, bea, disabled_at=None)
    assert 200 == (await people.accept(i, token)).status_code


async def set_user(i: Installation, who: Session, **columns: Any) -> None:
    """Change a user's row."""
    async with i.database.write() as session:
        await session.execute(update(User).where(User.id == who.user_id).values(**columns))


@ON_BOTH
async def test_second_factor_is_still_required(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.signed_up(i, email="bea@people.test", org="Bea")
    await set_user(i, bea, totp_enabled_at=clock.now(), email_verified_at=clock.now())
    _, token = await people.invite_with_token(i, ana, bea.email)

    tokens = (await people.accept(i, token)).json()

    assert (True, ana.org_id) == (tokens["two_factor_required"], tokens["org_id"])
    headers = people.bearer(tokens["access_token"])
    answer = await i.stranger.get(MEMBERS, headers=headers)
    assert (401, "authentication_failed") == refusal(answer)


@pytest.mark.parametrize("shows_session", [False, True])
async def test_unproven_account_is_emptied_unless_its_maker_accepts(
    idle_service: Installation, *, shows_session: bool
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.signed_up(i, email="bea@people.test", org="Bea")
    _, token = await people.invite_with_token(i, ana, bea.email)

    async with client_of(i.asgi, address="192.0.2.9") as elsewhere:
        headers = bea.headers if shows_session else {}
        answer = await elsewhere.post(ACCEPT, json={"token": token}, headers=headers)

    assert 200 == answer.status_code
    login = {"email": bea.email, "password": people.PASSWORD}
    is_kept = (await i.stranger.post("/v1/auth/login", json=login)).status_code == 200
    i.stranger.cookies.clear()
    me = await i.stranger.get("/v1/auth/me", headers=bea.headers)
    assert (shows_session, shows_session) == (is_kept, me.status_code == 200)
    here = people.bearer(answer.json()["access_token"])
    me = await i.stranger.get("/v1/auth/me", headers=here)
    assert (ana.org_id, True) == (me.json()["org"]["id"], me.json()["user"]["email_verified"])


async def test_page_of_another_site_accepts_nothing(door: Installation) -> None:
    ana = await people.signed_up(door)
    _, token = await people.invite_with_token(door, ana, "bea@people.test")

    answer = await people.accept(door, token, Origin="https://evil.test")

    assert (403, "cross_site_request") == refusal(answer)
    assert 200 == (await people.accept(door, token, Origin="http://recibo.test")).status_code


@ON_BOTH
async def test_token_accepted_twice_at_once_works_once(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    _, token = await people.invite_with_token(i, ana, "bea@people.test")

    answers = await races.answers_of(i.database, *(people.accept(i, token) for _ in range(4)))

    assert [200, 400, 400, 400] == sorted(answer.status_code for answer in answers)
    assert 1 == len(await people.audited(i, ana, AuditAction.INVITATION_ACCEPTED))


@ON_BOTH
async def test_accepting_and_signing_up_at_once_make_one_user(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    _, token = await people.invite_with_token(i, ana, "bea@people.test")
    body = {"email": "bea@people.test", "password": people.PASSWORD, "org_name": "Bea"}

    accepted, signed_up = await races.answers_of(
        i.database, people.accept(i, token), i.stranger.post("/v1/auth/signup", json=body)
    )

    assert 200 == accepted.status_code
    assert signed_up.status_code in {201, 409}
    assert 1 == [row.email for row in await i.rows(User)].count("bea@people.test")


@ON_BOTH
async def test_withdrawing_and_accepting_at_once_agree(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    id_, token = await people.invite_with_token(i, ana, "bea@people.test")

    accepted, revoked = await races.answers_of(
        i.database,
        people.accept(i, token),
        i.stranger.delete(f"{INVITATIONS}/{id_}", headers=ana.headers),
    )

    assert (accepted.status_code, revoked.status_code) in {(200, 404), (400, 204)}
    (row,) = await i.rows(Invitation)
    assert (row.accepted_at is None) != (row.revoked_at is None)
