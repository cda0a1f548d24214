"""Operator commands for users and plans, with their audit entries."""

import datetime as dt
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import select

from recibo.errors import NotFound, ValidationFailed
from recibo.lib import clock, ids
from recibo.schemas.ids import OrgId
from recibo.schemas.plans import PlanName
from recibo.schemas.states import MailKind, Role, TotpLedger
from recibo.services.identity import operators
from recibo.store import tables
from recibo.store.db import Database, Session
from recibo.store.tables import Table
from tests import make

HOUR = dt.timedelta(hours=1)
SEALED = "sealed"

Rule = Callable[[Session, str], Awaitable[bool]]
OF_USERS: list[Rule] = [
    operators.disable_user,
    operators.enable_user,
    operators.reset_second_factor,
]


async def user(database: Database, *org_ids: OrgId, **columns: Any) -> str:
    """Add a user with a session in each of these orgs and return the id."""
    user_id = ids.new("usr")
    async with database.write() as session:
        session.add(
            tables.User(
                id=user_id, email=f"{user_id}@recibo.test", created_at=clock.now(), **columns
            )
        )
        # What follows refers to the user.
        await session.flush()
        for org_id in org_ids:
            session.add(
                tables.Membership(
                    org_id=org_id, user_id=user_id, role=Role.OWNER, created_at=clock.now()
                )
            )
        session.add(
            tables.UserSession(
                id=ids.new("ses"),
                user_id=user_id,
                method="password",
                is_bound=False,
                created_at=clock.now(),
                expires_at=clock.now() + HOUR,
            )
        )
    return user_id


async def with_second_factor(database: Database, *org_ids: OrgId) -> str:
    """Add a user with all that a second factor leaves behind."""
    user_id = await user(database, *org_ids, totp_secret=SEALED, totp_enabled_at=clock.now())
    async with database.write() as session:
        session.add_all(
            [
                tables.RecoveryCode(user_id=user_id, code_hash="one"),
                tables.RecoveryCode(user_id=user_id, code_hash="two", used_at=clock.now()),
                tables.SpentTotpStep(user_id=user_id, ledger=TotpLedger.VERIFY, step=1),
            ]
        )
    return user_id


async def run(database: Database, rule: Rule, name: str) -> bool:
    """Apply a rule in a separate transaction."""
    async with database.write() as session:
        return await rule(session, name)


async def rows(database: Database, table: type[Table]) -> list[Any]:
    """Return all rows of a table."""
    async with database.read() as session:
        return list((await session.execute(select(table))).scalars())


async def one(database: Database, user_id: str) -> tables.User:
    """Return a user's row."""
    async with database.read() as session:
        return await session.get_one(tables.User, user_id)


async def live_sessions(database: Database) -> list[str]:
    """Return whose sessions have not ended."""
    return [row.user_id for row in await rows(database, tables.UserSession) if not row.ended_at]


async def audited(database: Database) -> list[tuple[Any, ...]]:
    """Return the entries of the audit log."""
    entries = await rows(database, tables.AuditEvent)
    assert all(
        one.actor_user_id is None and one.actor_api_key_id is None and one.ip_address is None
        for one in entries
    )
    return sorted((one.org_id, one.action, one.resource_id, one.before, one.after)
                  for one in entries)  # fmt: skip


async def test_disabling_keeps_the_user_out_and_ends_all_sessions(database: Database) -> None:
    org_id = await make.org(database)
    user_id, other_id = await user(database, org_id), await user(database, org_id)

    assert await run(database, operators.disable_user, user_id)

    row = await one(database, user_id)
    assert row.disabled_at is not None
    assert 1 == row.epoch
    assert [other_id] == await live_sessions(database)
    assert [
        (org_id, "user.disabled", user_id, {"disabled": False}, {"disabled": True})
    ] == await audited(database)


async def test_enabling_a_user_restores_no_session(database: Database) -> None:
    org_id = await make.org(database)
    user_id = await user(database, org_id)
    await run(database, operators.disable_user, user_id)

    assert await run(database, operators.enable_user, user_id)

    row = await one(database, user_id)
    assert (None, 1) == (row.disabled_at, row.epoch)
    assert [] == await live_sessions(database)
    assert (org_id, "user.enabled", user_id, {"disabled": True}, {"disabled": False}) in (
        await audited(database)
    )


async def test_resetting_wipes_all_of_the_second_factor(database: Database) -> None:
    org_id = await make.org(database)
    user_id = await with_second_factor(database, org_id)
    other_id = await with_second_factor(database, org_id)

    assert await run(database, operators.reset_second_factor, user_id)

    row = await one(database, user_id)
    assert (None, None, 1) == (row.totp_secret, row.totp_enabled_at, row.epoch)
    assert {other_id} == {row.user_id for row in await rows(database, tables.RecoveryCode)}
    assert {other_id} == {row.user_id for row in await rows(database, tables.SpentTotpStep)}
    assert [other_id] == await live_sessions(database)
    (mail,) = await rows(database, tables.Mail)
    assert (MailKind.SECOND_FACTOR_DISABLED, row.email) == (mail.kind, mail.recipient)
    before, after = {"two_factor_enabled": True}, {"two_factor_enabled": False}
    assert [(org_id, "user.2fa_disabled", user_id, before, after)] == await audited(database)


async def test_resetting_an_enrolment_that_is_not_done_sends_no_mail(database: Database) -> None:
    user_id = await user(database, await make.org(database), totp_secret=SEALED)

    assert await run(database, operators.reset_second_factor, user_id)

    assert (await one(database, user_id)).totp_secret is None
    assert [] == await rows(database, tables.Mail)


@pytest.mark.parametrize("rule", OF_USERS)
async def test_command_without_effect_records_nothing(database: Database, rule: Rule) -> None:
    user_id = await user(database, await make.org(database))
    if rule is operators.disable_user:
        await run(database, rule, user_id)
    before = (await audited(database), (await one(database, user_id)).epoch)

    assert not await run(database, rule, user_id)
    assert before == (await audited(database), (await one(database, user_id)).epoch)


@pytest.mark.parametrize("rule", OF_USERS)
@pytest.mark.parametrize("name", ["", "usr_1", "unknown@recibo.test", "%", "ana"])
async def test_unknown_user_is_not_found(database: Database, rule: Rule, name: str) -> None:
    await user(database)

    with pytest.raises(NotFound, match="no user"):
        await run(database, rule, name)


async def test_user_is_found_by_address_in_any_case(database: Database) -> None:
    user_id = await user(database)

    assert await run(database, operators.disable_user, f" {user_id}@Recibo.TEST ")


async def test_every_org_of_the_user_is_audited(database: Database) -> None:
    org_ids = sorted([await make.org(database), await make.org(database)])
    await make.org(database)
    user_id = await user(database, *org_ids)

    await run(database, operators.disable_user, user_id)

    assert org_ids == [entry[0] for entry in await audited(database)]


async def test_change_of_a_user_without_an_org_is_recorded(database: Database) -> None:
    user_id = await user(database)

    await run(database, operators.disable_user, user_id)

    assert [(None, "user.disabled", user_id)] == [entry[:3] for entry in await audited(database)]


async def test_plan_change_records_the_previous_plan(database: Database) -> None:
    org_id, other_id = await make.org(database), await make.org(database)
    async with database.write() as session:
        assert await operators.set_plan(session, org_id, PlanName.INDIE)
        assert not await operators.set_plan(session, org_id, PlanName.INDIE)

    plans = {row.id: row.plan for row in await rows(database, tables.Org)}
    assert {org_id: "indie", other_id: "scale"} == plans
    assert [
        (org_id, "subscription.updated", org_id, {"plan": "scale"}, {"plan": "indie"})
    ] == await audited(database)


async def test_figures_are_agreed_for_enterprise_alone(database: Database) -> None:
    org_id = await make.org(database)
    secret = await make.key(database, org_id)
    for plan, agreed, expected in (
        (PlanName.ENTERPRISE, {"receipts_a_month": 7}, (7, 5_000, 50)),
        (PlanName.ENTERPRISE, {}, (250_000, 5_000, 50)),
        (PlanName.FREE, {}, (50, 100, 1)),
    ):
        async with database.write() as session:
            assert await operators.set_plan(session, org_id, plan, agreed=agreed)
        found = (await make.actor_of(database, secret)).plan

        assert plan is found.name
        assert expected == (found.receipts_a_month, found.requests_a_minute, found.uploads_at_once)


@pytest.mark.parametrize(
    ("plan", "agreed"),
    [
        (PlanName.SCALE, {"receipts_a_month": 7}),
        (PlanName.ENTERPRISE, {"uploads_at_once": 0}),
        (PlanName.ENTERPRISE, {"requests_a_minute": 2**31}),
    ],
)
async def test_invalid_plan_figures_are_refused(
    database: Database, plan: PlanName, agreed: dict[str, int]
) -> None:
    org_id = await make.org(database)
    async with database.write() as session:
        with pytest.raises(ValidationFailed):
            await operators.set_plan(session, org_id, plan, agreed=agreed)


async def test_plan_of_an_unknown_org_is_not_found(database: Database) -> None:
    async with database.write() as session:
        with pytest.raises(NotFound, match="no org"):
            await operators.set_plan(session, "nowhere", PlanName.INDIE)
