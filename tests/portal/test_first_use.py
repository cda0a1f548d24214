"""What a first-time user stumbled over: pages that charge, alarm, contradict or speak in ids."""

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind
from recibo.extract.errors import Damaged
from recibo.extract.model import Found
from recibo.lib import clock
from recibo.schemas.states import EventType, Role
from recibo.store import tables
from tests import billing, events, make, people
from tests.installation import Installation
from tests.portal import hooks, looking, paperwork, pressing, visits
from tests.portal.paperwork import PATH
from tests.readers import UNREADABLE, Answer, ScriptedReader

NUMBER = Found("000123456", 0.9, "No. 000123456")
DAMAGED = Failure(FailureKind.UNREADABLE, Damaged.__doc__ or "")


async def test_reading_again_in_vain_is_free_and_says_so(database_url: str, tmp_path: Path) -> None:
    answers: list[Answer] = [paperwork.reading(), paperwork.reading()]
    async with paperwork.opened(database_url, tmp_path, ScriptedReader(answers)) as (
        service,
        owner,
    ):
        receipt_id = await paperwork.upload(service)
        await paperwork.read(service, owner, receipt_id)
        action = f"{PATH}/{receipt_id}/again"
        await pressing.pressed(service, action, accuracy="high")
        receipt = await paperwork.read(service, owner, receipt_id)
        page = await paperwork.shown(service, f"/{receipt_id}")
        analytics = await pressing.shown(service, "/portal/analytics")
        money = await pressing.shown(service, "/portal/billing")
        billed = [row.credits for row in await service.rows(tables.UsageEvent)]

    assert [1] == billed
    assert "high" == receipt["accuracy"]
    assert "found nothing better. Nothing was changed or charged." in page.text
    assert ("post", action) not in page.forms
    assert "1 reading was billed" in analytics.text
    assert "1 of 50 receipts this month" in money.text


async def test_reading_again_says_what_it_changed(database_url: str, tmp_path: Path) -> None:
    answers: list[Answer] = [
        paperwork.reading("Aur0ra", total="1234.5", confidence=0.5),
        replace(paperwork.reading(total="1290"), document_number=NUMBER),
    ]
    async with paperwork.opened(database_url, tmp_path, ScriptedReader(answers)) as (
        service,
        owner,
    ):
        receipt_id = await paperwork.upload(service)
        await paperwork.read(service, owner, receipt_id)
        await pressing.pressed(service, f"{PATH}/{receipt_id}/again", accuracy="high")
        await paperwork.read(service, owner, receipt_id)
        page = await paperwork.shown(service, f"/{receipt_id}")
        analytics = await pressing.shown(service, "/portal/analytics")
        money = await pressing.shown(service, "/portal/billing")

    assert "Merchant: Aur0ra → Padaria Aurora" in page.text
    assert "Total: 1,234.50 → 1,290.00" in page.text
    assert "Number: none → 000123456" in page.text
    assert "Confidence: 50% → 90%" in page.text
    assert "Line items" not in page.by_id["gain"]
    assert "2 readings were billed" in analytics.text
    assert "Billing counts each receipt once: 1 this month." in analytics.text
    assert "1 of 50 receipts this month" in money.text


async def test_receipts_and_billing_agree_on_what_is_left(
    database_url: str, tmp_path: Path
) -> None:
    reader = FakeReader()
    async with paperwork.opened(database_url, tmp_path, reader) as (service, _):
        reader.hold()
        await paperwork.upload(service)
        listed = await paperwork.shown(service)
        money = await pressing.shown(service, "/portal/billing")
        reader.release()

    assert "49 of 50 receipts are left this month" in listed.text
    assert "0 of 50 receipts this month (UTC). 49 left. 1 more is reserved" in money.text


async def test_damaged_file_is_called_so_and_not_read_again(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with paperwork.opened(sqlite_url, tmp_path, ScriptedReader([DAMAGED])) as (
        service,
        owner,
    ):
        receipt_id = await paperwork.upload(service)
        receipt = await paperwork.read(service, owner, receipt_id)
        page = await paperwork.shown(service, f"/{receipt_id}")

    assert "low_confidence" == receipt["failure"]["code"]
    assert "damaged or incomplete" in page.text
    assert "sharp" not in page.text
    assert not [action for _, action in page.forms if "again" in (action or "")]


async def test_unreadable_file_is_offered_at_high_accuracy_alone(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with paperwork.opened(sqlite_url, tmp_path, ScriptedReader([UNREADABLE])) as (
        service,
        owner,
    ):
        receipt_id = await paperwork.upload(service)
        await paperwork.read(service, owner, receipt_id)
        page = await paperwork.shown(service, f"/{receipt_id}")

    assert ["Try at high accuracy (5 credits)"] == [one for one in page.buttons if "Try" in one]


async def failing(i: Installation, since: dt.timedelta) -> None:
    """Note that nothing has reached the endpoint for a while."""
    async with i.database.write() as session:
        values = {"failing_since": clock.now() - since}
        await session.execute(update(tables.WebhookEndpoint).values(values))


async def test_first_failed_attempt_is_a_note_and_a_long_failure_an_alarm(
    service: Installation,
) -> None:
    org_id = await hooks.owner(service)
    await hooks.pressed(service, url=hooks.URL)
    event_id = await events.emit_event(service.database, org_id, EventType.RECEIPT_COMPLETED)
    await events.attempt(service.database, event_id, status=500)
    await failing(service, dt.timedelta(minutes=1))
    early = await hooks.shown(service)
    await failing(service, dt.timedelta(hours=2))
    late = await hooks.shown(service)

    assert "The last delivery failed." in looking.at(early).text
    assert 'class="alert"' not in early.text
    assert 'class="wrong"' not in early.text
    assert "No delivery has succeeded since" in looking.at(late).text
    assert 'class="alert"' in late.text


async def test_people_and_keys_have_names_where_they_acted(sqlite_url: str, tmp_path: Path) -> None:
    async with paperwork.opened(sqlite_url, tmp_path) as (service, owner):
        dev = await people.joined(service, owner, Role.DEVELOPER)
        key_page = await service.stranger.post(
            "/portal/keys", data={"name": "Expense app", "kind": "secret", "write": "on"}
        )
        secret = looking.at(key_page).text.partition("sk_live_")[2].split()[0]
        by_key = await service.extracted(make.jpeg("by key"), secret=f"sk_live_{secret}")
        await pressing.browser_of(service, dev)
        by_dev = await paperwork.upload(service, make.jpeg("by dev"))
        await pressing.browser_of(service, owner)
        await service.stranger.post(f"/portal/members/{dev.user_id}/remove")
        shown = [await paperwork.shown(service, f"/{one}") for one in (by_key["id"], by_dev)]
        log = await service.stranger.get("/portal/audit")
        chosen = await service.stranger.get("/portal/audit", params={"actor": dev.user_id})

    assert "by API key Expense app" in shown[0].text
    assert f"by {dev.email}" in shown[1].text
    # Here the address of a member holds an id; nothing else on the pages does.
    texts = [page.text.replace(dev.email, "") for page in shown]
    assert [] == [text for text in texts if "usr_" in text or "key_" in text]
    assert f"receipt.created {dev.email}" in looking.at(log).text
    assert "receipt.created API key Expense app" in looking.at(log).text
    assert f'<option value="{dev.user_id}" selected>{dev.email}</option>' in chosen.text


async def test_what_is_said_after_paying_is_what_the_page_shows(service: Installation) -> None:
    await pressing.browser_of(service, await people.signed_up(service))
    bought = {"plan": "indie"}
    answer = await service.stranger.post("/portal/billing/checkout", data=bought)
    back = visits.led_to(await billing.click(service, visits.led_to(answer), "Pay"))
    paid = looking.at(await service.stranger.get(back))
    early = await pressing.shown(service, "/portal/billing?notice=paid&plan=scale")

    assert "Thank you. Your plan is now Indie." == paid.by_role["status"]
    assert "is being confirmed" in early.by_role["status"]


async def test_org_with_a_subscription_is_told_to_cancel_before_the_form(
    service: Installation,
) -> None:
    ana = await people.signed_up(service)
    await pressing.browser_of(service, ana)
    before = await pressing.shown(service, "/portal/organization")
    await billing.bought(service, ana)
    after = await pressing.shown(service, "/portal/organization")

    assert ("post", "/portal/organization/delete") in before.forms
    assert ("post", "/portal/organization/delete") not in after.forms
    assert "still has a paid subscription" in after.text


@pytest.mark.parametrize("role", Role)
async def test_home_offers_what_the_role_may_do(door: Installation, role: Role) -> None:
    owner = await people.signed_up(door)
    member = await people.joined(door, owner, role)
    await pressing.browser_of(door, member)
    home = await pressing.shown(door, "/portal")

    offers = {
        "Upload photos": {Role.OWNER, Role.ADMIN, Role.DEVELOPER},
        "Create keys": {Role.OWNER, Role.ADMIN, Role.DEVELOPER},
        "API documentation": {Role.OWNER, Role.ADMIN, Role.DEVELOPER},
        "Invite colleagues": {Role.OWNER, Role.ADMIN},
        "change the plan": {Role.OWNER, Role.ADMIN, Role.BILLING},
        "See the receipts": {Role.VIEWER},
    }
    for offer, roles in offers.items():
        assert (role in roles) == (offer in home.text), offer


async def test_logo_stands_apart_from_the_name(door: Installation) -> None:
    """An image that cannot be loaded and has no text takes no room on a line of its own."""
    await pressing.browser_of(door, await people.signed_up(door))
    await pressing.pressed(
        door,
        "/portal/organization",
        name="Aurora",
        billing_email="bills@people.test",
        logo_url="https://pictures.test/logo.png",
    )
    answer = await door.stranger.get("/portal/organization")

    assert '<p class="logo"><img src="https://pictures.test/logo.png" alt=""' in answer.text
