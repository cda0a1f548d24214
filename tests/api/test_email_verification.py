"""Whose mailbox it is: what a first proof drops, and when it drops nothing."""

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from sqlalchemy import update

from recibo.lib import clock
from recibo.schemas.ids import OrgId
from recibo.schemas.states import Role
from recibo.services.identity import keys, orgs, sessions
from recibo.services.identity.keys import NewKey
from recibo.store import tables
from tests import inbox, installation, make
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.people import PASSWORD, Session, invitation_token, invited, session_of, signed_up
from tests.sign_ins import ask, audit_entries, client_at, cookie, outcome, waits_for_a_lock

pytestmark = ON_SQLITE

MARA = "mara@people.test"
RECLAIMED = "Your account was secured"
MINUTE = dt.timedelta(minutes=1)
UNAUTHORIZED = (401, "unauthorized")
# The address of the signup, which may not be Mara's, and the address of Mara.
MAKER = ("203.0.113.66", "maker/1")
HERE = ("198.51.100.7", "mara/1")

#: Uses a link of Mara's mailbox at a place, showing something.
Proof = Callable[[Installation, httpx.AsyncClient, str], Awaitable[httpx.Response]]


async def made(i: Installation) -> Session:
    """Sign up with Mara's address at the maker's place; no mail of it is left to send."""
    body = {"email": MARA, "password": PASSWORD, "org_name": "Mara"}
    answer = await ask(client_at(i, *MAKER), "/signup", body)
    assert answer.status_code == 201
    await inbox.new_mails(i)
    return await session_of(i, answer)


async def by_magic_link(
    i: Installation, client: httpx.AsyncClient, shown: str = ""
) -> httpx.Response:
    """Sign in by a link."""
    await ask(client, "/magic-link", {"email": MARA})
    token = await inbox.new_token(i, "magic-link")
    return await ask(client, "/magic-link/verify", {"token": token}, **bearing(shown))


async def by_reset(i: Installation, client: httpx.AsyncClient, shown: str = "") -> httpx.Response:
    """Set a password by a link."""
    await ask(client, "/password/forgot", {"email": MARA})
    token = await inbox.new_token(i, "reset-password")
    body = {"token": token, "new_password": PASSWORD + "!"}
    return await ask(client, "/password/reset", body, **bearing(shown))


async def by_invitation(
    i: Installation, client: httpx.AsyncClient, shown: str = ""
) -> httpx.Response:
    """Accept an invitation."""
    owner = await signed_up(i, email=f"owner{len(await i.rows(tables.User))}@people.test")
    invitation = await invited(i, owner, MARA)
    # Its mail goes out, and another token is minted here.
    await inbox.new_mails(i)
    token = await invitation_token(i, invitation["id"])
    return await ask(client, "/accept-invite", {"token": token}, **bearing(shown))


def bearing(access_token: str) -> dict[str, str]:
    """Return the header that shows an access token; none shows none."""
    return {"Authorization": f"Bearer {access_token}"} if access_token else {}


PROOFS = pytest.mark.parametrize("proof", [by_magic_link, by_invitation, by_reset])


async def mara(i: Installation) -> tables.User:
    """Return Mara's row."""
    (row,) = (row for row in await i.rows(tables.User) if row.email == MARA)
    return row


async def was_reclaimed(i: Installation) -> bool:
    """Return whether the account was taken from its maker; looks into the mailbox once."""
    subjects = await inbox.new_subjects(i)
    entries = await audit_entries(i, "user.reclaimed")
    assert len(entries) == subjects.count(RECLAIMED)
    return bool(entries)


@ON_BOTH
@PROOFS
async def test_first_proof_from_elsewhere_drops_the_makers_ways_in(
    idle_service: Installation, proof: Proof
) -> None:
    maker = await made(idle_service)
    answer = await proof(idle_service, client_at(idle_service, *HERE), "")

    assert answer.is_success
    assert await was_reclaimed(idle_service)
    login = {"email": MARA, "password": PASSWORD}
    assert 401 == (await ask(client_at(idle_service, *MAKER), "/login", login)).status_code
    me = await ask(idle_service, "/me", method="GET", **maker.headers)
    refresh = {"refresh_token": maker.tokens["refresh_token"]}
    assert UNAUTHORIZED == outcome(me)
    assert 401 == (await ask(idle_service, "/refresh", refresh)).status_code
    row = await mara(idle_service)
    assert row.email_verified_at is not None


async def test_who_proved_it_is_signed_in_and_sets_a_password_unasked(
    idle_service: Installation,
) -> None:
    maker = await made(idle_service)
    answer = await by_magic_link(idle_service, client_at(idle_service, *HERE))
    ana = await session_of(idle_service, answer)
    assert (maker.user_id, maker.org_id) == (ana.user_id, ana.org_id)
    assert (await mara(idle_service)).password_hash is None

    new = {"new_password": "of Mara's own"}
    with clock.moved(30 * MINUTE):
        refresh = {"refresh_token": ana.tokens["refresh_token"]}
        ana = await session_of(idle_service, await ask(idle_service, "/refresh", refresh))
        assert 200 == (await ask(idle_service, "/password", new, **ana.headers)).status_code


@ON_BOTH
@PROOFS
async def test_second_factor_of_the_maker_goes_too(
    idle_service: Installation, proof: Proof
) -> None:
    await made(idle_service)
    async with idle_service.database.write() as session:
        row = await session.get_one(tables.User, (await mara(idle_service)).id)
        row.totp_secret, row.totp_enabled_at = "sealed", clock.now()
        session.add(tables.RecoveryCode(user_id=row.id, code_hash="one"))
        session.add(tables.SpentTotpStep(user_id=row.id, ledger="verify", step=1))

    answer = await proof(idle_service, client_at(idle_service, *HERE), "")

    assert "two_factor_required" not in answer.json()
    row = await mara(idle_service)
    assert (None, None) == (row.totp_secret, row.totp_enabled_at)
    assert [] == await idle_service.rows(tables.RecoveryCode)
    assert [] == await idle_service.rows(tables.SpentTotpStep)


@ON_BOTH
@PROOFS
async def test_keys_of_own_orgs_are_revoked_and_those_of_others_kept(
    idle_service: Installation, proof: Proof
) -> None:
    maker = await made(idle_service)
    other = await make.org(idle_service.database)
    async with idle_service.database.write() as session:
        session.add(
            tables.Membership(
                org_id=other, user_id=maker.user_id, role=Role.ADMIN, created_at=clock.now()
            )
        )
    own = await make.key(idle_service.database, OrgId(maker.org_id))
    foreign = await make.key(idle_service.database, other)

    await proof(idle_service, client_at(idle_service, *HERE), "")

    assert 401 == (await idle_service.get("/key", secret=own)).status_code
    assert 200 == (await idle_service.get("/key", secret=foreign)).status_code
    (revoked,) = await audit_entries(idle_service, "apikey.revoked")
    assert (maker.org_id, maker.user_id) == (revoked.org_id, revoked.actor_user_id)
    assert own not in str((revoked.before, revoked.after))


async def test_links_that_were_mailed_before_go_too(idle_service: Installation) -> None:
    body = {"email": MARA, "password": PASSWORD, "org_name": "Mara"}
    await ask(client_at(idle_service, *MAKER), "/signup", body)
    old = await inbox.new_token(idle_service, "verify-email")

    await by_magic_link(idle_service, client_at(idle_service, *HERE))

    assert (400, "validation_error") == outcome(await ask(idle_service, f"/verify-email/{old}"))


@PROOFS
async def test_ip_and_user_agent_of_the_signup_keep_everything(
    idle_service: Installation, proof: Proof
) -> None:
    maker = await made(idle_service)
    await proof(idle_service, client_at(idle_service, *MAKER), "")

    assert not await was_reclaimed(idle_service)
    row = await mara(idle_service)
    assert row.email_verified_at is not None
    assert row.password_hash is not None
    if proof is not by_reset:
        me = await ask(idle_service, "/me", method="GET", **maker.headers)
        assert 200 == me.status_code


@pytest.mark.parametrize("place", [(MAKER[0], HERE[1]), (HERE[0], MAKER[1])])
async def test_one_of_the_two_is_not_enough(
    idle_service: Installation, place: tuple[str, str]
) -> None:
    await made(idle_service)
    await by_magic_link(idle_service, client_at(idle_service, *place))

    assert await was_reclaimed(idle_service)


async def test_no_user_agent_is_no_other_one(idle_service: Installation) -> None:
    nowhere = installation.client_of(idle_service.asgi, address=MAKER[0])
    del nowhere.headers["User-Agent"]
    body = {"email": MARA, "password": PASSWORD, "org_name": "Mara"}
    assert 201 == (await ask(nowhere, "/signup", body)).status_code
    await inbox.new_mails(idle_service)
    await by_magic_link(idle_service, client_at(idle_service, *MAKER))

    assert await was_reclaimed(idle_service)


async def test_forged_address_is_not_believed(idle_service: Installation) -> None:
    await made(idle_service)
    headers = {"X-Forwarded-For": MAKER[0], "X-Real-IP": MAKER[0]}
    await by_magic_link(idle_service, client_at(idle_service, HERE[0], MAKER[1], **headers))

    assert await was_reclaimed(idle_service)


@PROOFS
async def test_live_session_that_is_shown_keeps_everything(
    idle_service: Installation, proof: Proof
) -> None:
    maker = await made(idle_service)
    await proof(idle_service, client_at(idle_service, *HERE), maker.tokens["access_token"])

    assert not await was_reclaimed(idle_service)
    assert (await mara(idle_service)).password_hash is not None


async def test_it_may_be_shown_as_a_cookie(idle_service: Installation) -> None:
    maker = await made(idle_service)
    shown = cookie(access=maker.tokens["access_token"])
    await ask(client_at(idle_service, *HERE), "/magic-link", {"email": MARA})
    body = {"token": await inbox.new_token(idle_service, "magic-link")}
    await ask(client_at(idle_service, *HERE), "/magic-link/verify", body, Cookie=shown)

    assert not await was_reclaimed(idle_service)


@ON_BOTH
@pytest.mark.parametrize("is_used", [False, True])
async def test_refresh_cookie_shows_a_session_until_it_is_used(
    idle_service: Installation, *, is_used: bool
) -> None:
    """The access cookie of a browser that was away for a quarter of an hour is gone."""
    maker = await made(idle_service)
    if is_used:
        body = {"refresh_token": maker.tokens["refresh_token"]}
        assert (await ask(client_at(idle_service, *MAKER), "/refresh", body)).is_success
    shown = cookie(refresh=maker.tokens["refresh_token"])
    await ask(client_at(idle_service, *HERE), "/magic-link", {"email": MARA})
    body = {"token": await inbox.new_token(idle_service, "magic-link")}
    await ask(client_at(idle_service, *HERE), "/magic-link/verify", body, Cookie=shown)

    assert is_used == await was_reclaimed(idle_service)


@PROOFS
async def test_session_of_another_user_keeps_nothing(
    idle_service: Installation, proof: Proof
) -> None:
    await made(idle_service)
    other = await signed_up(idle_service, email="other@people.test")
    await inbox.new_mails(idle_service)
    await proof(idle_service, client_at(idle_service, *HERE), other.tokens["access_token"])

    assert await was_reclaimed(idle_service)
    me = await ask(idle_service, "/me", method="GET", **other.headers)
    assert 200 == me.status_code


async def test_session_that_ended_keeps_nothing(idle_service: Installation) -> None:
    maker = await made(idle_service)
    async with idle_service.database.write() as session:
        await session.execute(update(tables.UserSession).values(ended_at=clock.now()))
    await by_magic_link(idle_service, client_at(idle_service, *HERE), maker.tokens["access_token"])

    assert await was_reclaimed(idle_service)


async def test_expired_token_is_refused(
    idle_service: Installation,
) -> None:
    maker = await made(idle_service)
    with clock.moved(16 * MINUTE):
        await by_magic_link(
            idle_service, client_at(idle_service, *HERE), maker.tokens["access_token"]
        )

        assert await was_reclaimed(idle_service)


async def test_session_that_waits_for_its_second_factor_keeps_nothing(
    idle_service: Installation,
) -> None:
    maker = await made(idle_service)
    async with idle_service.database.write() as session:
        row = await session.get_one(tables.User, maker.user_id)
        row.totp_secret, row.totp_enabled_at = "sealed", clock.now()
    login = {"email": MARA, "password": PASSWORD}
    pending = (await ask(client_at(idle_service, "203.0.113.9"), "/login", login)).json()
    assert pending["two_factor_required"]
    await by_magic_link(idle_service, client_at(idle_service, *HERE), pending["access_token"])

    assert await was_reclaimed(idle_service)


@PROOFS
async def test_second_proof_drops_nothing(idle_service: Installation, proof: Proof) -> None:
    await made(idle_service)
    await by_magic_link(idle_service, client_at(idle_service, *MAKER))
    await inbox.new_mails(idle_service)
    with clock.moved(5 * MINUTE):
        await proof(idle_service, client_at(idle_service, *HERE), "")

        assert not await was_reclaimed(idle_service)
    assert (await mara(idle_service)).password_hash is not None


async def test_verify_email_link_proves_it_and_drops_nothing(idle_service: Installation) -> None:
    body = {"email": MARA, "password": PASSWORD, "org_name": "Mara"}
    await ask(client_at(idle_service, *MAKER), "/signup", body)
    token = await inbox.new_token(idle_service, "verify-email")
    await ask(client_at(idle_service, *HERE), f"/verify-email/{token}")
    await by_magic_link(idle_service, client_at(idle_service, *HERE))

    assert not await was_reclaimed(idle_service)
    assert (await mara(idle_service)).password_hash is not None


async def test_mail_says_what_was_dropped(idle_service: Installation) -> None:
    await made(idle_service)
    await by_magic_link(idle_service, client_at(idle_service, *HERE))

    (mail,) = [one for one in await inbox.new_mails(idle_service) if one["Subject"] == RECLAIMED]
    text = mail.get_body(("plain",))
    assert text is not None
    assert MARA == mail["To"]
    for word in ("password", "second factor", "sessions", "API keys"):
        assert word in text.get_content()


async def test_key_that_is_being_made_meanwhile_is_not_made(
    postgres_url: str, tmp_path: Path
) -> None:
    """SQLite has one transaction at a time, so there is nothing to be between."""
    async with installation.start(postgres_url, tmp_path, with_worker=False) as i:
        maker = await made(i)
        async with i.database.write() as session:
            user = await session.get_one(tables.User, maker.user_id, with_for_update=True)
            await orgs.lock(session, OrgId(maker.org_id))
            asked = asyncio.create_task(
                i.stranger.post("/v1/api-keys", json={"name": "way in"}, headers=maker.headers)
            )
            async with asyncio.timeout(60):
                while not await waits_for_a_lock(i):
                    pass
            await sessions.end_all(session, user)

        assert UNAUTHORIZED == outcome(await asked)


async def test_key_that_is_made_already_but_not_seen_yet_is_waited_for(
    postgres_url: str, tmp_path: Path
) -> None:
    async with installation.start(postgres_url, tmp_path, with_worker=False) as i:
        maker = await made(i)
        async with i.database.write() as session:
            await orgs.lock(session, OrgId(maker.org_id))
            secret = keys.create(session, OrgId(maker.org_id), NewKey("way in"))
            await session.flush()
            proof = asyncio.create_task(by_magic_link(i, client_at(i, *HERE)))
            async with asyncio.timeout(60):
                while not await waits_for_a_lock(i):
                    pass
        assert (await proof).is_success

        assert 401 == (await i.get("/key", secret=secret)).status_code
