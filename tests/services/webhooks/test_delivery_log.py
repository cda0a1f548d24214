"""The delivery log of the portal: deliveries and their attempts in pages."""

from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from recibo.errors import NotFound, ValidationFailed
from recibo.schemas.actor import Actor, Member
from recibo.schemas.states import DeliveryState, EventType
from recibo.schemas.webhooks import DeliveredEvent, Delivery
from recibo.services.pagination import PageRequest
from recibo.services.webhooks import delivery_log
from recibo.store.db import Database
from tests import events, make

FIRST = PageRequest(3, None, "key")


@pytest.fixture
async def member(database: Database, actor: Actor) -> Member:
    """A member of the org."""
    return await make.member(database, actor.org_id)


async def recent(
    database: Database, member: Member, wanted: PageRequest = FIRST
) -> delivery_log.DeliveryPage:
    """Return a page of the events of a member's org."""
    async with database.read() as session:
        return await delivery_log.recent(session, member, wanted=wanted)


async def one(
    database: Database, member: Member, event_id: str, wanted: PageRequest = FIRST
) -> delivery_log.DeliveryDetails:
    """Return an event with a page of its attempts."""
    async with database.read() as session:
        return await delivery_log.get(session, member, event_id, wanted=wanted)


def only(entry: DeliveredEvent) -> Delivery:
    """Return the delivery of an event that has one."""
    (delivery,) = entry.deliveries
    return delivery


def after(cursor: str | None) -> PageRequest:
    """Want the page after another."""
    assert cursor is not None
    return PageRequest(3, cursor, "key")


async def test_events_are_listed_newest_first_before_they_are_tried_too(
    database: Database, member: Member
) -> None:
    await events.endpoint(database, member)
    taken = await events.deliver_event(
        database, member.org_id, EventType.RECEIPT_COMPLETED, {"a": 1}
    )
    waiting = await events.emit_event(database, member.org_id, url=None)
    page = await recent(database, member)

    assert [waiting, taken] == [entry.event.id for entry in page.data]
    assert [DeliveryState.PENDING, DeliveryState.DELIVERED] == [
        only(entry).state for entry in page.data
    ]
    assert [events.URL, events.OWN_URL] == [only(entry).url for entry in page.data]
    assert [True, False] == [only(entry).due_at is not None for entry in page.data]
    assert [0, 1] == [len(only(entry).attempts) for entry in page.data]
    assert {"a": 1} == page.data[1].event.data
    assert page.next_cursor is None


async def test_attempts_are_listed_as_recorded(database: Database, member: Member) -> None:
    event_id = await events.emit_event(database, member.org_id)
    await events.attempt(database, event_id, status=None, error="timed out", answer=None)
    await events.attempt(database, event_id, status=503, duration_ms=40, answer="<b>busy</b>")
    (entry,) = (await recent(database, member)).data

    newest, oldest = only(entry).attempts
    assert (503, None, "<b>busy</b>", 40, events.OWN_URL) == (
        newest.status,
        newest.error,
        newest.answer,
        newest.duration_ms,
        newest.url,
    )
    assert (None, "timed out", None) == (oldest.status, oldest.error, oldest.answer)
    assert newest.started_at >= oldest.started_at
    assert only(entry).attempts == (await one(database, member, event_id)).attempts


async def test_pages_hold_every_event_once(database: Database, member: Member) -> None:
    sent = [await events.deliver_event(database, member.org_id) for _ in range(7)]

    first = await recent(database, member)
    second = await recent(database, member, after(first.next_cursor))
    third = await recent(database, member, after(second.next_cursor))

    found = [entry.event.id for page in (first, second, third) for entry in page.data]
    assert sent[::-1] == found
    assert third.next_cursor is None


async def test_list_holds_the_last_ten_attempts_and_says_that_there_are_older_ones(
    database: Database, member: Member
) -> None:
    ten = await events.emit_event(database, member.org_id)
    eleven = await events.emit_event(database, member.org_id)
    for number in range(10):
        await events.attempt(database, ten, status=500, duration_ms=number)
    for number in range(11):
        await events.attempt(database, eleven, status=500, duration_ms=number)
    newest, oldest = (only(entry) for entry in (await recent(database, member)).data)

    assert list(range(10, 0, -1)) == [tried.duration_ms for tried in newest.attempts]
    assert list(range(9, -1, -1)) == [tried.duration_ms for tried in oldest.attempts]
    assert (True, False) == (newest.has_older, oldest.has_older)


async def test_many_events_take_as_many_queries_as_one(
    database: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        await events.deliver_event(database, member.org_id)
    counted: list[int] = []
    execute = AsyncSession.execute

    async def counting(self: AsyncSession, *args: Any, **kwargs: Any) -> Any:
        counted.append(1)
        return await execute(self, *args, **kwargs)

    monkeypatch.setattr(AsyncSession, "execute", counting)
    await recent(database, member, PageRequest(1, None, "key"))
    of_one = len(counted)
    await recent(database, member)

    assert of_one == len(counted) - of_one


async def test_pages_of_an_event_hold_every_attempt_once(
    database: Database, member: Member
) -> None:
    event_id = await events.emit_event(database, member.org_id)
    for number in range(5):
        await events.attempt(database, event_id, status=500, duration_ms=number)
    first = await one(database, member, event_id)
    second = await one(database, member, event_id, after(first.next_cursor))

    assert [4, 3, 2] == [tried.duration_ms for tried in first.attempts]
    assert [1, 0] == [tried.duration_ms for tried in second.attempts]
    assert second.next_cursor is None


async def test_cursor_is_bound_to_its_list(database: Database, member: Member) -> None:
    event_id = await events.emit_event(database, member.org_id)
    for _ in range(4):
        await events.attempt(database, event_id, status=500)
        await events.deliver_event(database, member.org_id)
    of_list = after((await recent(database, member)).next_cursor)
    of_event = after((await one(database, member, event_id)).next_cursor)
    foreign = await make.member(database, await make.org(database))
    other_event = await events.deliver_event(database, member.org_id)

    with pytest.raises(ValidationFailed):
        await recent(database, member, of_event)
    with pytest.raises(ValidationFailed):
        await recent(database, foreign, of_list)
    with pytest.raises(ValidationFailed):
        await one(database, member, event_id, of_list)
    with pytest.raises(ValidationFailed):
        await one(database, member, other_event, of_event)


async def test_events_of_another_org_are_not_there(database: Database, member: Member) -> None:
    event_id = await events.deliver_event(database, await make.org(database))

    assert [] == (await recent(database, member)).data
    with pytest.raises(NotFound):
        await one(database, member, event_id)


@pytest.mark.parametrize("event_id", ["evt_" + "0" * 32, "", "evt_\0", "x" * 5000])
async def test_unknown_event_is_not_found(
    database: Database, member: Member, event_id: str
) -> None:
    with pytest.raises(NotFound, match="no event"):
        await one(database, member, event_id)
