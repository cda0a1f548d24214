"""Uploads in the portal: several files in one form, each accepted or refused separately."""

from pathlib import Path

import pytest

from recibo.errors import FileTooLarge
from recibo.extract.document.limits import MAX_BYTES
from recibo.lib import clock
from recibo.services.reading import usage
from recibo.store import tables
from recibo.store.semaphores import Limit
from tests import make, people
from tests.installation import Installation
from tests.portal import accounts, forms, pages, receipt_pages
from tests.portal.receipt_pages import GIF, OTHER_RECEIPT, PATH, RECEIPT


async def test_files_are_read_with_the_options_of_the_form_for_the_user(
    database_url: str, tmp_path: Path
) -> None:
    async with receipt_pages.run_service(database_url, tmp_path) as (service, owner):
        files = [("C:\\receipts\\a.jpg", RECEIPT), ("ação.jpg", OTHER_RECEIPT)]
        answer = await receipt_pages.send_files(service, *files, accuracy="high", type="invoice")
        listed = await service.stranger.get(PATH)
        receipts = [
            await receipt_pages.read_receipt(service, owner, one)
            for one in receipt_pages.listed_ids(listed)
        ]

    assert f"{PATH}?notice=taken" == accounts.redirect_target(answer)
    assert ["ação.jpg", "a.jpg"] == [one["metadata"]["filename"] for one in receipts]
    assert {("high", "invoice", owner.user_id)} == {
        (one["accuracy"], one["type"], one["created_by"]) for one in receipts
    }


async def test_known_file_redirects_to_its_receipt(database_url: str, tmp_path: Path) -> None:
    async with receipt_pages.run_service(database_url, tmp_path) as (service, owner):
        first = await receipt_pages.send_files(service, ("a.jpg", RECEIPT))
        again = await receipt_pages.send_files(service, ("b.jpg", RECEIPT))
        both = await receipt_pages.send_files(service, ("a.jpg", RECEIPT), ("c.jpg", OTHER_RECEIPT))
        listed = receipt_pages.listed_ids(await service.stranger.get(PATH))
        page = pages.parse(await service.stranger.get(accounts.redirect_target(again)))
        receipt = await receipt_pages.read_receipt(service, owner, listed[-1])

    assert f"{PATH}/{receipt['id']}?notice=taken" == accounts.redirect_target(first)
    assert f"{PATH}/{receipt['id']}?notice=known" == accounts.redirect_target(again)
    assert f"{PATH}?notice=some-known" == accounts.redirect_target(both)
    assert "not read or billed twice" in page.text
    assert 2 == len(listed)


async def test_refused_files_are_listed_and_the_others_accepted(
    database_url: str, tmp_path: Path
) -> None:
    large = make.JPEG_HEAD.ljust(MAX_BYTES + 1, b"\0")
    async with receipt_pages.run_service(database_url, tmp_path) as (service, _):
        files = [("a.gif", GIF), ("a.jpg", RECEIPT), ("b.jpg", b""), ("c.jpg", large)]
        answer = await receipt_pages.send_files(service, *files, accuracy="high")

    page = pages.parse(answer)
    assert 400 == answer.status_code
    assert "Error: Inbox · Recibo" == page.title
    assert (
        "The other files were uploaded, but not: "
        "a.gif: The file is not a JPG, PNG, HEIC, WEBP, TIFF or PDF. "
        "b.jpg: The file is empty; send the document. "
        "c.jpg: The file is larger than 15 MB."
    ) == page.alert
    assert 1 == len(receipt_pages.listed_ids(answer))
    assert '<option value="high" selected>' in answer.text


FORMS = {
    "no file": ({"accuracy": "high"}, [("", b"")]),
    "an unknown accuracy": ({"accuracy": "best"}, [("a.jpg", RECEIPT)]),
    "an unknown type": ({"type": "bill"}, [("a.jpg", RECEIPT)]),
}


async def test_invalid_form_is_shown_again(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    for name, (fields, files) in FORMS.items():
        answer = await receipt_pages.send_files(sqlite_service, *files, **fields)

        assert 400 == answer.status_code, name
        assert "Please correct the fields marked below." == pages.parse(answer).alert, name
        assert 'aria-invalid="true"' in answer.text, name
        assert [] == receipt_pages.listed_ids(answer), name


async def test_malformed_upload_is_refused(
    sqlite_service: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    urlencoded = await sqlite_service.stranger.post(PATH, data={"file": "a"})
    cut = await sqlite_service.stranger.post(
        PATH, content=b"--b\r\n", headers={"Content-Type": "multipart/form-data; boundary=b"}
    )
    monkeypatch.setattr("recibo.portal.receipt_uploads._MAX_BYTES", 0)
    endless = await receipt_pages.send_files(
        sqlite_service, ("a.jpg", make.JPEG_HEAD.ljust(300 * 1024))
    )

    assert [400] * 3 == [answer.status_code for answer in (urlencoded, cut, endless)]
    assert "send fewer at once" in pages.parse(endless).text
    assert FileTooLarge.status == endless.status_code
    assert [] == await sqlite_service.rows(tables.Receipt)


async def test_quota_and_upload_limit_apply_to_the_portal(
    database_url: str, tmp_path: Path
) -> None:
    async with receipt_pages.run_service(database_url, tmp_path) as (service, owner):
        slots, caps = service.services.extraction.slots, [Limit(owner.user_id, 1)]
        await slots.take("slot", caps)
        capped = await receipt_pages.send_files(service, ("a.jpg", RECEIPT))
        await slots.free("slot", caps)
        month = usage.month_of(clock.now())
        async with service.database.write() as session:
            session.add(
                tables.UsageMonth(
                    org_id=owner.org_id, month=month, held=49, completed=49, credits=49
                )
            )
        over = await receipt_pages.send_files(service, ("a.jpg", RECEIPT), ("b.jpg", OTHER_RECEIPT))

    assert [429, 429] == [capped.status_code, over.status_code]
    assert "1" == capped.headers["retry-after"]
    assert "a.jpg: Uploads in flight at once are 1 on this plan" in pages.parse(capped).alert
    assert "b.jpg: The month's quota of 50 receipts is used up" in pages.parse(over).alert
    assert 1 == len(receipt_pages.listed_ids(over))
    assert "0 of 50 receipts are left this month" in pages.parse(over).text


async def test_script_gets_the_results_as_json(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    parts = {"a.jpg": RECEIPT, "b.gif": GIF}
    answers = {
        name: await sqlite_service.stranger.post(
            PATH,
            files={"file": (name, parts.get(name, RECEIPT))},
            headers={"Accept": "application/json"},
        )
        for name in ("a.jpg", "again.jpg", "b.gif")
    }
    (listed,) = receipt_pages.listed_ids(await sqlite_service.stranger.get(PATH))
    found = {name: answer.json()["files"][0] for name, answer in answers.items()}

    assert [200, 200, 400] == [answer.status_code for answer in answers.values()]
    assert {"filename": "a.jpg", "receipt_id": listed, "is_known": False, "error": ""} == (
        found["a.jpg"]
    )
    assert (listed, True) == (found["again.jpg"]["receipt_id"], found["again.jpg"]["is_known"])
    assert "The file is not a JPG, PNG, HEIC, WEBP, TIFF or PDF." == found["b.gif"]["error"]


async def test_form_is_above_the_list_on_request_and_at_first(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path) as (service, _):
        empty = await service.stranger.get(PATH)
        await receipt_pages.upload(service)
        full = await service.stranger.get(PATH)
        asked = await service.stranger.get(f"{PATH}?upload=yes")
        narrowed = await service.stranger.get(f"{PATH}?review=ready")

    pages_ = (empty, full, asked, narrowed)
    assert [True, False, True, False] == ['id="file"' in one.text for one in pages_]
    assert asked.text.index('id="file"') < asked.text.index('id="receipts"')
    # Whether the list shows what is uploaded now.
    assert [True, True, True, False] == ["data-is-listed" in one.text for one in pages_]
