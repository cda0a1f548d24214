"""Tokens of links in mails."""

import asyncio
import datetime as dt

import pytest
from sqlalchemy import select

from recibo.errors import ValidationFailed
from recibo.lib import clock, tokens
from recibo.schemas.ids import InvitationId, UserId
from recibo.schemas.states import MailTokenKind
from recibo.services.identity import email_tokens
from recibo.store import tables
from recibo.store.db import Database
from tests import mail_fixtures

SECOND = dt.timedelta(seconds=1)
RESET = MailTokenKind.PASSWORD_RESET
MAGIC = MailTokenKind.MAGIC_LINK


async def mint(database: Database, user_id: UserId, kind: MailTokenKind = MAGIC) -> str:
    """Mint a token and commit it."""
    async with database.write() as session:
        return await email_tokens.mint(session, kind, user_id)


async def consume(database: Database, token: str, kind: MailTokenKind = MAGIC) -> UserId:
    """Spend a token and commit it."""
    async with database.write() as session:
        return await email_tokens.consume(session, kind, token)


async def stored(database: Database) -> list[str]:
    """Return all that is stored of tokens."""
    async with database.read() as session:
        return list((await session.execute(select(tables.MailToken.token_hash))).scalars())


@pytest.mark.parametrize("kind", MailTokenKind)
async def test_token_identifies_its_user_once(database: Database, kind: MailTokenKind) -> None:
    user_id = await mail_fixtures.user(database)
    token = await mint(database, user_id, kind)

    assert user_id == await consume(database, token, kind)
    with pytest.raises(ValidationFailed, match=r"^token: "):
        await consume(database, token, kind)


async def test_token_is_stored_as_its_hash_alone(database: Database) -> None:
    token = await mint(database, await mail_fixtures.user(database))

    assert 32 == len(token)
    assert [tokens.fingerprint(token)] == await stored(database)


@pytest.mark.parametrize(
    ("kind", "minutes"),
    [(MAGIC, 15), (MailTokenKind.VERIFY_EMAIL, 48 * 60), (RESET, 60)],
)
async def test_token_lives_so_long(database: Database, kind: MailTokenKind, minutes: int) -> None:
    user_id = await mail_fixtures.user(database)
    token = await mint(database, user_id, kind)

    with (
        clock.moved(dt.timedelta(minutes=minutes) + SECOND),
        pytest.raises(ValidationFailed),
    ):
        await consume(database, token, kind)
    with clock.moved(dt.timedelta(minutes=minutes) - 10 * SECOND):
        assert user_id == await consume(database, token, kind)


async def test_of_magic_links_only_the_newest_works(database: Database) -> None:
    user_id = await mail_fixtures.user(database)
    older = await mint(database, user_id, MAGIC)
    newer = await mint(database, user_id, MAGIC)

    with pytest.raises(ValidationFailed):
        await consume(database, older, MAGIC)
    assert user_id == await consume(database, newer, MAGIC)


@pytest.mark.parametrize("kind", [MailTokenKind.VERIFY_EMAIL, RESET])
async def test_older_links_stay_valid(database: Database, kind: MailTokenKind) -> None:
    user_id = await mail_fixtures.user(database)
    older = await mint(database, user_id, kind)
    newer = await mint(database, user_id, kind)

    assert user_id == await consume(database, older, kind)
    assert user_id == await consume(database, newer, kind)


async def test_tokens_of_other_kinds_and_users_stay(database: Database) -> None:
    mara, ana = (
        await mail_fixtures.user(database),
        await mail_fixtures.user(database, "ana@acme.test"),
    )
    of_mara, of_ana = await mint(database, mara), await mint(database, ana)
    reset = await mint(database, mara, RESET)
    await mint(database, mara, MailTokenKind.VERIFY_EMAIL)

    assert mara == await consume(database, of_mara)
    assert ana == await consume(database, of_ana)
    assert mara == await consume(database, reset, RESET)


async def test_token_of_another_kind_is_none_and_stays(database: Database) -> None:
    user_id = await mail_fixtures.user(database)
    token = await mint(database, user_id, MAGIC)

    with pytest.raises(ValidationFailed):
        await consume(database, token, RESET)
    assert user_id == await consume(database, token, MAGIC)


@pytest.mark.parametrize("token", ["", "x" * 32, "x" * 31, "\0" * 32, "\ud800" * 32, "x" * 10**6])
async def test_what_is_no_token_is_refused(database: Database, token: str) -> None:
    with pytest.raises(ValidationFailed):
        await consume(database, token)


async def test_of_many_at_once_one_spends_the_token(database: Database) -> None:
    user_id = await mail_fixtures.user(database)
    token = await mint(database, user_id)

    answers = await asyncio.gather(
        *(consume(database, token) for _ in range(10)), return_exceptions=True
    )

    assert [user_id] == [one for one in answers if isinstance(one, str)]
    assert 9 == sum(isinstance(one, ValidationFailed) for one in answers)


async def test_of_many_minted_at_once_one_works(database: Database) -> None:
    user_id = await mail_fixtures.user(database)

    minted = await asyncio.gather(*(mint(database, user_id) for _ in range(10)))

    (only,) = await stored(database)
    assert only in map(tokens.fingerprint, minted)


async def test_token_spent_in_a_transaction_that_fails_is_not_spent(database: Database) -> None:
    user_id = await mail_fixtures.user(database)
    token = await mint(database, user_id)
    with pytest.raises(RuntimeError):  # noqa: PT012
        async with database.write() as session:
            await email_tokens.consume(session, MAGIC, token)
            raise RuntimeError

    assert user_id == await consume(database, token)


async def test_only_expired_tokens_are_purged(database: Database) -> None:
    user_id = await mail_fixtures.user(database)
    await mint(database, user_id, MAGIC)
    living = await mint(database, user_id, RESET)

    with clock.moved(dt.timedelta(minutes=16)):
        while await email_tokens.purge_expired(database):
            pass

    assert [tokens.fingerprint(living)] == await stored(database)


async def hash_of(database: Database, invitation_id: InvitationId) -> str | None:
    """Return the stored hash of an invitation's token."""
    async with database.read() as session:
        return (await session.get_one(tables.Invitation, invitation_id)).token_hash


async def test_pending_invitation_gets_a_token_in_place_of_the_earlier(database: Database) -> None:
    invitation_id = await mail_fixtures.invitation(database)
    other = await mail_fixtures.invitation(database)
    for _ in range(2):
        async with database.write() as session:
            token = await email_tokens.mint_invitation(session, invitation_id)

        assert token is not None
        assert tokens.fingerprint(token) == await hash_of(database, invitation_id)
    assert await hash_of(database, other) is None


@pytest.mark.parametrize("how", ["accepted", "revoked", "expired", "unknown"])
async def test_invitation_that_is_not_pending_gets_none(database: Database, how: str) -> None:
    invitation_id = await mail_fixtures.invitation(
        database,
        accepted_at=clock.now() if how == "accepted" else None,
        revoked_at=clock.now() if how == "revoked" else None,
    )
    asked = InvitationId("inv_0") if how == "unknown" else invitation_id
    with clock.moved(mail_fixtures.WEEK + SECOND if how == "expired" else dt.timedelta(0)):
        async with database.write() as session:
            assert await email_tokens.mint_invitation(session, asked) is None

    assert await hash_of(database, invitation_id) is None
