"""Actions on selected receipts: approve, set the category, delete, export."""

import csv
import io
import json
from pathlib import Path
from urllib.parse import parse_qsl

import httpx

from recibo.adapters.fake_reader import FakeReader
from recibo.schemas.states import Role
from recibo.store.tables import AuditEvent
from tests import make, people
from tests.installation import Installation
from tests.people import Session
from tests.portal import accounts, forms, pages, receipt_pages
from tests.portal.receipt_pages import PATH

SELECTION = f"{PATH}/selection"
UNKNOWN = "rcp_" + "0" * 32


def reader_of(*names: str) -> FakeReader:
    """Return a reader that knows a document for each name."""
    return FakeReader({make.jpeg(name): receipt_pages.make_reading(name) for name in names})


async def upload_all(i: Installation, owner: Session, *names: str) -> dict[str, str]:
    """Upload a document for each name and wait for it; return the ids by name."""
    found = {name: await receipt_pages.upload(i, make.jpeg(name)) for name in names}
    for receipt_id in found.values():
        await receipt_pages.read_receipt(i, owner, receipt_id)
    return found


def table(answer: httpx.Response) -> list[dict[str, str]]:
    """Return the rows of an exported CSV file, which begins with a byte order mark."""
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))


async def submit(i: Installation, action: str, *values: str, **fields: str) -> httpx.Response:
    """Submit the form of the list with checked rows and return the page it redirects to."""
    answer = await i.stranger.post(f"{SELECTION}/{action}", data={"id": list(values), **fields})
    return await i.stranger.get(accounts.redirect_target(answer))


async def test_unchanged_receipts_are_approved_and_the_others_counted(
    database_url: str, tmp_path: Path
) -> None:
    names = ("Aurora", "Brisa", "Copa")
    async with receipt_pages.run_service(database_url, tmp_path, reader_of(*names)) as (
        service,
        owner,
    ):
        found = await upload_all(service, owner, *names)
        values = [f"{found['Aurora']}:1", f"{found['Brisa']}:7", f"{UNKNOWN}:1", "nothing", ""]
        approved = await submit(service, "approve", *values, back="review=needs_review&x=1")
        receipts = {
            name: await receipt_pages.read_receipt(service, owner, one)
            for name, one in found.items()
        }
        listed = await service.stranger.get(f"{PATH}?review=approved")
        nothing = await submit(service, "approve")

    page = pages.parse(approved)
    assert {
        "review": "needs_review",
        "did": "approve",
        "done": "1",
        "changed": "1",
        "gone": "1",
    } == (dict(parse_qsl(approved.url.query.decode())))
    assert (
        "1 receipt approved. 1 receipt had changed since, or could not be read: nothing was "
        "changed there. 1 receipt had been deleted before."
    ) in page.text
    assert ["approved", "needs_review", "needs_review"] == [
        one["review"]["status"] for one in receipts.values()
    ]
    assert [found["Aurora"]] == receipt_pages.listed_ids(listed)
    assert "Select receipts first." in pages.parse(nothing).text


async def test_all_receipts_of_a_long_page_are_selected(sqlite_url: str, tmp_path: Path) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path) as (service, _):
        values = [f"rcp_{number:032x}:1" for number in range(100)]
        page = pages.parse(await submit(service, "approve", *values, back="size=100"))

    assert "100 receipts had been deleted before." in page.text


async def test_category_of_selected_receipts_is_set(database_url: str, tmp_path: Path) -> None:
    names = ("Aurora", "Brisa")
    async with receipt_pages.run_service(database_url, tmp_path, reader_of(*names)) as (
        service,
        owner,
    ):
        found = await upload_all(service, owner, *names)
        values = [f"{one}:1" for one in found.values()]
        moved = await submit(service, "category", *values, category="fuel")
        listed = await service.stranger.get(f"{PATH}?category=fuel")
        wrong = await service.stranger.post(
            f"{SELECTION}/category", data={"id": values, "category": "best"}
        )

    assert "The category of 2 receipts is set." in pages.parse(moved).text
    assert set(found.values()) == set(receipt_pages.listed_ids(listed))
    assert 400 == wrong.status_code


async def test_category_of_approved_receipts_is_set_and_removed(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path, reader_of("Aurora")) as (
        service,
        owner,
    ):
        [receipt_id] = (await upload_all(service, owner, "Aurora")).values()
        read = []
        for action, values in (
            ("approve", {}),
            ("category", {"category": "fuel"}),
            ("category", {"category": ""}),
        ):
            await submit(service, action, receipt_id, **values)
            read.append(await receipt_pages.read_receipt(service, owner, receipt_id))

    assert ["approved"] * 3 == [one["review"]["status"] for one in read]
    assert ["fuel", None] == [one["category"] for one in read[1:]]


async def test_selected_receipts_are_deleted_after_confirmation(
    database_url: str, tmp_path: Path
) -> None:
    names = ("Aurora", "Brisa", "Copa")
    async with receipt_pages.run_service(database_url, tmp_path, reader_of(*names)) as (
        service,
        owner,
    ):
        found = await upload_all(service, owner, *names)
        query = {"id": [f"{found['Aurora']}:1", found["Brisa"]], "back": "q=a"}
        answer = await service.stranger.get(f"{SELECTION}/delete", params=query)
        before = receipt_pages.listed_ids(await service.stranger.get(PATH))
        deleted = await submit(service, "delete", found["Aurora"], found["Brisa"], back="q=a")
        again = await submit(service, "delete", found["Brisa"])
        after = receipt_pages.listed_ids(await service.stranger.get(PATH))
        nothing = await service.stranger.get(f"{SELECTION}/delete")
        one = await service.stranger.get(f"{SELECTION}/delete", params={"id": found["Copa"]})

    assert "Delete 1 receipt? It disappears at once" in pages.parse(one).text
    page = pages.parse(answer)
    assert "They disappear at once" in page.text
    assert "Delete 2 receipts? · Recibo" == page.title
    assert all(name in page.text for name in ("Aurora", "Brisa"))
    assert f"{PATH}?q=a" in page.links
    assert ("post", f"{SELECTION}/delete") in page.forms
    assert 3 == len(before)
    assert "2 receipts deleted." in pages.parse(deleted).text
    assert "1 receipt had been deleted before." in pages.parse(again).text
    assert [found["Copa"]] == after
    assert f"{PATH}?did=delete" == accounts.redirect_target(nothing)


async def test_view_and_selection_are_exported(database_url: str, tmp_path: Path) -> None:
    names = ("Aurora", "Brisa", "Copa")
    async with receipt_pages.run_service(database_url, tmp_path, reader_of(*names)) as (
        service,
        owner,
    ):
        found = await upload_all(service, owner, *names)
        view = await service.stranger.get(f"{PATH}/export", params={"merchant": "brisa", "q": ""})
        items = await service.stranger.get(f"{PATH}/export?rows=items&format=csv")
        chosen = {"id": [f"{found['Copa']}:1", found["Aurora"]], "format": "jsonl"}
        lines = await service.stranger.get(f"{PATH}/export", params=chosen)
        other = [
            await service.stranger.get(f"{PATH}/export?format={one}") for one in ("xlsx", "zip")
        ]
        wrong = await service.stranger.get(f"{PATH}/export?format=exe")
        unknown = await service.stranger.get(f"{PATH}/export?id=x")
        events = [
            row for row in await service.rows(AuditEvent) if row.action == "receipts.exported"
        ]

    assert [found["Brisa"]] == [row["Receipt ID"] for row in table(view)]
    assert view.headers["content-disposition"].startswith('attachment; filename="receipts-')
    assert "nosniff" == view.headers["x-content-type-options"]
    assert ["Pão francês"] * 3 == [row["Description"] for row in table(items)]
    assert {found["Copa"], found["Aurora"]} == {json.loads(one)["id"] for one in lines.iter_lines()}
    assert [b"PK"] * 2 == [answer.content[:2] for answer in other]
    assert 400 == wrong.status_code
    assert [] == table(unknown)
    assert 6 == len(events)
    assert {owner.user_id} == {event.actor_user_id for event in events}


async def test_roles_that_only_read_may_export_and_nothing_else(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path, reader_of("Aurora")) as (
        service,
        owner,
    ):
        found = await upload_all(service, owner, "Aurora")
        await forms.sign_in_as(service, await people.joined(service, owner, Role.VIEWER))
        page = await receipt_pages.get_page(service)
        posts = [
            await service.stranger.post(f"{SELECTION}/{action}", data={"id": found["Aurora"]})
            for action in ("approve", "category", "delete")
        ]
        asked = await service.stranger.get(f"{SELECTION}/delete?id={found['Aurora']}")
        exported = await service.stranger.get(f"{PATH}/export?id={found['Aurora']}")
        await forms.sign_in_as(service, await people.joined(service, owner, Role.BILLING))
        refused = await service.stranger.get(f"{PATH}/export")

    assert not {"Approve", "Delete"} & set(page.buttons)
    assert "CSV, one row per receipt" in page.buttons
    assert [403] * 4 == [answer.status_code for answer in (*posts, asked)]
    assert (200, 403) == (exported.status_code, refused.status_code)


async def test_month_is_offered_once_a_list_is_approved(sqlite_url: str, tmp_path: Path) -> None:
    names = ("Aurora", "Brisa")
    async with receipt_pages.run_service(sqlite_url, tmp_path, reader_of(*names)) as (
        service,
        owner,
    ):
        first, second = (await upload_all(service, owner, *names)).values()
        some, every = [
            pages.parse(await submit(service, "approve", f"{one}:1", back="review=needs_review"))
            for one in (first, second)
        ]

    month = f"{PATH}/export?format=csv&review=approved&after=2026-03-01&until=2026-03-31"
    assert [False, True] == [month in page.links for page in (some, every)]
    # An empty list has nothing to export.
    empty = f"{PATH}/export?review=needs_review&format=csv&rows=receipts"
    assert [True, False] == [empty in page.links for page in (some, every)]
