"""Invitations: sent, listed, withdrawn."""

import datetime as dt
from dataclasses import replace
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from recibo.errors import RateLimitExceeded
from recibo.lib import clock, ids
from recibo.schemas.actor import Member
from recibo.schemas.states import AuditAction, MailKind, Role
from recibo.services.identity import invitations, sessions
from recibo.store.tables import Invitation, Mail, User
from tests import make, people, races
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.people import Session

pytestmark = ON_SQLITE

MEMBERS, INVITATIONS = "/v1/org/members", "/v1/org/invitations"
WEEK = dt.timedelta(days=7)


async def invite(i: Installation, who: Session, **body: Any) -> httpx.Response:
    """As a user, send an invitation."""
    return await i.stranger.post(MEMBERS, json=body, headers=who.headers)


async def revoke(i: Installation, who: Session, invitation_id: str) -> httpx.Response:
    """As a user, withdraw an invitation."""
    return await i.stranger.delete(f"{INVITATIONS}/{invitation_id}", headers=who.headers)


async def pending(i: Installation, who: Session) -> list[dict[str, Any]]:
    """Return the pending invitations of a user's org."""
    answer = await i.stranger.get(INVITATIONS, headers=who.headers)
    assert (200, {"data"}) == (answer.status_code, set(answer.json()))
    listed: list[dict[str, Any]] = answer.json()["data"]
    return listed


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Return status and code of an error."""
    return answer.status_code, answer.json()["error"]["code"]


INVALID = (400, "validation_error")


@ON_BOTH
@pytest.mark.parametrize("role", Role)
async def test_invitation_is_answered_mailed_and_audited(
    idle_service: Installation, role: Role
) -> None:
    i = idle_service
    ana = await people.signed_up(i, org="Padaria")

    answer = await invite(i, ana, email="Bea@People.test", role=role)

    body = answer.json()
    assert (201, {"id", "email", "role", "expires_at", "accepted_at", "created_at"}) == (
        answer.status_code,
        set(body),
    )
    assert body["id"].startswith("inv_")
    assert ("bea@people.test", role, None) == (body["email"], body["role"], body["accepted_at"])
    made, over = (dt.datetime.fromisoformat(body[name]) for name in ("created_at", "expires_at"))
    assert WEEK == over - made
    (mail,) = [row for row in await i.rows(Mail) if row.kind == MailKind.INVITATION]
    assert "bea@people.test" == mail.recipient
    assert {
        "invitation_id": body["id"], "org": "Padaria", "role": role, "inviter": ana.email,
        "inviter_kind": "email",
    } == mail.names  # fmt: skip
    (event,) = await people.audited(i, ana, AuditAction.MEMBER_INVITED)
    assert ("membership", body["id"]) == (event["resource_type"], event["resource_id"])
    assert {"email": "bea@people.test", "role": role} == event["after"]
    assert [body] == await pending(i, ana)


@ON_BOTH
async def test_no_user_is_created_before_the_invitation_is_accepted(
    idle_service: Installation,
) -> None:
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
    bea = await people.join_by_invitation(idle_service, ana, "bea@people.test")

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
    first, token = await people.invite_with_token(i, ana, "bea@people.test", Role.ADMIN)

    second = await people.invited(i, ana, "bea@people.test", Role.VIEWER)

    assert [second] == await pending(i, ana)
    assert [elsewhere] == await pending(i, eve)
    assert INVALID == refusal(await people.accept(i, token))
    (event,) = await people.audited(i, ana, AuditAction.INVITATION_REVOKED)
    assert ("invitation", first) == (event["resource_type"], event["resource_id"])
    assert {"email": "bea@people.test", "role": "admin"} == event["before"]


@ON_BOTH
async def test_inviting_again_replaces_an_expired_invitation(idle_service: Installation) -> None:
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


@ON_BOTH
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
    id_, token = await people.invite_with_token(i, ana, "bea@people.test")

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
    accepted, token = await people.invite_with_token(i, ana, "bea@people.test")
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
    """Return a member of the org as an actor."""
    keyring, token = i.services.identity.keyring, who.tokens["access_token"]
    signed_in = await sessions.authenticate(i.database, keyring, token, visit=make.VISIT)
    assert signed_in.member is not None
    return signed_in.member


@ON_BOTH
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
