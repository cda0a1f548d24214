"""Whose reading comes next, whoever owes how much."""

import asyncio
from collections.abc import Sequence

import pytest
from sqlalchemy import text

from recibo.extract.model import Accuracy
from recibo.kit import clock
from recibo.services.reading import readings, turns
from recibo.services.reading.turns import Owed
from recibo.shapes.actor import Actor
from recibo.shapes.ids import ReceiptId
from recibo.shapes.plans import READINGS_CARRIED, PlanName
from recibo.store.db import Database
from tests import make
from tests.core import Core


async def owe(database: Database, actor: Actor, count: int) -> list[ReceiptId]:
    """Owe readings to an org, and return their receipts, the oldest first."""
    rows = [make.receipt(actor) for _ in range(count)]
    for row in rows:
        row.owed_accuracy = Accuracy.STANDARD
    async with database.write() as session:
        session.add_all(rows)
    return [ReceiptId(row.id) for row in rows]


async def of_all(database: Database, *, limit: int = 1000) -> list[ReceiptId]:
    """Return what the queue may carry."""
    async with database.read() as session:
        return ids(await turns.of_all(session, limit=limit))


async def after(database: Database, receipt_id: ReceiptId) -> list[ReceiptId]:
    """Return what the queue may carry when a reading has ended."""
    async with database.read() as session:
        return ids(await turns.after(session, receipt_id))


async def is_next(database: Database, actor: Actor, receipt_id: ReceiptId) -> bool:
    """Tell whether the queue may carry a receipt."""
    async with database.read() as session:
        return await turns.is_next(session, actor.org_id, receipt_id, plan=actor.plan.name)


async def end(database: Database, receipt_id: ReceiptId) -> None:
    """Begin a reading and end it."""
    async with database.write() as session:
        order = await readings.begin(session, receipt_id)
        assert order is not None
        assert await readings.complete(session, order, make.reading())


def ids(owed: Sequence[Owed]) -> list[ReceiptId]:
    return [one.receipt_id for one in owed]


@pytest.mark.parametrize("plan", PlanName)
async def test_queue_carries_of_an_org_as_many_as_its_plan_says_the_oldest_first(
    database: Database, plan: PlanName
) -> None:
    actor, most = await make.actor(database, plan=plan), READINGS_CARRIED[plan]
    ended, *owed = await owe(database, actor, most + 3)
    await end(database, ended)

    assert owed[:most] == await of_all(database)
    assert owed[:most] == await after(database, ended)
    assert [True] * most + [False] * 2 == [await is_next(database, actor, one) for one in owed]


async def test_orgs_come_in_turn(database: Database) -> None:
    first, second, third = [
        await owe(database, await make.actor(database, plan=PlanName.FREE), count)
        for count in (5, 1, 2)
    ]

    in_turn = [first[0], second[0], third[0], first[1], third[1]]
    assert in_turn == await of_all(database)
    assert in_turn[:2] == await of_all(database, limit=2)


async def test_org_that_owes_much_is_in_nobodys_way(database: Database) -> None:
    """Were it by age alone, a round would be full before it came to the other."""
    await owe(database, await make.actor(database), 40)
    (other,) = await owe(database, await make.actor(database), 1)

    assert other == (await of_all(database, limit=10))[1]


async def test_more_orgs_than_a_round_has_room_for_all_come_in_time(database: Database) -> None:
    owed = [one for _ in range(6) for one in await owe(database, await make.actor(database), 3)]
    came = []
    while in_turn := await of_all(database, limit=4):
        came += in_turn
        for one in in_turn:
            await end(database, one)

    assert sorted(owed) == sorted(came)


async def test_what_is_in_hand_has_its_place_and_is_not_added(database: Database) -> None:
    actor = await make.actor(database, plan=PlanName.FREE)
    begun, waiting, behind = await owe(database, actor, 3)
    async with database.write() as session:
        await readings.begin(session, begun)

    assert [waiting] == await of_all(database) == await after(database, begun)
    with clock.moved(readings.HOLD):
        assert [begun, waiting] == await of_all(database) == await after(database, waiting)
    await end(database, waiting)
    assert [behind] == await after(database, waiting)


async def test_nothing_follows_where_nothing_is_owed(database: Database) -> None:
    (only,) = await owe(database, await make.actor(database), 1)
    await owe(database, await make.actor(database), 1)
    await end(database, only)

    assert [] == await after(database, only)
    assert [] == await after(database, ReceiptId("rcp_0"))


async def test_owed_reading_is_told_with_its_accuracy(database: Database) -> None:
    (receipt_id,) = await owe(database, await make.actor(database), 1)
    async with database.write() as session:
        await session.execute(text("UPDATE receipts SET owed_accuracy = 'high'"))

    async with database.read() as session:
        assert [Owed(receipt_id, Accuracy.HIGH)] == await turns.of_all(session, limit=1)
        assert [Owed(receipt_id, Accuracy.HIGH)] == await turns.after(session, receipt_id)


async def test_upload_beyond_the_turn_of_its_org_waits_until_another_ends(
    parts: Core, database: Database
) -> None:
    actor = await make.actor(database, plan=PlanName.FREE)
    first, second, third, fourth = [
        (await parts.submit(actor, str(number))).receipt_id for number in range(4)
    ]
    carried = list(parts.carrier.added)
    await parts.tasks.read(first)
    after_first = list(parts.carrier.added)
    await parts.tasks.read(second)

    assert [first, second] == carried
    assert [*carried, second, third] == after_first
    assert [*after_first, third, fourth] == parts.carrier.added


async def test_readings_that_end_at_once_leave_none_behind(parts: Core) -> None:
    actor = await make.actor(parts.database, plan=PlanName.FREE)
    submitted = [(await parts.submit(actor, str(number))).receipt_id for number in range(6)]

    for start in (0, 2, 4):
        await asyncio.gather(*(parts.tasks.read(one) for one in submitted[start : start + 2]))

        assert set(submitted[: start + 4]) <= set(parts.carrier.added)
