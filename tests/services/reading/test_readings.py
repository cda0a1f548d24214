"""Pending readings: attempts, limits and leases."""

import datetime as dt

import pytest
from sqlalchemy import select, update

from recibo.extract.model import Accuracy
from recibo.lib import clock
from recibo.schemas.actor import Actor
from recibo.schemas.ids import ReceiptId
from recibo.schemas.states import FailureCode
from recibo.services.reading import pending_counts, readings
from recibo.services.reading.readings import Order, Refusal
from recibo.store import tables
from tests import make
from tests.core import Core

REFUSAL = Refusal(FailureCode.LOW_CONFIDENCE, "too dark")
SECOND = dt.timedelta(seconds=1)
MINUTE = dt.timedelta(minutes=1)


async def begin(parts: Core, receipt_id: ReceiptId) -> Order | None:
    """Start an attempt in a separate transaction."""
    async with parts.database.write() as session:
        return await readings.start(session, receipt_id)


async def begun(parts: Core, receipt_id: ReceiptId) -> Order:
    """Begin an attempt that must be granted."""
    order = await begin(parts, receipt_id)
    assert order is not None
    return order


async def begun_later(parts: Core, receipt_id: ReceiptId) -> Order:
    """Start an attempt after the lease of a killed worker has expired."""
    with clock.moved(readings.LEASE):
        return await begun(parts, receipt_id)


async def overdue(parts: Core) -> list[ReceiptId]:
    """Fail and return the receipts that have no attempts or time left."""
    async with parts.database.read() as session:
        found = await readings.overdue(session, limit=1000)
    for receipt_id in found:
        async with parts.database.write() as session:
            await readings.fail_overdue(session, receipt_id)
    return found


async def complete(parts: Core, order: Order, merchant: str = "Aurora") -> bool:
    """End an attempt with a reading."""
    async with parts.database.write() as session:
        return await readings.complete(session, order, make.reading(merchant))


async def fail(parts: Core, order: Order) -> bool:
    """End an attempt without one."""
    async with parts.database.write() as session:
        return await readings.fail(session, order, REFUSAL)


async def keep(parts: Core, order: Order) -> None:
    """Renew the lease of an attempt."""
    async with parts.database.write() as session:
        await readings.renew(session, order)


async def return_unread(parts: Core, order: Order) -> None:
    """Give an attempt back."""
    async with parts.database.write() as session:
        await readings.retry(session, order)


async def pending(parts: Core) -> list[ReceiptId]:
    """Return the pending receipts."""
    async with parts.database.read() as session:
        is_pending = tables.Receipt.pending_accuracy.is_not(None)
        query = select(tables.Receipt.id).where(is_pending).order_by(tables.Receipt.id)
        found = list((await session.execute(query)).scalars())
        assert await pending_counts.total(session) == len(found)
    return [ReceiptId(one) for one in found]


async def test_order_describes_the_reading(parts: Core, actor: Actor) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id

    order = await begun(parts, receipt_id)

    assert Order(receipt_id, actor.org_id, 1, Accuracy.STANDARD, None, 240.0) == order
    assert not order.is_last


async def test_lost_attempt_cannot_end_the_reading(parts: Core, actor: Actor) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    first, second = await begun(parts, receipt_id), await begun_later(parts, receipt_id)

    assert not await complete(parts, first, "of the first")
    assert not await fail(parts, first)
    assert [receipt_id] == await pending(parts)
    assert await complete(parts, second, "of the second")
    assert "of the second" == (await parts.row(receipt_id)).merchant_name
    assert [(1, 1, 1)] == await parts.held()


async def test_attempt_ends_once(parts: Core, actor: Actor) -> None:
    order = await begun(parts, (await parts.submit(actor)).receipt_id)

    assert await complete(parts, order)
    assert not await complete(parts, order)
    assert not await fail(parts, order)
    assert [] == await pending(parts)
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
    assert [other.receipt_id] == await pending(parts)
    assert [(1, 0, 0)] == await parts.held()


async def test_late_end_of_the_first_reading_does_not_end_the_second(
    parts: Core, actor: Actor
) -> None:
    """The second counts its attempts from zero, so the number alone is not unique."""
    receipt_id = (await parts.submit(actor)).receipt_id
    late = await begun(parts, receipt_id)
    await complete(parts, await begun_later(parts, receipt_id))
    async with parts.database.write() as session:
        await session.execute(
            update(tables.Receipt).values(pending_accuracy="high", attempt=0, claimed_at=None)
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
    orders = []
    for number in range(3):
        with clock.moved(number * readings.LEASE):
            orders.append(await begun(parts, receipt_id))

    assert [False, False, True] == [order.is_last for order in orders]
    with clock.moved(3 * readings.LEASE):
        assert await begin(parts, receipt_id) is None
    row = await parts.row(receipt_id)
    assert ("failed", "server_error") == (row.status, row.failure_code)
    assert [] == await pending(parts)
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


async def test_leased_receipt_is_not_started_again(parts: Core, actor: Actor) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    first = await begun(parts, receipt_id)

    with clock.moved(readings.LEASE - SECOND):
        assert await begin(parts, receipt_id) is None
    assert 1 == (await parts.row(receipt_id)).attempt
    assert await complete(parts, first)


async def test_renewed_lease_does_not_expire(parts: Core, actor: Actor) -> None:
    order = await begun(parts, (await parts.submit(actor)).receipt_id)

    with clock.moved(readings.LEASE - SECOND):
        await keep(parts, order)
    with clock.moved(2 * readings.LEASE - 2 * SECOND):
        assert await begin(parts, order.receipt_id) is None
    with clock.moved(2 * readings.LEASE):
        assert 2 == (await begun(parts, order.receipt_id)).attempt


async def test_lost_lease_is_not_renewed(parts: Core, actor: Actor) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    lost = await begun(parts, receipt_id)
    await begun_later(parts, receipt_id)

    with clock.moved(2 * readings.LEASE):
        await keep(parts, lost)
        assert 3 == (await begun(parts, receipt_id)).attempt


async def test_failed_attempt_is_followed_by_the_next_at_once(parts: Core, actor: Actor) -> None:
    order = await begun(parts, (await parts.submit(actor)).receipt_id)

    async with parts.database.write() as session:
        await readings.release(session, order)

    assert 2 == (await begun(parts, order.receipt_id)).attempt


async def test_returned_reading_uses_neither_attempts_nor_time(parts: Core, actor: Actor) -> None:
    """A stop of the service is no fault of the document."""
    receipt_id = (await parts.submit(actor)).receipt_id
    for hours in range(5):
        with clock.moved(dt.timedelta(hours=hours)):
            order = await begun(parts, receipt_id)
            assert (1, 240.0) == (order.attempt, order.time_limit_s)
            await return_unread(parts, order)
            assert [] == await overdue(parts)

    assert [receipt_id] == await pending(parts)


async def test_returning_an_ended_or_lost_attempt_changes_nothing(
    parts: Core, actor: Actor
) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    lost, order = await begun(parts, receipt_id), await begun_later(parts, receipt_id)
    await return_unread(parts, lost)
    assert 2 == (await parts.row(receipt_id)).attempt

    await complete(parts, order)
    await return_unread(parts, order)

    row = await parts.row(receipt_id)
    assert ("completed", 2, None) == (row.status, row.attempt, row.pending_accuracy)


async def test_single_process_retries_the_readings_of_its_predecessor(
    parts: Core, actor: Actor
) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    await begun(parts, receipt_id)

    async with parts.database.write() as session:
        await readings.release_all(session)

    assert 2 == (await begun(parts, receipt_id)).attempt


async def test_leased_receipt_expires_ten_minutes_after_its_first_claim(
    parts: Core, actor: Actor
) -> None:
    waiting = (await parts.submit(actor, "waiting")).receipt_id
    order = await begun(parts, (await parts.submit(actor)).receipt_id)

    with clock.moved(10 * MINUTE - SECOND):
        await keep(parts, order)
        assert [] == await overdue(parts)
    with clock.moved(10 * MINUTE):
        assert [order.receipt_id] == await overdue(parts)
    row = await parts.row(order.receipt_id)
    assert ("failed", "server_error", None) == (row.status, row.failure_code, row.pending_accuracy)
    assert not await complete(parts, order)
    assert [waiting] == await pending(parts)
    assert [(1, 0, 0)] == await parts.held()


async def test_receipt_expires_when_the_lease_of_its_last_attempt_ends(
    parts: Core, actor: Actor
) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    for number in range(3):
        with clock.moved(number * readings.LEASE):
            assert [] == await overdue(parts)
            await begun(parts, receipt_id)

    with clock.moved(3 * readings.LEASE - SECOND):
        assert [] == await overdue(parts)
    with clock.moved(3 * readings.LEASE):
        assert [receipt_id] == await overdue(parts)
        assert [] == await overdue(parts)
    assert "failed" == (await parts.row(receipt_id)).status
    assert [(0, 0, 0)] == await parts.held()


async def test_overdue_second_reading_leaves_the_first_as_it_was(parts: Core, actor: Actor) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    await complete(parts, await begun(parts, receipt_id))
    async with parts.database.write() as session:
        await session.execute(
            update(tables.Receipt).values(pending_accuracy="high", attempt=0, claimed_at=None)
        )
    await begun(parts, receipt_id)

    with clock.moved(10 * MINUTE):
        assert [receipt_id] == await overdue(parts)

    row = await parts.row(receipt_id)
    assert ("completed", "standard", None) == (row.status, row.accuracy, row.pending_accuracy)
    assert [(1, 1, 1)] == await parts.held()


async def test_nothing_is_begun_that_is_not_pending(parts: Core, actor: Actor) -> None:
    receipt_id = (await parts.submit(actor)).receipt_id
    await complete(parts, await begun(parts, receipt_id))

    assert await begin(parts, receipt_id) is None
    assert await begin(parts, ReceiptId("rcp_0")) is None


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


async def test_tenth_breakdown_of_an_org_in_a_day_counts_against_its_quota(
    parts: Core, actor: Actor
) -> None:
    """Each attempt that times out or crashes is one; another org's and yesterday's are not."""
    other = await make.actor(parts.database)
    crash = Refusal(FailureCode.SERVER_ERROR, "It crashed.", is_breakdown=True)

    async def crashes(whose: Actor, text: str) -> tuple[str, list[int]]:
        receipt_id = (await parts.submit(whose, text)).receipt_id
        order = await begun(parts, receipt_id)
        async with parts.database.write() as session:
            assert await readings.fail(session, order, crash)
        row = await parts.row(receipt_id)
        return str(row.failure_message), [one[0] for one in await parts.held()]

    for number in range(7):
        assert ("It crashed.", [0]) == await crashes(actor, str(number))
    order = await begun(parts, (await parts.submit(actor, "again and again")).receipt_id)
    for _ in range(2):
        async with parts.database.write() as session:
            await readings.release(session, order, is_breakdown=True)
        order = await begun(parts, order.receipt_id)
    # The ninth was the second try of this one; the tenth is its end.
    async with parts.database.write() as session:
        await readings.fail(session, order, crash)
    row = await parts.row(order.receipt_id)
    assert "counts against the month's quota" in str(row.failure_message)
    assert [(1, 0, 0)] == await parts.held()

    assert "It crashed." == (await crashes(other, "of another"))[0]
    unreadable = await begun(parts, (await parts.submit(actor, "unreadable")).receipt_id)
    assert await fail(parts, unreadable)
    assert {0, 1} == {held for held, _, _ in await parts.held()}
    with clock.moved(dt.timedelta(days=1)):
        assert "It crashed." == (await crashes(actor, "tomorrow"))[0]
