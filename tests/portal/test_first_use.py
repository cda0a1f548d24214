"""What a first-time user stumbled over: pages that charge, alarm, contradict or speak in ids."""

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind
from recibo.extract.errors import Damaged
from recibo.extract.model import Extracted
from recibo.lib import clock
from recibo.schemas.states import EventType, Role
from recibo.store import tables
from tests import billing, events, make, people
from tests.installation import Installation
from tests.portal import accounts, forms, pages, receipt_pages, webhook_pages
from tests.portal.receipt_pages import PATH
from tests.readers import UNREADABLE, Answer, ScriptedReader

NUMBER = Extracted("000123456", 0.9, "No. 000123456")
DAMAGED = Failure(FailureKind.UNREADABLE, Damaged.__doc__ or "")


async def test_second_reading_without_improvement_is_free_and_says_so(
    database_url: str, tmp_path: Path
) -> None:
    answers: list[Answer] = [receipt_pages.make_reading(), receipt_pages.make_reading()]
    async with receipt_pages.run_service(database_url, tmp_path, ScriptedReader(answers)) as (
        service,
        owner,
    ):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        action = f"{PATH}/{receipt_id}/again"
        await forms.submit(service, action, accuracy="high")
        receipt = await receipt_pages.read_receipt(service, owner, receipt_id)
        page = await receipt_pages.get_page(service, f"/{receipt_id}")
        analytics = await forms.get_page(service, "/portal/analytics")
        money = await forms.get_page(service, "/portal/billing")
        billed = [row.credits for row in await service.rows(tables.UsageEvent)]

    assert [1] == billed
    assert "high" == receipt["accuracy"]
    assert "found nothing better. Nothing was changed or charged." in page.text
    assert ("post", action) not in page.forms
    assert "1 reading was billed" in analytics.text
    assert "1 of 50 receipts this month" in money.text


async def test_second_reading_lists_its_changes(database_url: str, tmp_path: Path) -> None:
    answers: list[Answer] = [
        receipt_pages.make_reading("Aur0ra", total="1234.5", confidence=0.5),
        replace(receipt_pages.make_reading(total="1290"), document_number=NUMBER),
    ]
    async with receipt_pages.run_service(database_url, tmp_path, ScriptedReader(answers)) as (
        service,
        owner,
    ):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        await forms.submit(service, f"{PATH}/{receipt_id}/again", accuracy="high")
        await receipt_pages.read_receipt(service, owner, receipt_id)
        page = await receipt_pages.get_page(service, f"/{receipt_id}")
        analytics = await forms.get_page(service, "/portal/analytics")
        money = await forms.get_page(service, "/portal/billing")

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
    async with receipt_pages.run_service(database_url, tmp_path, reader) as (service, _):
        reader.hold()
        await receipt_pages.upload(service)
        listed = await receipt_pages.get_page(service, "?upload=yes")
        money = await forms.get_page(service, "/portal/billing")
        reader.release()

    assert "49 of 50 receipts are left this month" in listed.text
    assert "0 of 50 receipts this month (UTC). 49 left. 1 more is reserved" in money.text


async def test_damaged_file_is_reported_and_not_offered_again(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path, ScriptedReader([DAMAGED])) as (
        service,
        owner,
    ):
        receipt_id = await receipt_pages.upload(service)
        receipt = await receipt_pages.read_receipt(service, owner, receipt_id)
        page = await receipt_pages.get_page(service, f"/{receipt_id}")

    assert "low_confidence" == receipt["failure"]["code"]
    assert "damaged or incomplete" in page.text
    assert "This document cannot be shown" in page.text
    assert "/portal/receipts?upload=yes#upload" in page.links
    assert "sharp" not in page.text
    assert not [action for _, action in page.forms if "again" in (action or "")]


async def test_unreadable_file_is_offered_only_at_high_accuracy(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path, ScriptedReader([UNREADABLE])) as (
        service,
        owner,
    ):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        page = await receipt_pages.get_page(service, f"/{receipt_id}")

    assert ["Try at high accuracy (5 credits)"] == [one for one in page.buttons if "Try" in one]


async def failing(i: Installation, since: dt.timedelta) -> None:
    """Note that nothing has reached the endpoint for a while."""
    async with i.database.write() as session:
        values = {"failing_since": clock.now() - since}
        await session.execute(update(tables.WebhookEndpoint).values(values))


async def test_first_failed_attempt_is_a_hint_and_a_long_failure_an_alert(
    service: Installation,
) -> None:
    org_id = await webhook_pages.sign_up_owner(service)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    event_id = await events.emit_event(service.database, org_id, EventType.RECEIPT_COMPLETED)
    await events.attempt(service.database, event_id, status=500)
    await failing(service, dt.timedelta(minutes=1))
    early = await webhook_pages.get(service)
    await failing(service, dt.timedelta(hours=2))
    late = await webhook_pages.get(service)

    assert "The last delivery failed." in pages.parse(early).text
    assert 'note-bad"' not in early.text
    assert 'class="error"' not in early.text
    assert "No delivery has succeeded since" in pages.parse(late).text
    assert 'note-bad"' in late.text


async def test_people_and_keys_are_shown_by_name(sqlite_url: str, tmp_path: Path) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path) as (service, owner):
        dev = await people.joined(service, owner, Role.DEVELOPER)
        key_page = await service.stranger.post(
            "/portal/keys", data={"name": "Expense app", "kind": "secret", "write": "on"}
        )
        secret = pages.parse(key_page).text.partition("sk_live_")[2].split()[0]
        by_key = await service.extracted(make.jpeg("by key"), secret=f"sk_live_{secret}")
        await forms.sign_in_as(service, dev)
        by_dev = await receipt_pages.upload(service, make.jpeg("by dev"))
        await forms.sign_in_as(service, owner)
        await receipt_pages.read_receipt(service, owner, by_dev)
        await service.stranger.post(f"/portal/members/{dev.user_id}/remove")
        shown = [await receipt_pages.get_page(service, f"/{one}") for one in (by_key["id"], by_dev)]
        log = await service.stranger.get("/portal/audit")
        chosen = await service.stranger.get("/portal/audit", params={"actor": dev.user_id})

    assert "by API key Expense app" in shown[0].text
    assert f"by {dev.email}" in shown[1].text
    # Here the address of a member holds an id; else only the answer of the API has ids.
    texts = [page.text.replace(dev.email, "").replace(page.by_id["api-json"], "") for page in shown]
    assert [] == [text for text in texts if "usr_" in text or "key_" in text]
    assert f"{dev.email} uploaded the receipt of" in pages.parse(log).text
    assert "API key Expense app uploaded the receipt of" in pages.parse(log).text
    assert f'<option value="{dev.user_id}" selected>{dev.email}</option>' in chosen.text


async def test_notice_after_payment_matches_the_page(service: Installation) -> None:
    await forms.sign_in_as(service, await people.signed_up(service))
    bought = {"plan": "indie"}
    answer = await service.stranger.post("/portal/billing/checkout", data=bought)
    back = accounts.redirect_target(
        await billing.click(service, accounts.redirect_target(answer), "Pay")
    )
    paid = pages.parse(await service.stranger.get(back))
    early = await forms.get_page(service, "/portal/billing?notice=paid&plan=scale")

    assert "Thank you. Your plan is now Indie." == paid.by_role["status"]
    assert "is being confirmed" in early.by_role["status"]


async def test_org_with_a_subscription_must_cancel_before_deletion(
    service: Installation,
) -> None:
    ana = await people.signed_up(service)
    await forms.sign_in_as(service, ana)
    before = await forms.get_page(service, "/portal/organization")
    await billing.bought(service, ana)
    after = await forms.get_page(service, "/portal/organization")

    assert ("post", "/portal/organization/delete") in before.forms
    assert ("post", "/portal/organization/delete") not in after.forms
    assert "still has a paid subscription" in after.text


@pytest.mark.parametrize("role", Role)
async def test_home_links_match_the_role(sqlite_service: Installation, role: Role) -> None:
    owner = await people.signed_up(sqlite_service)
    member = await people.joined(sqlite_service, owner, role)
    await forms.sign_in_as(sqlite_service, member)
    home = await forms.get_page(sqlite_service, "/portal")

    offers = {
        "Upload a receipt": {Role.OWNER, Role.ADMIN, Role.DEVELOPER},
        "Create an API key": {Role.OWNER, Role.ADMIN, Role.DEVELOPER},
        "Invite your team": {Role.OWNER, Role.ADMIN},
        "Plan and billing": {Role.OWNER, Role.ADMIN, Role.VIEWER, Role.BILLING},
        "upload them here or with the API": {Role.VIEWER},
    }
    for offer, roles in offers.items():
        assert (role in roles) == (offer in home.text), offer


async def test_broken_logo_leaves_no_gap(sqlite_service: Installation) -> None:
    """An image that cannot be loaded and has no text takes no space in a separate paragraph."""
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    await forms.submit(
        sqlite_service,
        "/portal/organization",
        name="Aurora",
        billing_email="bills@people.test",
        logo_url="https://pictures.test/logo.png",
    )
    answer = await sqlite_service.stranger.get("/portal/organization")

    assert '<p class="logo"><img src="https://pictures.test/logo.png" alt=""' in answer.text
