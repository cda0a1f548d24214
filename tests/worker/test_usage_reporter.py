"""The meter: credits on their way to Stripe, which fails, forgets to answer, and knows doubles."""

import asyncio
import datetime as dt
import threading
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import select
from structlog.testing import capture_logs

from recibo.adapters.payments import CreditUsage
from recibo.adapters.stripe_payments import Account, Stripe
from recibo.lib import clock, ids
from recibo.schemas.ids import OrgId, ReceiptId
from recibo.schemas.states import PaymentProvider
from recibo.services import meter_events, outbox
from recibo.services.reading import usage
from recibo.store import tables
from recibo.store.db import Database, Session
from recibo.worker.usage_reporter import UsageReporter
from tests import billing, installation, make, people, stripe_fixtures, stripe_server
from tests.stripe_server import StripeServer

SECOND = dt.timedelta(seconds=1)
MINUTE = dt.timedelta(minutes=1)
HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)
REFUSED = "recibo_meter_events_total", {"outcome": "refused"}


class KilledError(BaseException):
    """The process dies here."""


def seller(url: str, *, meter: str = stripe_server.METER, limit_s: float = 20) -> Stripe:
    """Return Stripe at an address."""
    account = Account(stripe_server.API_KEY, stripe_server.WEBHOOK_SECRET, url, {}, meter)
    return Stripe(account, limit_s=limit_s)


@pytest.fixture
async def meter(database: Database, stripe: StripeServer) -> AsyncIterator[UsageReporter]:
    """A reporter that sends to the fake Stripe."""
    payments = seller(stripe.url)
    yield UsageReporter(database, payments)
    payments.close()


async def buyer(
    database: Database, stripe: StripeServer, customer: str = "cus_ana", provider: str = "stripe"
) -> OrgId:
    """Add an org with a customer."""
    org_id = await make.org(database)
    await become(database, org_id, customer, provider)
    stripe.customers[customer] = {"id": customer}
    return org_id


async def become(database: Database, org_id: OrgId, customer: str, provider: str) -> None:
    """Make an org a customer."""
    async with database.write() as session:
        session.add(
            tables.Subscription(
                org_id=org_id,
                provider=PaymentProvider(provider),
                customer_id=customer,
                plan="free",
                status="active",
                cancel_at_period_end=False,
                version=0,
                updated_at=clock.now(),
            )
        )


async def use(
    database: Database, org_id: OrgId, accuracy: str = "standard", *, again: bool = False
) -> tables.UsageEvent:
    """Bill a reading, and return its usage event."""
    receipt_id = ReceiptId(ids.new("rcp"))
    async with database.write() as session:
        await usage.bill(
            session, org_id, receipt_id, accuracy=accuracy, again=again, is_metered=True
        )
    async with database.read() as session:
        query = select(tables.UsageEvent).where(tables.UsageEvent.receipt_id == receipt_id)
        return (await session.execute(query)).scalar_one()


async def pending(database: Database) -> list[str]:
    """Return the ids of pending events."""
    async with database.read() as session:
        return list((await session.execute(select(tables.MeterEvent.id))).scalars())


async def test_each_use_is_reported_once_unchanged(
    meter: UsageReporter, database: Database, stripe: StripeServer
) -> None:
    org_id = await buyer(database, stripe)
    event = await use(database, org_id)
    await use(database, org_id, "high")
    await use(database, org_id, "high", again=True)
    tried = [await meter.run_once() for _ in range(2)]

    assert [3, 0] == tried
    assert [("cus_ana", 1), ("cus_ana", 5), ("cus_ana", 4)] == stripe.credits
    assert {
        "event_name": stripe_server.METER,
        "identifier": event.id,
        "payload[stripe_customer_id]": "cus_ana",
        "payload[value]": "1",
        "timestamp": str(int(event.created_at.timestamp())),
    } == stripe.asked("POST", "/v1/billing/meter_events")[0]
    assert [] == await pending(database)


async def test_what_was_used_before_there_was_a_customer_is_never_charged(
    meter: UsageReporter, database: Database, stripe: StripeServer
) -> None:
    of_sandbox = await buyer(database, stripe, "cus_sandbox", "sandbox")
    org_id = await make.org(database)
    await use(database, of_sandbox)
    await use(database, org_id)
    await become(database, org_id, "cus_late", "stripe")

    assert 0 == await meter.run_once()
    assert [] == stripe.credits


async def test_dead_stripe_loses_nothing(
    meter: UsageReporter, database: Database, stripe: StripeServer
) -> None:
    org_id = await buyer(database, stripe)
    for _ in range(3):
        await use(database, org_id)
    stripe.fails(503)
    for passed in (dt.timedelta(0), MINUTE, 5 * MINUTE, DAY, 20 * DAY):
        with clock.moved(passed):
            assert 3 == await meter.run_once()
    stripe.works()
    with clock.moved(34 * DAY):
        await meter.run_once()

    assert [("cus_ana", 1)] * 3 == stripe.credits
    assert [] == await pending(database)


async def test_events_are_reported_later_if_stripe_is_unreachable(
    meter: UsageReporter, database: Database, stripe: StripeServer
) -> None:
    event = await use(database, await buyer(database, stripe))
    nowhere = seller("http://127.0.0.1:1")
    await UsageReporter(database, nowhere).run_once()
    nowhere.close()
    kept = await pending(database)
    with clock.moved(MINUTE):
        await meter.run_once()

    assert [event.id] == kept
    assert [("cus_ana", 1)] == stripe.credits


async def test_answer_that_comes_too_late_counts_once(
    meter: UsageReporter, database: Database, stripe: StripeServer
) -> None:
    event = await use(database, await buyer(database, stripe))
    go_on = threading.Event()

    def hang(_method: str, _path: str) -> None:
        go_on.wait(20)

    stripe.fault = hang
    hasty = seller(stripe.url, limit_s=0.2)
    await UsageReporter(database, hasty).run_once()
    kept = await pending(database)
    go_on.set()
    await asyncio.to_thread(hasty.close)
    stripe.works()
    with clock.moved(MINUTE):
        await meter.run_once()

    assert [event.id] == kept
    assert [("cus_ana", 1)] == stripe.credits
    assert [] == await pending(database)


async def test_process_killed_between_sending_and_marking_charges_once(
    meter: UsageReporter, database: Database, stripe: StripeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(*_: object) -> None:
        raise KilledError

    await use(database, await buyer(database, stripe))
    with monkeypatch.context() as patched:
        patched.setattr(outbox.Rows, "remove", die)
        with pytest.raises(BaseExceptionGroup):
            await meter.run_once()
    soon = await meter.run_once()
    with clock.moved(outbox.LEASE + SECOND):
        later = await meter.run_once()

    assert (0, 1) == (soon, later)
    assert 2 == len(stripe.asked("POST", "/v1/billing/meter_events"))
    assert [("cus_ana", 1)] == stripe.credits
    assert [] == await pending(database)


async def test_several_processes_send_each_event_once(
    meter: UsageReporter, database: Database, stripe: StripeServer
) -> None:
    for number in range(4):
        org_id = await buyer(database, stripe, f"cus_{number}")
        for _ in range(5):
            await use(database, org_id)
    await asyncio.gather(*(meter.run_once() for _ in range(3)))

    assert 20 == len(stripe.asked("POST", "/v1/billing/meter_events"))
    assert Counter({f"cus_{number}": 5 for number in range(4)}) == Counter(
        customer for customer, _ in stripe.credits
    )
    assert [] == await pending(database)


async def test_customers_go_side_by_side_and_the_events_of_one_in_line(
    database: Database, stripe: StripeServer
) -> None:
    class Counting:
        """Holds its first callers until four are there, and notes who meets oneself."""

        def __init__(self) -> None:
            self.under_way = Counter[str]()
            self.met_itself = False
            self.four = asyncio.Barrier(4)

        async def measure(self, used: CreditUsage) -> None:
            """Note who is under way."""
            self.met_itself |= self.under_way[used.customer] > 0
            self.under_way[used.customer] += 1
            await self.four.wait()
            self.under_way[used.customer] -= 1

    for number in range(4):
        org_id = await buyer(database, stripe, f"cus_{number}")
        for _ in range(3):
            await use(database, org_id)
    provider = Counting()
    await asyncio.wait_for(UsageReporter(database, provider).run_once(), 20)

    assert not provider.met_itself
    assert [] == await pending(database)


async def test_event_that_stripe_refuses_is_dropped_logged_and_counted(
    meter: UsageReporter, database: Database, stripe: StripeServer
) -> None:
    gone = await buyer(database, stripe, "cus_gone")
    stripe.delete("cus_gone")
    await use(database, gone, "high")
    await use(database, await buyer(database, stripe))
    before = REGISTRY.get_sample_value(*REFUSED) or 0
    with capture_logs() as logs:
        await meter.run_once()

    [line] = [one for one in logs if one["event"] == "meter event dropped"]
    assert ("error", 5) == (line["log_level"], line["credits"])
    assert before + 1 == REGISTRY.get_sample_value(*REFUSED)
    assert [("cus_ana", 1)] == stripe.credits
    assert [] == await pending(database)


@pytest.mark.parametrize("status", [401, 403, 409, 429])
async def test_event_stays_pending_after_a_configuration_error(
    meter: UsageReporter, database: Database, stripe: StripeServer, status: int
) -> None:
    event = await use(database, await buyer(database, stripe))
    stripe.fails(status)
    await meter.run_once()

    assert [event.id] == await pending(database)


async def test_meter_that_is_not_made_yet_loses_nothing(
    meter: UsageReporter, database: Database, stripe: StripeServer
) -> None:
    await use(database, await buyer(database, stripe))
    mistaken = seller(stripe.url, meter="recibo_credit")
    await UsageReporter(database, mistaken).run_once()
    mistaken.close()
    with clock.moved(MINUTE):
        await meter.run_once()

    assert [("cus_ana", 1)] == stripe.credits


async def test_event_too_old_for_stripe_is_dropped_and_logged(
    meter: UsageReporter, database: Database, stripe: StripeServer
) -> None:
    org_id = await buyer(database, stripe)
    await use(database, org_id)
    with capture_logs() as logs, clock.moved(35 * DAY):
        await meter.run_once()

    assert [] == stripe.asked("POST", "/v1/billing/meter_events")
    assert [] == await pending(database)
    assert ("meter event dropped", "it is too old") in [
        (one["event"], one.get("detail")) for one in logs
    ]


async def test_tries_come_ever_less_often(
    meter: UsageReporter, database: Database, stripe: StripeServer
) -> None:
    await use(database, await buyer(database, stripe))
    stripe.fails(500)
    passed = dt.timedelta(0)
    for pause in (5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, HOUR):
        with clock.moved(passed):
            assert 1 == await meter.run_once()
        with clock.moved(passed + pause - SECOND):
            assert 0 == await meter.run_once(), pause
        passed += pause * 1.2 + 2 * SECOND


async def test_expired_lease_cannot_defer_the_event(
    database: Database, stripe: StripeServer
) -> None:
    await use(database, await buyer(database, stripe))

    async def taken() -> meter_events.Lease:
        async with database.read() as reading:
            [seen] = await meter_events.ROWS.due(reading, "cus_ana", limit=5)
        async with database.write() as session:
            lease = await meter_events.lease(session, seen)
        assert lease is not None
        return lease

    late = await taken()
    with clock.moved(outbox.LEASE + SECOND):
        current = await taken()
        async with database.write() as session:
            await meter_events.ROWS.defer(session, late)

    async with database.read() as reading:
        [row] = (await reading.execute(select(tables.MeterEvent))).scalars()
    assert (current.until, 2) == (row.due_at, current.attempt)


async def test_event_that_cannot_be_marked_breaks_off_none_of_the_others(
    meter: UsageReporter, database: Database, stripe: StripeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    org_id = await buyer(database, stripe)
    [first, *_] = [await use(database, org_id) for _ in range(3)]
    forget = outbox.Rows.remove

    async def failing_for_one(
        rows: outbox.Rows[tables.MeterEvent], session: Session, lease: outbox.Lease
    ) -> None:
        if lease.id == first.id:
            raise OSError
        await forget(rows, session, lease)

    monkeypatch.setattr(outbox.Rows, "remove", failing_for_one)
    await meter.run_once()

    assert 3 == len(stripe.credits)
    assert [first.id] == await pending(database)


async def test_service_reports_its_readings(
    database_url: str, tmp_path: Path, stripe: StripeServer
) -> None:
    reported, loop = asyncio.Event(), asyncio.get_running_loop()

    def note(_method: str, path: str) -> None:
        if path == "/v1/billing/meter_events":
            loop.call_soon_threadsafe(reported.set)

    stripe.fault = note
    settings = stripe_fixtures.settings(stripe) | {"stripe_meter": f" {stripe_server.METER} "}
    async with installation.start(database_url, tmp_path, **settings) as i:
        ana = await people.signed_up(i)
        secret = await make.key(i.database, OrgId(ana.org_id))
        await i.extracted(make.jpeg("free"), secret=secret)
        await billing.checkout(i, ana)
        await i.extracted(make.jpeg("receipt"), secret=secret, accuracy="high")
        await asyncio.wait_for(reported.wait(), 20)

    assert [5] == [credits_ for _, credits_ in stripe.credits]


async def test_service_without_a_meter_enqueues_nothing(
    sqlite_url: str, tmp_path: Path, stripe: StripeServer
) -> None:
    async with installation.start(sqlite_url, tmp_path, **stripe_fixtures.settings(stripe)) as i:
        ana = await people.signed_up(i)
        await billing.checkout(i, ana)
        secret = await make.key(i.database, OrgId(ana.org_id))
        await i.extracted(make.jpeg("receipt"), secret=secret)
        rows = await i.rows(tables.MeterEvent)

    assert [] == rows
