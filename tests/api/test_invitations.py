"""Invitations: sent, listed, withdrawn, accepted."""

import datetime as dt
from dataclasses import replace
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from recibo.errors import RateLimitExceeded
from recibo.kit import clock, ids
from recibo.services.identity import invitations, sessions
from recibo.shapes.actor import Member
from recibo.shapes.states import AuditAction, MailKind, Role
from recibo.store.tables import Invitation, Mail, Membership, User
from tests import make, people, races
from tests.installation import Installation, client_of
from tests.people import Session

MEMBERS, INVITATIONS, ACCEPT = "/v1/org/members", "/v1/org/invitations", "/v1/auth/accept-invite"
WEEK = dt.timedelta(days=7)
SECOND = dt.timedelta(seconds=1)


async def invite(i: Installation, who: Session, **body: Any) -> httpx.Response:
    """Have somebody send an invitation."""
    return await i.stranger.post(MEMBERS, json=body, headers=who.headers)


async def revoke(i: Installation, who: Session, invitation_id: str) -> httpx.Response:
    """Have somebody withdraw an invitation."""
    return await i.stranger.delete(f"{INVITATIONS}/{invitation_id}", headers=who.headers)


async def pending(i: Installation, who: Session) -> list[dict[str, Any]]:
    """Return what is pending in somebody's org."""
    answer = await i.stranger.get(INVITATIONS, headers=who.headers)
    assert (200, {"data"}) == (answer.status_code, set(answer.json()))
    listed: list[dict[str, Any]] = answer.json()["data"]
    return listed


async def offered(
    i: Installation, owner: Session, email: str, role: Role = Role.DEVELOPER
) -> tuple[str, str]:
    """Have an address invited, and return the invitation's id and its token."""
    invitation = await people.invited(i, owner, email, role)
    return invitation["id"], await people.invitation_token(i, invitation["id"])


async def role_of(i: Installation, user_id: str, org_id: str) -> str | None:
    """Return the role that a user has in an org."""
    rows = await i.rows(Membership)
    return {(row.user_id, row.org_id): row.role for row in rows}.get((user_id, org_id))


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Return status and code of an error."""
    return answer.status_code, answer.json()["error"]["code"]


INVALID = (400, "validation_error")


@pytest.mark.parametrize("role", Role)
async def test_invitation_is_answered_mailed_and_audited(
    idle_service: Installation, role: Role
) -> None:
    i = idle_service
    ana = await people.signed_up(i, org="Padaria")

    answer = await invite(i, ana, email="Bea@People.test", role=role)

    told = answer.json()
    assert (201, {"id", "email", "role", "expires_at", "accepted_at", "created_at"}) == (
        answer.status_code,
        set(told),
    )
    assert told["id"].startswith("inv_")
    assert ("bea@people.test", role, None) == (told["email"], told["role"], told["accepted_at"])
    made, over = (dt.datetime.fromisoformat(told[name]) for name in ("created_at", "expires_at"))
    assert WEEK == over - made
    (mail,) = [row for row in await i.rows(Mail) if row.kind == MailKind.INVITATION]
    assert "bea@people.test" == mail.recipient
    assert {
        "invitation_id": told["id"], "org": "Padaria", "role": role, "inviter": ana.email
    } == mail.names  # fmt: skip
    (event,) = await people.audited(i, ana, AuditAction.MEMBER_INVITED)
    assert ("membership", told["id"]) == (event["resource_type"], event["resource_id"])
    assert {"email": "bea@people.test", "role": role} == event["after"]
    assert [told] == await pending(i, ana)


async def test_nobody_is_made_before_it_is_accepted(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    before = {row.id for row in await idle_service.rows(User)}

    await people.invited(idle_service, ana, "bea@people.test")

    assert before == {row.id for row in await idle_service.rows(User)}
    assert 200 == (await idle_service.stranger.get(MEMBERS, headers=ana.headers)).status_code


@pytest.mark.parametrize(
    "body",
    [
        *({}, [], {"email": "bea@people.test"}, {"role": "viewer"}),
        *({"email": "bea@people.test", "role": role} for role in ("king", None, 1, "", "Owner")),
        *(
            {"email": email, "role": "viewer"}
            for email in (
                *("bea", "", None, 1, "a@b@c.test", "bea@people.test\n"),
                *("bea@tempmail.com", "bea@mx.throwaway.email", "bea@mailinator.com"),
            )
        ),
    ],
)
async def test_what_is_no_invitation_is_400(door: Installation, body: object) -> None:
    ana = await people.signed_up(door)

    answer = await door.stranger.post(MEMBERS, json=body, headers=ana.headers)

    assert INVALID == refusal(answer)
    assert [] == await pending(door, ana)


async def test_address_of_a_member_is_409(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    eve = await people.signed_up(idle_service, email="eve@people.test", org="Eve")
    bea = await people.came(idle_service, ana, "bea@people.test")

    for email in (ana.email, bea.email.upper()):
        assert (409, "conflict") == refusal(
            await invite(idle_service, ana, email=email, role="viewer")
        )
    # Members elsewhere may be invited.
    assert 201 == (await invite(idle_service, ana, email=eve.email, role="admin")).status_code


async def test_inviting_again_replaces(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    eve = await people.signed_up(i, email="eve@people.test", org="Eve")
    elsewhere = await people.invited(i, eve, "bea@people.test")
    first, token = await offered(i, ana, "bea@people.test", Role.ADMIN)

    second = await people.invited(i, ana, "bea@people.test", Role.VIEWER)

    assert [second] == await pending(i, ana)
    assert [elsewhere] == await pending(i, eve)
    assert INVALID == refusal(await people.accept(i, token))
    (event,) = await people.audited(i, ana, AuditAction.INVITATION_REVOKED)
    assert ("invitation", first) == (event["resource_type"], event["resource_id"])
    assert {"email": "bea@people.test", "role": "admin"} == event["before"]


async def test_inviting_again_replaces_what_is_over(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    await people.invited(idle_service, ana, "bea@people.test")
    async with idle_service.database.write() as session:
        await session.execute(update(Invitation).values(expires_at=clock.now()))

    second = await people.invited(idle_service, ana, "bea@people.test")

    assert [second] == await pending(idle_service, ana)


async def test_only_an_owner_invites_and_withdraws_an_owner(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    bea = await people.joined(idle_service, ana, Role.ADMIN)
    owners = await people.invited(idle_service, ana, "o@people.test", Role.OWNER)

    refused = [
        await invite(idle_service, bea, email="caio@people.test", role="owner"),
        await revoke(idle_service, bea, owners["id"]),
    ]

    assert [(403, "insufficient_scope")] * 2 == [refusal(answer) for answer in refused]
    assert [owners] == await pending(idle_service, ana)
    assert 204 == (await revoke(idle_service, ana, owners["id"])).status_code


async def test_an_admins_invitation_does_not_replace_an_owners(
    idle_service: Installation,
) -> None:
    """Replacing withdraws: what only an owner may withdraw, only an owner replaces."""
    ana = await people.signed_up(idle_service)
    bea = await people.joined(idle_service, ana, Role.ADMIN)
    owners = await people.invited(idle_service, ana, "o@people.test", Role.OWNER)

    answer = await invite(idle_service, bea, email="o@people.test", role="viewer")

    assert (403, "insufficient_scope") == refusal(answer)
    assert [owners] == await pending(idle_service, ana)


async def test_pending_ones_are_listed_newest_first(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    sent = [await people.invited(i, ana, f"{number}@people.test") for number in range(4)]
    await people.accept(i, await people.invitation_token(i, sent[0]["id"]))
    await revoke(i, ana, sent[1]["id"])

    assert [sent[3], sent[2]] == await pending(i, ana)
    async with i.database.write() as session:
        over = update(Invitation).where(Invitation.id == sent[2]["id"])
        await session.execute(over.values(expires_at=clock.now()))
    assert [sent[3]] == await pending(i, ana)


async def test_withdrawn_one_is_worth_nothing(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    id_, token = await offered(i, ana, "bea@people.test")

    answers = [await revoke(i, ana, id_) for _ in range(2)]

    assert [(204, b""), (204, b"")] == [(one.status_code, one.content) for one in answers]
    assert INVALID == refusal(await people.accept(i, token))
    assert 1 == len(await people.audited(i, ana, AuditAction.INVITATION_REVOKED))


async def test_whatever_is_no_open_invitation_of_the_org_is_404(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    eve = await people.signed_up(i, email="eve@people.test", org="Eve")
    foreign = await people.invited(i, eve, "bea@people.test")
    accepted, token = await offered(i, ana, "bea@people.test")
    assert 200 == (await people.accept(i, token)).status_code

    for id_ in (foreign["id"], accepted, ids.new("inv"), "x", "%00", "a" * 5000):
        assert (404, "not_found") == refusal(await revoke(i, ana, id_))
    assert [foreign] == await pending(i, eve)


async def test_figures_of_production(idle_service: Installation) -> None:
    """20 an hour an org, 3 a day to one address; what is refused does not count."""
    i = idle_service
    ana = await people.signed_up(i)
    eve = await people.signed_up(i, email="eve@people.test", org="Eve")
    identity = replace(i.services.identity, is_production=True)
    actors = {who.org_id: await actor_of(i, who) for who in (ana, eve)}

    async def sent(who: Session, email: str) -> int:
        """Return 0, or the seconds to wait."""
        actor = actors[who.org_id]
        try:
            await invitations.send(identity, actor, email=email, role=Role.VIEWER)
        except RateLimitExceeded as e:
            return e.retry_after or -1
        return 0

    assert [0, 0, 0] == [await sent(ana, "bea@example.org") for _ in range(3)]
    assert 23 * 3600 < await sent(ana, "bea@example.org") <= 24 * 3600
    assert [0] * 17 == [await sent(ana, f"{number}@example.org") for number in range(17)]
    assert 3500 < await sent(ana, "caio@example.org") <= 3600
    assert 0 == await sent(eve, "bea@example.org")
    with clock.moved(dt.timedelta(hours=1)):
        assert 0 == await sent(ana, "caio@example.org")
        assert 0 < await sent(ana, "bea@example.org")
    with clock.moved(dt.timedelta(days=1)):
        assert 0 == await sent(ana, "bea@example.org")
    assert 22 == len(await people.audited(i, ana, AuditAction.MEMBER_INVITED))


async def actor_of(i: Installation, who: Session) -> Member:
    """Return somebody at work in the org."""
    keyring, token = i.services.identity.keyring, who.tokens["access_token"]
    async with i.database.read() as session:
        signed_in = await sessions.authenticate(session, keyring, token, visit=make.VISIT)
    assert signed_in.member is not None
    return signed_in.member


@pytest.mark.parametrize("role", Role)
async def test_accepting_makes_the_user_and_the_membership(
    idle_service: Installation, role: Role
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    id_, token = await offered(i, ana, "bea@people.test", role)

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
    assert [] == await pending(i, ana)
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
    existing = await people.came(i, ana, "bea@people.test")
    new = await people.came(i, ana, "caio@people.test")

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
    here = await people.came(i, ana, bea.email, Role.ADMIN)

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


async def test_membership_that_is_there_is_kept(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    _, token = await offered(i, ana, "bea@people.test", Role.VIEWER)
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


async def test_accepted_one_is_400_the_second_time(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    _, token = await offered(idle_service, ana, "bea@people.test")

    answers = [await people.accept(idle_service, token) for _ in range(2)]

    assert [200, 400] == [answer.status_code for answer in answers]
    assert "set-cookie" not in answers[1].headers


async def test_expired_one_is_400(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    (_, first), (_, second) = [
        await offered(idle_service, ana, f"{name}@people.test") for name in ("bea", "caio")
    ]

    with clock.moved(WEEK - 60 * SECOND):
        assert 200 == (await people.accept(idle_service, first)).status_code
    with clock.moved(WEEK):
        assert INVALID == refusal(await people.accept(idle_service, second))


async def test_disabled_account_is_401_and_the_invitation_stays(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.signed_up(i, email="bea@people.test", org="Bea")
    _, token = await offered(i, ana, bea.email)
    await set_user(i, bea, disabled_at=clock.now())

    answer = await people.accept(i, token)

    assert (401, "authentication_failed") == refusal(answer)
    assert await role_of(i, bea.user_id, ana.org_id) is None
    assert 1 == len(await pending(i, ana))
    await set_user(i, bea, disabled_at=None)
    assert 200 == (await people.accept(i, token)).status_code


async def set_user(i: Installation, who: Session, **columns: Any) -> None:
    """Change a user's row."""
    async with i.database.write() as session:
        await session.execute(update(User).where(User.id == who.user_id).values(**columns))


async def test_second_factor_is_still_owed(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.signed_up(i, email="bea@people.test", org="Bea")
    await set_user(i, bea, totp_enabled_at=clock.now(), email_verified_at=clock.now())
    _, token = await offered(i, ana, bea.email)

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
    _, token = await offered(i, ana, bea.email)

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
    _, token = await offered(door, ana, "bea@people.test")

    answer = await people.accept(door, token, Origin="https://evil.test")

    assert (403, "cross_site_request") == refusal(answer)
    assert 200 == (await people.accept(door, token, Origin="http://recibo.test")).status_code


async def test_two_invitations_of_one_address_at_once_leave_one(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.joined(i, ana, Role.ADMIN)

    answers = await races.answers_of(
        i.database,
        *(invite(i, who, email="c@people.test", role="viewer") for who in (ana, bea) * 3),
    )

    assert [201] * 6 == [answer.status_code for answer in answers]
    (left,) = await pending(i, ana)
    assert left in [answer.json() for answer in answers]
    assert 5 == len(await people.audited(i, ana, AuditAction.INVITATION_REVOKED))


async def test_token_accepted_twice_at_once_works_once(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    _, token = await offered(i, ana, "bea@people.test")

    answers = await races.answers_of(i.database, *(people.accept(i, token) for _ in range(4)))

    assert [200, 400, 400, 400] == sorted(answer.status_code for answer in answers)
    assert 1 == len(await people.audited(i, ana, AuditAction.INVITATION_ACCEPTED))


async def test_accepting_and_signing_up_at_once_make_one_user(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    _, token = await offered(i, ana, "bea@people.test")
    body = {"email": "bea@people.test", "password": people.PASSWORD, "org_name": "Bea"}

    accepted, signed_up = await races.answers_of(
        i.database, people.accept(i, token), i.stranger.post("/v1/auth/signup", json=body)
    )

    assert 200 == accepted.status_code
    assert signed_up.status_code in {201, 409}
    assert 1 == [row.email for row in await i.rows(User)].count("bea@people.test")


async def test_withdrawing_and_accepting_at_once_agree(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    id_, token = await offered(i, ana, "bea@people.test")

    accepted, revoked = await races.answers_of(
        i.database, people.accept(i, token), revoke(i, ana, id_)
    )

    assert (accepted.status_code, revoked.status_code) in {(200, 404), (400, 204)}
    (row,) = await i.rows(Invitation)
    assert (row.accepted_at is None) != (row.revoked_at is None)
