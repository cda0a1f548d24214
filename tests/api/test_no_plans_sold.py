"""RECIBO_PAYMENTS=none: no plan is sold, and every org has enterprise's limits and no quota."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import update

from recibo.schemas.ids import OrgId
from recibo.schemas.plans import PlanName
from recibo.schemas.states import EventType, Role
from recibo.services.identity import operators
from recibo.store import tables
from tests import billing, events, installation, make, people
from tests.installation import Installation
from tests.people import Session

ENTERPRISE = {
    "plan": "enterprise",
    "status": "active",
    "quota_receipts_month": None,
    "usage_this_month": 0,
    "credits_used_this_month": 0,
    "rate_limit_per_minute": 5_000,
    "cancel_at_period_end": False,
    "current_period_end": None,
}
FREE_QUOTA = 50


@pytest.fixture
async def own(database_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A company's own service, on each kind of database."""
    async with installation.start(database_url, tmp_path, payments="none") as started:
        yield started


@pytest.fixture
async def own_door(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """The same for rules that have nothing to do with rows."""
    async with installation.start(sqlite_url, tmp_path, payments="none") as started:
        yield started


async def key_of(i: Installation, who: Session) -> str:
    """Make an API key of a user's org and return its secret."""
    made = await i.stranger.post("/v1/api-keys", json={"name": "till"}, headers=who.headers)
    return str(made.json()["secret"])


async def plan_stored(i: Installation, who: Session, plan: PlanName, **agreed: int) -> None:
    """Put an org on a plan as the operator does."""
    async with i.database.write() as session:
        await operators.set_plan(session, who.org_id, plan, agreed=agreed)


async def test_subscription_is_enterprise_without_a_quota(own: Installation) -> None:
    ana = await people.signed_up(own)
    org = await own.stranger.get("/v1/org", headers=ana.headers)
    changed = await own.stranger.patch("/v1/org", json={"name": "A"}, headers=ana.headers)
    me = await own.stranger.get("/v1/auth/me", headers=ana.headers)

    assert ENTERPRISE == await billing.subscription(own, ana)
    assert ["enterprise"] * 3 == [
        org.json()["plan"], changed.json()["plan"], me.json()["org"]["plan"]
    ]  # fmt: skip


async def test_key_has_no_quota_and_counts_all_the_same(own: Installation) -> None:
    ana = await people.signed_up(own)
    secret = await key_of(own, ana)
    await own.extracted(b"a receipt", secret=secret, accuracy="high")

    key = (await own.get("/key", secret=secret)).json()
    body = await billing.subscription(own, ana)
    usage = await own.stranger.get("/v1/analytics/usage?days=1", headers=ana.headers)
    assert ("enterprise", None) == (key["plan"], key["quota_receipts_month"])
    assert (1, 5) == (key["usage_this_month"], key["credits_used_this_month"])
    assert (1, 5) == (body["usage_this_month"], body["credits_used_this_month"])
    assert 200 == usage.status_code
    assert "1" in usage.text


async def test_upload_beyond_the_free_quota_is_taken(own: Installation) -> None:
    ana = await people.signed_up(own)
    secret = await key_of(own, ana)
    await own.extracted(b"first", secret=secret)
    (month,) = await own.rows(tables.UsageMonth)
    async with own.database.write() as session:
        await session.execute(update(tables.UsageMonth).values(held=10 * FREE_QUOTA))

    answer = await own.extract(b"one more", secret=secret)

    assert 1 == month.held
    assert 200 == answer.status_code
    assert [10 * FREE_QUOTA + 1] == [row.held for row in await own.rows(tables.UsageMonth)]


async def test_headers_of_an_upload_show_the_limit_a_minute(own_door: Installation) -> None:
    ana = await people.signed_up(own_door)
    secret = await key_of(own_door, ana)
    uploaded = await own_door.extract(b"a receipt", secret=secret)
    refused = await own_door.stranger.post("/v1/extract")

    assert "5000" == uploaded.headers["X-RateLimit-Limit"]
    assert int(uploaded.headers["X-RateLimit-Remaining"]) < 5_000
    assert 401 == refused.status_code
    assert "100" == refused.headers["X-RateLimit-Limit"]


@pytest.mark.parametrize("plan", [PlanName.FREE, PlanName.INDIE])
async def test_whatever_plan_is_stored_the_limits_are_enterprises(
    own_door: Installation, plan: PlanName
) -> None:
    ana = await people.signed_up(own_door)
    await plan_stored(own_door, ana, plan)

    assert ENTERPRISE == await billing.subscription(own_door, ana)


async def test_limits_agreed_with_an_org_hold_but_for_the_quota(own_door: Installation) -> None:
    ana = await people.signed_up(own_door)
    figures = {"receipts_a_month": 5, "requests_a_minute": 70}
    await plan_stored(own_door, ana, PlanName.ENTERPRISE, **figures)

    body = await billing.subscription(own_door, ana)
    assert (None, 70) == (body["quota_receipts_month"], body["rate_limit_per_minute"])


async def test_no_threshold_is_ever_reached(own: Installation) -> None:
    ana = await people.signed_up(own)
    actor = await make.member(own.database, OrgId(ana.org_id))
    await events.endpoint(own.database, actor)
    await plan_stored(own, ana, PlanName.ENTERPRISE, receipts_a_month=1)
    await own.extracted(b"a receipt", secret=await key_of(own, ana))

    types = {one["type"] for one in await events.event_bodies(own.database)}
    assert {EventType.RECEIPT_COMPLETED} == types


@pytest.mark.parametrize("body", [{}, {"return_url": billing.BACK}])
async def test_nothing_is_sold(own_door: Installation, body: dict[str, str]) -> None:
    ana = await people.signed_up(own_door)
    bob = await people.joined(own_door, ana, Role.DEVELOPER)
    asked = [
        await billing.ask_checkout(own_door, ana),
        await billing.ask_checkout(own_door, ana, plan="golden"),
        await own_door.stranger.post("/v1/billing/portal-session", json=body, headers=ana.headers),
        await own_door.stranger.post("/v1/billing/provider-events", content=b"{}"),
    ]
    strangers = await own_door.stranger.post("/v1/billing/checkout-session", json=body)
    not_allowed = await billing.ask_checkout(own_door, bob)
    pages = [await own_door.stranger.get(f"/sandbox/{page}") for page in ("checkout", "portal")]

    assert {(404, "not_found")} == {(one.status_code, one.json()["error"]["code"]) for one in asked}
    assert [401, 403] == [strangers.status_code, not_allowed.status_code]
    assert [404, 404] == [one.status_code for one in pages]


async def test_earlier_subscription_is_ignored(database_url: str, tmp_path: Path) -> None:
    async with installation.start(database_url, tmp_path) as sold:
        ana = await people.signed_up(sold)
        await billing.bought(sold, ana)
    async with installation.start(database_url, tmp_path, payments="none") as own:
        body = await billing.subscription(own, ana)
    async with installation.start(database_url, tmp_path) as sold:
        again = await billing.subscription(sold, ana)

    assert ENTERPRISE == body
    assert ("indie", 1_000) == (again["plan"], again["quota_receipts_month"])


async def test_quota_may_be_null_in_the_documents_of_the_interface(
    own_door: Installation,
) -> None:
    schemas = (await own_door.stranger.get("/openapi.json")).json()["components"]["schemas"]

    for name in ("Subscription", "OwnKey"):
        types = schemas[name]["properties"]["quota_receipts_month"]["anyOf"]
        assert [{"type": "integer"}, {"type": "null"}] == types
        assert "quota_receipts_month" in schemas[name]["required"]
