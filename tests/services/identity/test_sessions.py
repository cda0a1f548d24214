"""Sessions: what their tokens say, how they end, when they are purged."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from recibo.errors import AuthenticationFailed, InsufficientScope, NoSession
from recibo.lib import clock
from recibo.lib.keyring import Keyring
from recibo.schemas.actor import SignedIn
from recibo.schemas.ids import OrgId, UserId
from recibo.schemas.sessions import TokenResponse
from recibo.schemas.states import SignInMethod
from recibo.services.identity import sessions
from recibo.services.identity.identity import Identity
from recibo.services.identity.passwords import Passwords
from recibo.services.identity.sessions import NewSession
from recibo.store import tables
from recibo.store.db import Database
from tests import mail_fixtures, make

DAY = dt.timedelta(days=1)
SECOND = dt.timedelta(seconds=1)


@pytest.fixture
def identity(database: Database) -> Identity:
    """What sessions work with."""
    return Identity(database, Keyring("a secret"), Passwords(), False, 1000)  # noqa: FBT003


async def begun(
    identity: Identity, user_id: UserId, org_id: OrgId | None = None, *, is_bound: bool = False
) -> TokenResponse:
    """Begin a session of a user."""
    async with identity.database.write() as session:
        user = await session.get_one(tables.User, user_id)
        start = NewSession(SignInMethod.PASSWORD, org_id, make.VISIT, is_bound=is_bound)
        return await sessions.begin(session, identity, user, start)


async def caller(identity: Identity, tokens: TokenResponse) -> SignedIn:
    """Return who shows an access token."""
    return await sessions.authenticate(
        identity.database, identity.keyring, tokens.access_token, visit=make.VISIT
    )


async def refreshes(identity: Identity, tokens: TokenResponse) -> bool:
    """Return whether a session is live."""
    try:
        await sessions.refresh(identity, tokens.refresh_token, from_cookie=False, visit=make.VISIT)
    except AuthenticationFailed:
        return False
    return True


async def test_tokens_say_who_where_and_under_which_epoch(identity: Identity) -> None:
    user_id, org_id = await mail_fixtures.user(identity.database), await make.org(identity.database)
    shown = sessions.read_access_token(
        identity.keyring, (await begun(identity, user_id, org_id)).access_token
    )

    assert shown is not None
    assert (user_id, org_id, 0, False) == (
        shown.user_id, shown.org_id, shown.epoch, shown.is_pending
    )  # fmt: skip


@given(st.one_of(st.none(), st.text()))
def test_no_text_is_an_access_token(text: str | None) -> None:
    assert sessions.read_access_token(Keyring("a secret"), text) is None


async def test_ending_the_sessions_of_an_org_ends_no_other(identity: Identity) -> None:
    user_id = await mail_fixtures.user(identity.database)
    org_id, other_id = await make.org(identity.database), await make.org(identity.database)
    here, there = await begun(identity, user_id, org_id), await begun(identity, user_id, other_id)
    async with identity.database.write() as session:
        await sessions.end_in_org(session, user_id, org_id)

    assert not await refreshes(identity, here)
    assert await refreshes(identity, there)


async def test_ending_all_sessions_ends_access_tokens_at_once_and_those_of_no_other_user(
    identity: Identity,
) -> None:
    ana = await mail_fixtures.user(identity.database)
    bea = await mail_fixtures.user(identity.database, "bea@acme.test")
    of_ana, of_bea = await begun(identity, ana), await begun(identity, bea)
    async with identity.database.write() as session:
        await sessions.end_all(session, await session.get_one(tables.User, ana))
    after = await begun(identity, ana)

    with pytest.raises(NoSession):
        await caller(identity, of_ana)
    assert not await refreshes(identity, of_ana)
    assert bea == (await caller(identity, of_bea)).user_id
    assert ana == (await caller(identity, after)).user_id


async def test_session_started_while_all_are_ended_is_ended_too(identity: Identity) -> None:
    user_id = await mail_fixtures.user(identity.database)
    tokens = await begun(identity, user_id)
    async with identity.database.write() as session:
        # Its row was not there yet when the others were ended.
        (await session.get_one(tables.User, user_id)).epoch = 1

    with pytest.raises(NoSession):
        await caller(identity, tokens)
    assert not await refreshes(identity, tokens)


async def test_bound_session_is_not_free_and_an_ended_one_is_none(identity: Identity) -> None:
    user_id = await mail_fixtures.user(identity.database)
    bound = await caller(identity, await begun(identity, user_id, is_bound=True))
    ended = await caller(identity, await begun(identity, user_id))
    async with identity.database.write() as session:
        row = await session.get_one(tables.UserSession, ended.session_id)
        row.ended_at = clock.now()

    async with identity.database.read() as reading:
        with pytest.raises(InsufficientScope):
            await sessions.require_unbound(reading, bound)
        with pytest.raises(NoSession):
            await sessions.require_unbound(reading, ended)


async def test_ended_sessions_are_purged_and_others_kept(identity: Identity) -> None:
    user_id = await mail_fixtures.user(identity.database)
    await begun(identity, user_id)
    with clock.moved(80 * DAY):
        kept = await begun(identity, user_id)
    with clock.moved(90 * DAY + SECOND):
        while await sessions.purge_expired(identity.database):
            pass

        assert await refreshes(identity, kept)
    async with identity.database.read() as reading:
        rows = (await reading.execute(select(tables.UserSession))).all()
        tokens = (await reading.execute(select(tables.RefreshToken))).all()
    assert (1, 2) == (len(rows), len(tokens))
