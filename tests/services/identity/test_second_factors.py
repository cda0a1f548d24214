"""What a second factor is made of, in the database."""

from sqlalchemy import select
from structlog.testing import capture_logs

from recibo.lib import clock
from recibo.lib.keyring import Keyring
from recibo.schemas.ids import UserId
from recibo.schemas.states import TotpLedger
from recibo.services.identity import second_factors
from recibo.store.db import Database
from recibo.store.tables import RecoveryCode, SpentTotpStep, User
from tests import mail_fixtures
from tests.second_factors import code_of

OLD = Keyring("the secret of before")
NEW = Keyring("the secret of now", previous=["the secret of before"])


async def _enrolled(database: Database, keyring: Keyring = OLD) -> tuple[UserId, str]:
    user_id = await mail_fixtures.user(database)
    async with database.write() as session:
        user = await session.get_one(User, user_id)
        return user_id, await second_factors.replace_secret(session, keyring, user)


async def _user(database: Database, user_id: UserId) -> User:
    async with database.read() as session:
        return await session.get_one(User, user_id)


async def _recovery_codes(database: Database, user_id: UserId) -> list[str]:
    async with database.write() as session:
        user = await session.get_one(User, user_id)
        return await second_factors.issue_recovery_codes(session, OLD, user)


async def _uses(database: Database, keyring: Keyring, user_id: UserId, code: str) -> bool:
    async with database.write() as session:
        return await second_factors.use_recovery_code(session, keyring, user_id, code)


async def _spends(database: Database, user_id: UserId, ledger: TotpLedger, step: int) -> bool:
    async with database.write() as session:
        return await second_factors.spend(session, user_id, ledger, step)


async def test_changed_secret_of_the_installation_keeps_second_factors(
    database: Database,
) -> None:
    user_id, secret = await _enrolled(database)
    codes = await _recovery_codes(database, user_id)

    user = await _user(database, user_id)

    assert second_factors.matching_step(NEW, user, code_of(secret)) is not None
    assert await _uses(database, NEW, user_id, codes[0])
    assert not await _uses(database, NEW, user_id, codes[0])


async def test_lost_secret_of_the_installation_makes_every_code_wrong_and_says_so(
    database: Database,
) -> None:
    user_id, secret = await _enrolled(database)
    codes = await _recovery_codes(database, user_id)
    lost = Keyring("another secret")

    with capture_logs() as logs:
        step = second_factors.matching_step(lost, await _user(database, user_id), code_of(secret))

    assert step is None
    assert [user_id] == [one["user_id"] for one in logs if one["log_level"] == "error"]
    assert not await _uses(database, lost, user_id, codes[0])


async def test_secret_of_one_user_opens_for_no_other(database: Database) -> None:
    user_id, secret = await _enrolled(database)
    other_id = await mail_fixtures.user(database, email="other@recibo.test")
    sealed = (await _user(database, user_id)).totp_secret
    async with database.write() as session:
        (await session.get_one(User, other_id)).totp_secret = sealed

    other = await _user(database, other_id)

    assert second_factors.matching_step(OLD, other, code_of(secret)) is None


async def test_wiping_takes_what_came_after_the_row_was_read(database: Database) -> None:
    user_id = await mail_fixtures.user(database)
    stale = await _user(database, user_id)
    async with database.write() as session:
        user = await session.get_one(User, user_id)
        await second_factors.replace_secret(session, OLD, user)
        user.totp_enabled_at = clock.now()
        await second_factors.issue_recovery_codes(session, OLD, user)

    async with database.write() as session:
        await second_factors.wipe(session, stale)

    user = await _user(database, user_id)
    assert (None, None) == (user.totp_secret, user.totp_enabled_at)
    async with database.read() as reading:
        assert [] == list((await reading.execute(select(RecoveryCode))).scalars())


async def test_step_is_spent_once_in_each_ledger(database: Database) -> None:
    user_id = await mail_fixtures.user(database)

    for ledger in TotpLedger:
        assert await _spends(database, user_id, ledger, 1000)
        assert not await _spends(database, user_id, ledger, 1000)
        assert await _spends(database, user_id, ledger, 1001)


async def test_old_steps_are_forgotten_when_one_is_spent(database: Database) -> None:
    user_id = await mail_fixtures.user(database)
    for step in (1000, 1099, 1100):
        await _spends(database, user_id, TotpLedger.VERIFY, step)

    async with database.read() as session:
        kept = list((await session.execute(select(SpentTotpStep.step))).scalars())

    assert {1099, 1100} == set(kept)
