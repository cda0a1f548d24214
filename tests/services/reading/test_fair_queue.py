"""The order of readings of several orgs."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from sqlalchemy import Engine, event, text

from recibo.errors import Overloaded
from recibo.extract.model import Accuracy
from recibo.lib import clock
from recibo.schemas.actor import Actor
from recibo.schemas.ids import ReceiptId
from recibo.schemas.plans import READINGS_CARRIED, PlanName, Plans
from recibo.services.reading import fair_queue, pending_counts, readings, receipts
from recibo.services.reading.fair_queue import Job
from recibo.store.db import Database
from tests import make
from tests.core import Core


async def add_pending(database: Database, actor: Actor, count: int) -> list[ReceiptId]:
    """Add pending readings to an org and return their receipts, the oldest first."""
    rows = [make.receipt(actor) for _ in range(count)]
    for row in rows:
        row.pending_accuracy = Accuracy.STANDARD
    async with database.write() as session:
        session.add_all(rows)
        await session.flush()
        await pending_counts.add(session, actor.org_id, count)
    return [ReceiptId(row.id) for row in rows]


async def of_all(database: Database, *, limit: int = 1000) -> list[ReceiptId]:
    """Return what the queue may carry."""
    async with database.read() as session:
        return ids((await fair_queue.next_batch(session, limit=limit))[0])


async def next_of(database: Database, receipt_id: ReceiptId) -> list[ReceiptId]:
    """Return what the queue may carry when a reading has begun or ended."""
    return ids(await fair_queue.next_batch_of_org(database, receipt_id))


async def is_next(database: Database, actor: Actor, receipt_id: ReceiptId) -> bool:
    """Return whether a receipt may be enqueued."""
    async with database.read() as session:
        return await fair_queue.is_eligible(session, actor.org_id, receipt_id, plan=actor.plan.name)


async def begin(database: Database, receipt_id: ReceiptId) -> None:
    """Start a reading."""
    async with database.write() as session:
        assert await readings.start(session, receipt_id) is not None


async def end(database: Database, receipt_id: ReceiptId) -> None:
    """Begin a reading and end it."""
    async with database.write() as session:
        order = await readings.start(session, receipt_id)
        assert order is not None
        assert await readings.complete(session, order, make.reading())


def ids(jobs: Sequence[Job]) -> list[ReceiptId]:
    return [one.receipt_id for one in jobs]


@pytest.mark.parametrize("plan", PlanName)
async def test_queue_carries_of_an_org_as_many_as_its_plan_says_the_oldest_first(
    database: Database, plan: PlanName
) -> None:
    actor, most = await make.actor(database, plan=plan), READINGS_CARRIED[plan]
    ended, *pending = await add_pending(database, actor, most + 3)
    await end(database, ended)

    for running in range(most + 1):
        # At most two of them wait, and the others are running.
        carried = pending[running : min(running + 2, most)]
        assert carried == await of_all(database) == await next_of(database, ended)
        assert carried == [one for one in pending[running:] if await is_next(database, actor, one)]
        await begin(database, pending[running])


async def test_orgs_come_in_turn(database: Database) -> None:
    first, second, third = [
        await add_pending(database, await make.actor(database, plan=PlanName.FREE), count)
        for count in (5, 1, 2)
    ]

    in_turn = [first[0], second[0], third[0], first[1], third[1]]
    assert in_turn == await of_all(database)
    assert in_turn[:2] == await of_all(database, limit=2)


async def test_depth_ahead_counts_only_the_share_of_other_orgs(
    database: Database,
) -> None:
    busy, free, idle = [
        await make.actor(database, plan=plan)
        for plan in (PlanName.SCALE, PlanName.FREE, PlanName.INDIE)
    ]
    await add_pending(database, busy, 100)
    await add_pending(database, free, 5)

    counts = [await pending_counts.ahead_of(database, one.org_id) for one in (idle, free, busy)]

    # The idle one comes in the first turn, the free one in the third of its twos.
    assert [16 + 2, 5 + 3 * 16, 100 + 5] == counts


async def test_org_with_many_readings_does_not_delay_others(database: Database) -> None:
    """Were it by age alone, a round would be full before it came to the other."""
    await add_pending(database, await make.actor(database), 40)
    (other,) = await add_pending(database, await make.actor(database), 1)

    assert other == (await of_all(database, limit=10))[1]


async def test_more_orgs_than_a_round_has_room_for_all_come_in_time(database: Database) -> None:
    pending = [
        one for _ in range(6) for one in await add_pending(database, await make.actor(database), 3)
    ]
    came = []
    while in_turn := await of_all(database, limit=4):
        came += in_turn
        for one in in_turn:
            await end(database, one)

    assert sorted(pending) == sorted(came)


async def test_running_reading_keeps_its_place_and_is_not_enqueued_again(
    database: Database,
) -> None:
    actor = await make.actor(database, plan=PlanName.FREE)
    begun, waiting, behind = await add_pending(database, actor, 3)
    await begin(database, begun)

    assert [waiting] == await of_all(database) == await next_of(database, begun)
    with clock.moved(readings.LEASE):
        assert [begun, waiting] == await of_all(database) == await next_of(database, waiting)
    await end(database, waiting)
    assert [behind] == await next_of(database, waiting)


async def test_nothing_is_enqueued_when_nothing_is_pending(database: Database) -> None:
    (only,) = await add_pending(database, await make.actor(database), 1)
    await add_pending(database, await make.actor(database), 1)
    await end(database, only)

    assert [] == await next_of(database, only)
    assert [] == await next_of(database, ReceiptId("rcp_0"))


async def test_job_has_the_accuracy_of_the_pending_reading(database: Database) -> None:
    (receipt_id,) = await add_pending(database, await make.actor(database), 1)
    async with database.write() as session:
        await session.execute(text("UPDATE receipts SET pending_accuracy = 'high'"))

    async with database.read() as session:
        assert [Job(receipt_id, Accuracy.HIGH)] == (await fair_queue.next_batch(session, limit=1))[
            0
        ]
    again = await fair_queue.next_batch_of_org(database, receipt_id)
    assert [Job(receipt_id, Accuracy.HIGH)] == again


async def test_upload_beyond_the_turn_of_its_org_waits_until_another_begins_or_ends(
    parts: Core, database: Database
) -> None:
    actor = await make.actor(database, plan=PlanName.INDIE)
    submitted = [(await parts.submit(actor, str(number))).receipt_id for number in range(5)]
    assert submitted[:2] == parts.carrier.added
    parts.carrier.added.clear()

    await parts.tasks.read(submitted[0])

    # Twice: as it begins and as it ends.
    assert submitted[1:3] * 2 == parts.carrier.added


async def test_upload_is_refused_by_the_depth_ahead_and_not_by_all_pending(
    parts: Core,
) -> None:
    busy, other = await make.actor(parts.database), await make.actor(parts.database)
    await add_pending(parts.database, busy, 400)

    with pytest.raises(Overloaded):
        await parts.submit(busy)
    await parts.submit(other)


async def test_readings_that_end_at_once_leave_none_behind(parts: Core) -> None:
    actor = await make.actor(parts.database, plan=PlanName.FREE)
    submitted = [(await parts.submit(actor, str(number))).receipt_id for number in range(6)]

    for start in (0, 2, 4):
        await asyncio.gather(*(parts.tasks.read(one) for one in submitted[start : start + 2]))

        assert set(submitted[: start + 4]) <= set(parts.carrier.added)


async def test_where_no_plan_is_sold_the_queue_carries_as_many_as_enterprise_may(
    database: Database,
) -> None:
    actor, plans = await make.actor(database, plan=PlanName.FREE), Plans(are_sold=False)
    most = READINGS_CARRIED[PlanName.ENTERPRISE]
    running = READINGS_CARRIED[PlanName.FREE]
    pending = await add_pending(database, actor, most + 3)
    for receipt_id in pending[:running]:
        await begin(database, receipt_id)
    async with database.read() as session:
        sold = [
            ids((await fair_queue.next_batch(session, limit=1000))[0]),
            ids(await fair_queue.next_batch_of_org(database, pending[0])),
        ]
        free = [
            ids((await fair_queue.next_batch(session, limit=1000, plans=plans))[0]),
            ids(await fair_queue.next_batch_of_org(database, pending[0], plans=plans)),
        ]

    following = pending[running : running + 2]
    assert [[], []] == sold
    assert [following, following] == free


async def plans_of(database: Database, asked: Sequence[Callable[[], Awaitable[object]]]) -> str:
    """Return how the database finds what these ask for."""
    seen = list[tuple[str, Any]]()

    def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        seen.append((statement, parameters))

    # Whatever engine of the database answers.
    event.listen(Engine, "before_cursor_execute", note)
    for ask in asked:
        await ask()
    event.remove(Engine, "before_cursor_execute", note)
    assert len(asked) <= len(seen)
    found = list[str]()
    async with database.read() as session:
        connection = await session.connection()
        for statement, parameters in seen:
            rows = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            found += [str(row[-1]) for row in rows]
    return "\n".join(found)


async def test_no_upload_looks_at_all_that_is_pending(sqlite_url: str) -> None:
    """Nothing may scan the receipts or rank them; PostgreSQL's plans go by its statistics."""
    database = Database(sqlite_url)
    actor = await make.actor(database)
    pending = await add_pending(database, actor, 20)

    async def ahead() -> None:
        await pending_counts.ahead_of(database, actor.org_id)

    async def refill() -> None:
        await of_all(database)

    plans = await plans_of(
        database,
        [
            ahead,
            refill,
            lambda: is_next(database, actor, pending[-1]),
            lambda: next_of(database, pending[0]),
        ],
    )

    await database.close()

    assert "SCAN receipts" not in plans
    assert "ix_receipts_pending" in plans


@pytest.mark.parametrize("orgs", [1, 40])
async def test_round_looks_at_few_orgs_and_goes_on_with_the_next(
    database: Database, orgs: int
) -> None:
    pending = [(await add_pending(database, await make.actor(database), 1))[0] for _ in range(orgs)]
    came, after = list[ReceiptId](), ""
    for _ in range(orgs // 10 + 1):
        async with database.read() as session:
            found, after = await fair_queue.next_batch(session, limit=1000, after=after, orgs=10)
        assert len(found) <= 10
        came += ids(found)

    assert "" == after
    assert sorted(pending) == sorted(came)


async def test_pending_readings_are_counted_as_they_come_and_go(
    parts: Core, database: Database
) -> None:
    """Whatever becomes of them: read, failed, deleted, ordered again."""
    actor = await make.actor(database)
    read, deleted, left = [
        (await parts.submit(actor, name)).receipt_id for name in ("read", "deleted", "left")
    ]
    await end(database, read)
    async with database.write() as session:
        await receipts.soft_delete(session, actor, deleted)
        await receipts.soft_delete(session, actor, read)

    async with database.read() as session:
        assert 1 == await pending_counts.total(session)
        assert 1 == await pending_counts.ahead_of(database, actor.org_id)
        assert [left] == ids((await fair_queue.next_batch(session, limit=10))[0])
