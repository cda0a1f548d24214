"""Readings that are owed: attempts, limits and fences."""

import datetime as dt

import pytest
from sqlalchemy import update

from recibo.extract.model import Accuracy
from recibo.kit import clock
from recibo.services.reading import readings
from recibo.services.reading.readings import Order, Refusal
from recibo.shapes.actor import Actor
from recibo.shapes.ids import ReceiptId
from recibo.shapes.states import FailureCode
from recibo.store import tables
from tests import make
from tests.core import Core

REFUSAL = Refusal(FailureCode.LOW_CONFIDENCE, "too dark")
SECOND = dt.timedelta(seconds=1)
MINUTE = dt.timedelta(minutes=1)


async def begin(parts: Core, receipt_id: ReceiptId) -> Order | None:
    """Begin an attempt in a transaction of its own."""
    async with parts.database.write() as session:
        return await readings.begin(session, receipt_id)


async def begun(parts: Core, receipt_id: ReceiptId) -> Order:
    """Begin an attempt that must be granted."""
    order = await begin(parts, receipt_id)
    assert order is not None
    return order


async def complete(parts: Core, order: Order, merchant: str = "Aurora") -> bool:
    """End an attempt with a reading."""
    async with parts.database.write() as session:
        return await readings.complete(session, order, make.reading(merchant))


async def fail(parts: Core, order: Order) -> bool:
    """End an attempt without one."""
    async with parts.database.write() as session:
        return await readings.fail(session, order, REFUSAL)


async def owed(parts: Core) -> list[ReceiptId]:
    """Return what is owed."""
    async with parts.database.read() as session:
        found = await readings.owed(session, limit=1000)
        assert await readings.count_owed(session) == len(found)
    return found


async def test_order_tells_what_is_to_be_read(parts: Core, actor: Actor) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id

    order = await begun(parts, receipt_id)

    assert Order(receipt_id, actor.org_id, 1, Accuracy.STANDARD, None, 240.0) == order
    assert not order.is_last


async def test_whoever_lost_an_attempt_ends_nothing(parts: Core, actor: Actor) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    first, second = await begun(parts, receipt_id), await begun(parts, receipt_id)

    assert not await complete(parts, first, "of the first")
    assert not await fail(parts, first)
    assert [receipt_id] == await owed(parts)
    assert await complete(parts, second, "of the second")
    assert "of the second" == (await parts.row(receipt_id)).merchant_name
    assert [(1, 1, 1)] == await parts.held()


async def test_attempt_ends_once(parts: Core, actor: Actor) -> None:
    order = await begun(parts, (await parts.submit(actor)).receipt_id)

    assert await complete(parts, order)
    assert not await complete(parts, order)
    assert not await fail(parts, order)
    assert [] == await owed(parts)
    assert [(1, 1, 1)] == await parts.held()


async def test_failure_ends_once_and_gives_back_once(parts: Core, actor: Actor) -> None:
    other = await parts.submit(actor, "another, that holds the quota")
    order = await begun(parts, (await parts.submit(actor)).receipt_id)

    assert await fail(parts, order)
    assert not await fail(parts, order)
    assert not await complete(parts, order)
    row = await parts.row(order.receipt_id)
    assert ("failed", "low_confidence", "too dark") == (
        row.status,
        row.failure_code,
        row.failure_message,
    )
    assert [other.receipt_id] == await owed(parts)
    assert [(1, 0, 0)] == await parts.held()


async def test_late_end_of_the_first_reading_does_not_end_the_second(
    parts: Core, actor: Actor
) -> None:
    """The second counts its attempts anew, so the number alone would not tell them apart."""
    receipt_id = (await parts.submit(actor)).receipt_id
    late = await begun(parts, receipt_id)
    await complete(parts, await begun(parts, receipt_id))
    async with parts.database.write() as session:
        await session.execute(
            update(tables.Receipt).values(owed_accuracy="high", attempt=0, claimed_at=None)
        )
    again = await begun(parts, receipt_id)

    assert (1, 1) == (late.attempt, again.attempt)
    assert not await complete(parts, late, "late")
    assert await complete(parts, again, "again")
    assert "again" == (await parts.row(receipt_id)).merchant_name
    assert [(1, 1, 5)] == await parts.held()


async def test_after_three_attempts_a_receipt_is_failed_with_server_error(
    parts: Core, actor: Actor
) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    orders = [await begun(parts, receipt_id) for _ in range(3)]

    assert [False, False, True] == [order.is_last for order in orders]
    assert await begin(parts, receipt_id) is None
    row = await parts.row(receipt_id)
    assert ("failed", "server_error") == (row.status, row.failure_code)
    assert [] == await owed(parts)
    assert [(0, 0, 0)] == await parts.held()


async def test_work_ends_ten_minutes_after_the_first_claim(parts: Core, actor: Actor) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    await begun(parts, receipt_id)

    with clock.moved(8 * MINUTE):
        assert (await begun(parts, receipt_id)).time_limit_s == pytest.approx(120, abs=5)
    with clock.moved(10 * MINUTE):
        assert await begin(parts, receipt_id) is None
    row = await parts.row(receipt_id)
    assert ("failed", "server_error") == (row.status, row.failure_code)


async def test_waiting_in_the_queue_fails_none(parts: Core, actor: Actor) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id

    with clock.moved(dt.timedelta(days=3)):
        assert 240 == (await begun(parts, receipt_id)).time_limit_s


async def test_nothing_is_begun_that_is_not_owed(parts: Core, actor: Actor) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    await complete(parts, await begun(parts, receipt_id))

    assert await begin(parts, receipt_id) is None
    assert await begin(parts, ReceiptId("rcp_0")) is None


async def test_owed_readings_come_oldest_first_and_up_to_a_limit(parts: Core, actor: Actor) -> None:
    submitted = [(await parts.submit(actor, str(number))).receipt_id for number in range(3)]

    assert submitted == await owed(parts)
    async with parts.database.read() as session:
        assert submitted[:2] == await readings.owed(session, limit=2)


async def test_use_is_counted_in_the_month_of_completion_and_held_in_that_of_upload(
    parts: Core, actor: Actor
) -> None:
    order = await begun(parts, (await parts.submit(actor)).receipt_id)
    with clock.moved(dt.timedelta(days=40)):
        await complete(parts, order)

    assert [(0, 1, 1), (1, 0, 0)] == sorted(await parts.held())


async def test_failure_is_given_back_to_the_month_that_held_it(parts: Core, actor: Actor) -> None:
    order = await begun(parts, (await parts.submit(actor)).receipt_id)
    with clock.moved(dt.timedelta(days=40)):
        await fail(parts, order)

    assert [(0, 0, 0)] == await parts.held()
