"""The audit log: what is written, what is found, what is purged."""

import contextlib
import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from recibo.lib import clock, ids
from recibo.schemas.actor import Actor, ClientInfo, KeyActor, Member, Person
from recibo.schemas.audit import AuditEvent
from recibo.schemas.ids import OrgId, UserId
from recibo.schemas.plans import PLANS, PlanName
from recibo.schemas.states import AuditAction, ResourceType, Role
from recibo.services import audit
from recibo.services.audit import Filters
from recibo.services.pagination import PageRequest
from recibo.store import tables
from recibo.store.db import Database
from tests import make

DAY = dt.timedelta(days=1)
SECOND = dt.timedelta(seconds=1)
RETENTION = 400 * DAY
NOON = dt.datetime(2026, 3, 14, 12, tzinfo=dt.UTC)
VISIT = ClientInfo(request_id="req_1", ip_address="203.0.113.7", user_agent="curl/8")
ORG = (ResourceType.ORG, "org_1")
EVERYTHING = Filters()
UPDATES = Filters(action="org.updated")


def member(actor: Actor, user_id: str = "usr_1") -> Member:
    """Return a member of the same org at work."""
    return Member(actor.org_id, PLANS[PlanName.FREE], VISIT, UserId(user_id), Role.OWNER)


async def listed(
    database: Database, actor: Actor, filters: Filters = EVERYTHING
) -> list[AuditEvent]:
    """Return the first page of an org's log."""
    async with database.read() as session:
        page = await audit.page(session, actor, filters, wanted=PageRequest(50, None, "key"))
        return page.items


async def actions(database: Database, actor: Actor, filters: Filters = EVERYTHING) -> list[str]:
    """Return the actions of the entries that a list holds, in its order."""
    return [item.action for item in await listed(database, actor, filters)]


def made_at(moment: dt.datetime) -> str:
    """Return an id of this time."""
    return ids.first_at("aud", moment.timestamp())[:-8] + ids.new("aud")[-8:]


async def add(database: Database, org_id: OrgId | None, *moments: dt.datetime) -> list[str]:
    """Add an entry at each of these times and return their ids."""
    rows = [
        tables.AuditEvent(
            id=made_at(moment),
            org_id=org_id,
            action=AuditAction.ORG_UPDATED,
            resource_type=ResourceType.ORG,
            created_at=moment,
        )
        for moment in moments
    ]
    made = [row.id for row in rows]
    async with database.write() as session:
        session.add_all(rows)
    return made


async def test_entry_names_action_actor_and_client(database: Database, actor: KeyActor) -> None:
    before, after = {"name": "Old"}, {"name": "New", "logo_url": None}
    async with database.write() as session:
        audit.record(
            session,
            member(actor),
            AuditAction.ORG_UPDATED,
            resource=(ResourceType.ORG, actor.org_id),
            before=before,
            after=after,
        )

    entry = (await listed(database, actor, UPDATES))[0].model_dump(mode="json")

    assert abs(dt.datetime.fromisoformat(entry.pop("created_at")) - clock.now()) < 60 * SECOND
    assert ids.is_well_formed(entry.pop("id"))
    assert {
        "action": "org.updated",
        "resource_type": "org",
        "resource_id": actor.org_id,
        "actor_user_id": "usr_1",
        "actor_api_key_id": None,
        "ip_address": "203.0.113.7",
        "user_agent": "curl/8",
        "before": before,
        "after": after,
        "request_id": "req_1",
    } == entry


async def test_entry_names_the_key_instead_of_a_user(database: Database, actor: KeyActor) -> None:
    async with database.write() as session:
        audit.record(session, actor, AuditAction.RECEIPT_CREATED, resource=ORG)

    item = (await listed(database, actor, Filters(action="receipt.created")))[0]

    assert (None, actor.key_id) == (item.actor_user_id, item.actor_api_key_id)


async def test_snapshot_does_not_change_after_it_is_recorded(
    database: Database, actor: KeyActor
) -> None:
    after = {"name": "then"}
    async with database.write() as session:
        audit.record(session, actor, AuditAction.ORG_UPDATED, resource=ORG, after=after)
        after["name"] = "later"

    assert {"name": "then"} == (await listed(database, actor, UPDATES))[0].after


async def test_entry_goes_with_the_change_that_is_rolled_back(
    database: Database, actor: KeyActor
) -> None:
    known = await actions(database, actor)
    with contextlib.suppress(ZeroDivisionError):
        async with database.write() as session:
            audit.record(session, actor, AuditAction.ORG_UPDATED, resource=ORG)
            await session.flush()
            raise ZeroDivisionError

    assert known == await actions(database, actor)


async def test_org_sees_its_own_entries_only(database: Database, actor: KeyActor) -> None:
    other = await make.actor(database)
    async with database.write() as session:
        audit.record(session, actor, AuditAction.ORG_UPDATED, resource=ORG)
        audit.record(session, other, AuditAction.MEMBER_INVITED, resource=ORG)
        anonymous = Person(None, None, VISIT)
        audit.record(session, anonymous, AuditAction.USER_SIGN_IN_FAILED, resource=ORG)

    assert ["org.updated", "apikey.created"] == await actions(database, actor)
    assert ["member.invited", "apikey.created"] == await actions(database, other)


async def test_all_filters_must_fit(database: Database, actor: KeyActor) -> None:
    async with database.write() as session:
        one, two = member(actor, "usr_1"), member(actor, "usr_2")
        user = (ResourceType.USER, "usr_1")
        audit.record(session, one, AuditAction.USER_SIGNED_IN, resource=user)
        audit.record(session, two, AuditAction.MEMBER_REMOVED, resource=user)
        audit.record(session, one, AuditAction.ORG_UPDATED, resource=ORG)
        audit.record(session, actor, AuditAction.RECEIPT_CREATED, resource=ORG)

    signed_in, removed, updated = "user.signed_in", "member.removed", "org.updated"
    expected = {
        Filters(): ["receipt.created", updated, removed, signed_in, "apikey.created"],
        Filters(action="org.updated"): [updated],
        Filters(action="org"): [],
        Filters(action="ORG.UPDATED"): [],
        Filters(action="org.exploded"): [],
        Filters(action=""): [],
        Filters(resource_type="user"): [removed, signed_in],
        Filters(resource_type="spaceship"): [],
        Filters(actor="usr_1"): [updated, signed_in],
        Filters(actor=actor.key_id): ["receipt.created"],
        Filters(actor="key_1"): [],
        Filters(actor="org_1"): [],
        Filters(actor=""): [],
        Filters(actor="usr_1", resource_type="user"): [signed_in],
        Filters(actor="usr_2", action="org.updated"): [],
    }
    assert expected == {filters: await actions(database, actor, filters) for filters in expected}


async def test_instants_are_bounds_that_belong_to_the_span(
    database: Database, actor: KeyActor
) -> None:
    first, second, third = await add(database, actor.org_id, NOON, NOON + SECOND, NOON + 2 * SECOND)

    async def between(since: dt.datetime | None, until: dt.datetime | None) -> list[str]:
        filters = Filters(action="org.updated", since=since, until=until)
        return [item.id for item in await listed(database, actor, filters)]

    microsecond = dt.timedelta(microseconds=1)
    assert [third, second] == await between(NOON + SECOND, None)
    assert [third] == await between(NOON + SECOND + microsecond, None)
    assert [second, first] == await between(None, NOON + SECOND)
    assert [first] == await between(None, NOON + SECOND - microsecond)
    assert [second] == await between(NOON + SECOND, NOON + SECOND)
    assert [] == await between(NOON + SECOND, NOON)


async def test_day_counts_as_a_whole_in_utc(database: Database, actor: KeyActor) -> None:
    midnight = NOON.replace(hour=0)
    microsecond = dt.timedelta(microseconds=1)
    made = await add(
        database,
        actor.org_id,
        *(midnight - microsecond, midnight, midnight + DAY - microsecond, midnight + DAY),
    )

    async def on(since: dt.date | None, until: dt.date | None) -> list[str]:
        filters = Filters(action="org.updated", since=since, until=until)
        return [item.id for item in reversed(await listed(database, actor, filters))]

    assert made[1:3] == await on(NOON.date(), NOON.date())
    assert made[1:] == await on(NOON.date(), None)
    assert made[:3] == await on(None, NOON.date())
    assert made == await on(dt.date.min, dt.date.max)


async def test_clock_that_is_set_while_an_entry_is_written_hides_nothing(
    database: Database, actor: KeyActor
) -> None:
    """Its id and its time are taken one after the other."""
    async with database.write() as session:
        for seconds in (-30, 30):
            session.add(
                tables.AuditEvent(
                    id=made_at(NOON + seconds * SECOND),
                    org_id=actor.org_id,
                    action=AuditAction.ORG_UPDATED,
                    resource_type=ResourceType.ORG,
                    created_at=NOON,
                )
            )

    assert 2 == len(await listed(database, actor, Filters(since=NOON, until=NOON)))


async def test_purge_deletes_expired_entries_in_batches(
    database: Database, actor: KeyActor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recibo.services.audit._PURGE_BATCH", 2)
    over = clock.now() - RETENTION - DAY
    await add(database, actor.org_id, over, over, over)
    await add(database, None, over)
    (kept,) = await add(database, actor.org_id, clock.now() - RETENTION + DAY)

    counts = [await audit.purge(database) for _ in range(3)]

    assert [2, 2, 0] == counts
    found = await listed(database, actor)
    assert ["apikey.created", "org.updated"] == [item.action for item in found]
    assert kept == found[-1].id


PLANNED: dict[str, Filters] = {
    "all": Filters(),
    "an action": Filters(action="org.updated"),
    "a resource type": Filters(resource_type="org"),
    "a user": Filters(actor="usr_1"),
    "a key": Filters(actor="key_1"),
    "a span": Filters(since=NOON.date(), until=NOON),
    "an action since": Filters(action="org.updated", since=NOON),
    "a user until": Filters(actor="usr_1", until=NOON),
}


@pytest.fixture
def statements() -> Iterator[list[tuple[str, Any]]]:
    """What is sent to the database."""
    sent: list[tuple[str, Any]] = []

    def note(*arguments: Any) -> None:
        sent.append((arguments[2], arguments[3]))

    event.listen(Engine, "before_cursor_execute", note)
    yield sent
    event.remove(Engine, "before_cursor_execute", note)


@pytest.mark.parametrize("name", PLANNED)
async def test_page_is_read_off_an_index(
    sqlite_url: str, statements: list[tuple[str, Any]], name: str
) -> None:
    """A million entries cost what the page costs: nothing is walked or sorted to find it."""
    database = Database(sqlite_url)
    actor = await make.actor(database)
    statements.clear()
    async with database.read() as session:
        wanted = PageRequest(50, None, "key")
        await audit.page(session, actor, PLANNED[name], wanted=wanted)
        sql, values = statements[-1]
        connection = await session.connection()
        plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values)).all()
    await database.close()

    (step,) = [row[-1] for row in plan]
    assert step.startswith("SEARCH audit_events USING INDEX ix_audit_events_org_id_")
