"""The home page: what to review, what was spent, the use of the quota, first steps."""

import datetime as dt
import re
from dataclasses import replace
from pathlib import Path

import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.extract.model import Extracted, Moment
from recibo.lib import clock
from recibo.schemas.states import Role
from recibo.store import tables
from tests import people
from tests.installation import Installation
from tests.portal import forms, pages, receipt_pages

SECRET = re.compile(r"sk_live_\w{38}")


async def test_first_steps_are_ticked_off(service: Installation) -> None:
    await forms.sign_in_as(service, await people.signed_up(service))
    new = await forms.get_page(service, "/portal")
    answer = await service.stranger.post("/portal/first-steps/key")
    made = pages.parse(answer)
    invitation = {"email": "bea@people.test", "role": "viewer"}
    await service.stranger.post("/portal/members/invite", data=invitation)
    later = await service.stranger.get("/portal")
    [secret] = SECRET.findall(made.by_id["first-call"])
    called = await service.stranger.get("/v1/key", headers={"X-API-Key": secret})
    used = await forms.get_page(service, "/portal")

    assert "Set up Recibo 0 of 5 done" in new.text
    assert ("post", "/portal/first-steps/key") in new.forms
    assert "/portal/members#invite" in new.links
    assert "no-store" == answer.headers["cache-control"]
    assert "shown only once" in made.by_role["status"]
    assert "2 of 5 done" in pages.parse(later).text
    assert not SECRET.search(later.text)
    assert "/portal/receipts?upload=yes#upload" in pages.parse(later).links
    assert 200 == called.status_code
    assert "3 of 5 done" in used.text


async def test_first_steps_can_be_hidden(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    page = await forms.submit(sqlite_service, "/portal/first-steps/hide")

    assert "Set up Recibo" not in page.text
    assert "No receipts yet" in page.text


async def test_key_of_the_first_steps_needs_the_permission(sqlite_service: Installation) -> None:
    owner = await people.signed_up(sqlite_service)
    viewer = await people.joined(sqlite_service, owner, Role.VIEWER)
    await forms.sign_in_as(sqlite_service, viewer)

    await forms.submit_refused(sqlite_service, "/portal/first-steps/key", 403)
    keys = await sqlite_service.rows(tables.ApiKey)
    assert owner.org_id not in {key.org_id for key in keys}


@pytest.mark.parametrize(("role", "steps"), [(Role.ADMIN, 5), (Role.DEVELOPER, 4)])
async def test_steps_match_the_role(sqlite_service: Installation, role: Role, steps: int) -> None:
    owner = await people.signed_up(sqlite_service)
    await forms.sign_in_as(sqlite_service, await people.joined(sqlite_service, owner, role))
    page = await forms.get_page(sqlite_service, "/portal")

    assert f"of {steps} done" in page.text


@pytest.mark.parametrize("role", [Role.VIEWER, Role.BILLING])
async def test_who_may_not_upload_sees_no_steps(sqlite_service: Installation, role: Role) -> None:
    owner = await people.signed_up(sqlite_service)
    await forms.sign_in_as(sqlite_service, await people.joined(sqlite_service, owner, role))
    page = await forms.get_page(sqlite_service, "/portal")

    assert "Set up Recibo" not in page.text
    assert "/portal/receipts?upload=yes#upload" not in page.links


async def test_viewers_are_led_to_what_they_may_look_at(sqlite_url: str, tmp_path: Path) -> None:
    reader = FakeReader({receipt_pages.RECEIPT: receipt_pages.make_reading()})
    async with receipt_pages.run_service(sqlite_url, tmp_path, reader) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        of_owner = await forms.get_page(service, "/portal")
        await forms.sign_in_as(service, await people.joined(service, owner, Role.VIEWER))
        of_viewer = await forms.get_page(service, "/portal")

    assert "Start reviewing" in of_owner.text
    assert "Start reviewing" not in of_viewer.text
    assert "See receipts to review" in of_viewer.text
    assert "/portal/receipts?review=needs_review" in of_viewer.links


async def test_page_shows_what_to_review_and_what_was_spent(
    database_url: str, tmp_path: Path
) -> None:
    today = clock.now().date()
    issued = Moment(today)
    readings = {
        receipt_pages.RECEIPT: receipt_pages.make_reading(issued=issued),
        receipt_pages.OTHER_RECEIPT: replace(
            receipt_pages.make_reading("Feinkost", total="7.5", issued=issued),
            currency=Extracted("EUR", 0.9, "EUR"),
        ),
    }
    async with receipt_pages.run_service(database_url, tmp_path, FakeReader(readings)) as (
        service,
        owner,
    ):
        first, second = [await receipt_pages.upload(service, data) for data in readings]
        for receipt_id in (first, second):
            await receipt_pages.read_receipt(service, owner, receipt_id)
        home = await forms.get_page(service, "/portal")
        euros = await forms.get_page(service, "/portal?currency=EUR")
        keys = await forms.get_page(service, "/portal/keys")

    receipts = [f"/portal/receipts/{one}" for one in (first, second)]
    # The button, and the list from the oldest on.
    in_activity = [receipts[1], receipts[0]]
    listed = [link for link in home.links if link in receipts]
    assert [receipts[0], *receipts, *in_activity] == listed
    assert f"{owner.email} uploaded the receipt of Feinkost, 7.50 EUR" in home.text
    assert "To review 2" in home.text
    assert "/portal/receipts?review=ready" in home.links
    assert "42.50 BRL" in home.text
    assert "50.00" not in home.text
    assert "7.50 EUR" in euros.text
    # Every page shows the use of the quota and what to review in the sidebar.
    assert "Free plan 2 of 50" in keys.text
    assert "Inbox 2 to review" in keys.text


async def test_old_receipts_are_summed_up_in_their_last_year(
    database_url: str, tmp_path: Path
) -> None:
    dates = {receipt_pages.RECEIPT: "2018-03-09", receipt_pages.OTHER_RECEIPT: "2017-12-31"}
    readings = {
        data: receipt_pages.make_reading(issued=Moment(dt.date.fromisoformat(day)))
        for data, day in dates.items()
    }
    async with receipt_pages.run_service(database_url, tmp_path, FakeReader(readings)) as (
        service,
        owner,
    ):
        for data in readings:
            await receipt_pages.read_receipt(
                service, owner, await receipt_pages.upload(service, data)
            )
        home = await forms.get_page(service, "/portal")

    assert "42.50 BRL in Mar 2018" in home.text
    assert "Categories 2018, BRL" in home.text
    assert "/portal/analytics?from=2018-01-01&to=2018-12-31&currency=BRL" in home.links
    assert "85.00" not in home.text
