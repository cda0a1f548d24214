"""Receipts in the portal: shown with their documents, read again, deleted."""

from pathlib import Path

from recibo.adapters.fake_reader import FakeReader
from recibo.schemas.states import Role
from recibo.store.tables import AuditEvent
from tests import make, people
from tests.portal import accounts, forms, pages, receipt_pages
from tests.portal.receipt_pages import PATH, RECEIPT
from tests.readers import UNREADABLE, Answer, HeldReader, ScriptedReader

UNKNOWN = "rcp_" + "0" * 32
SCRIPT = "</dd><script>alert(1)</script>"


async def test_fields_are_shown_with_confidence_and_source(
    database_url: str, tmp_path: Path
) -> None:
    reader = FakeReader({RECEIPT: receipt_pages.make_reading()})
    async with receipt_pages.run_service(database_url, tmp_path, reader) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        receipt = await receipt_pages.read_receipt(service, owner, receipt_id)
        page = await receipt_pages.get_page(service, f"/{receipt_id}")
        saved = await service.stranger.get(f"{PATH}/{receipt_id}/json")

    assert "Padaria Aurora · Recibo" == page.title
    assert "To review 90% sure of merchant, date, total" == page.by_id["standing"]
    assert "Total 42.50 BRL" == page.by_id["sum"]
    assert {
        "merchant_name": "Padaria Aurora",
        "issued_date": "2026-03-14",
        "issued_time": "08:17:42",
        "issued_offset": "-03:00",
        "total": "42.50",
        "tax": "",
        "item-0-name": "Pão francês",
        "item-0-qty": "0.535",
        "item-0-unit_price": "18.90",
        "item-0-total": "10.11",
    }.items() <= {name: one.get("value") for name, one in page.inputs.items()}.items()
    assert "by you" in page.text
    assert "File name receipt.jpg" in page.text
    assert receipt == saved.json()
    assert f'attachment; filename="{receipt_id}.json"' == saved.headers["content-disposition"]


async def test_text_of_documents_is_escaped(sqlite_url: str, tmp_path: Path) -> None:
    reader = FakeReader({RECEIPT: receipt_pages.make_reading(SCRIPT)})
    async with receipt_pages.run_service(sqlite_url, tmp_path, reader) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        answers = [
            await service.stranger.get(f"{PATH}{rest}")
            for rest in ("", f"/{receipt_id}", f"/{receipt_id}/delete")
        ]

    for page in answers:
        assert SCRIPT in pages.parse(page).text
        assert SCRIPT not in page.text


async def test_document_is_served_in_a_sandbox(sqlite_url: str, tmp_path: Path) -> None:
    pdf = b"%PDF-1.7\n<script>alert(1)</script>"
    async with receipt_pages.run_service(sqlite_url, tmp_path) as (service, _):
        contents = {data: await receipt_pages.upload(service, data) for data in (RECEIPT, pdf)}
        files = [await service.stranger.get(f"{PATH}/{one}/file") for one in contents.values()]
        answers = [await service.stranger.get(f"{PATH}/{one}") for one in contents.values()]

    assert list(contents) == [file.content for file in files]
    assert ["image/jpeg", "application/pdf"] == [file.headers["content-type"] for file in files]
    for file in files:
        policy = set(file.headers["content-security-policy"].split("; "))
        assert {"default-src 'none'", "form-action 'none'", "frame-ancestors 'self'"} <= policy
        assert "script-src" not in file.headers["content-security-policy"]
        assert "nosniff" == file.headers["x-content-type-options"]
        assert "same-origin" == file.headers["cross-origin-resource-policy"]
        assert "no-store" == file.headers["cache-control"]
    for page in answers:
        assert "script-src 'self';" in page.headers["content-security-policy"]
        assert "unsafe" not in page.headers["content-security-policy"]


async def test_only_pages_with_pending_receipts_are_polled(sqlite_url: str, tmp_path: Path) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path, HeldReader()) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        pending = [await service.stranger.get(f"{PATH}{rest}") for rest in ("", f"/{receipt_id}")]
        await receipt_pages.read_receipt(service, owner, receipt_id)
        done = [await service.stranger.get(f"{PATH}{rest}") for rest in ("", f"/{receipt_id}")]

    assert [True, True] == ["data-pending" in page.text for page in pending]
    assert [True, True] == ['http-equiv="refresh"' in page.text for page in pending]
    assert "1 of 1 on this page is being read." == pages.parse(pending[0]).by_id["standing"]
    for page in done:
        assert "data-pending" not in page.text
        assert "http-equiv" not in page.text


async def test_second_reading_runs_once_and_costs_the_difference(
    database_url: str, tmp_path: Path
) -> None:
    answers = [receipt_pages.make_reading("Aur0ra", confidence=0.5), receipt_pages.make_reading()]
    async with receipt_pages.run_service(database_url, tmp_path, ScriptedReader(answers)) as (
        service,
        owner,
    ):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        before = await receipt_pages.get_page(service, f"/{receipt_id}")
        action = f"{PATH}/{receipt_id}/again"
        service.reader.hold()
        ordered = await forms.submit(service, action, accuracy="high")
        receipt = await receipt_pages.read_receipt(service, owner, receipt_id)
        after = await receipt_pages.get_page(service, f"/{receipt_id}")
        vain = await forms.submit(service, action, accuracy="high")
        actions = [row.action for row in await service.rows(AuditEvent)]

    assert "50% sure of merchant, date, total: please check" in before.by_id["standing"]
    assert (None, action) not in before.forms
    assert ("post", action) in before.forms
    assert ordered.by_id["standing"].startswith("Reading again")
    assert ("post", action) not in ordered.forms
    assert ("Padaria Aurora", "high") == (receipt["merchant_name"], receipt["accuracy"])
    assert ("post", action) not in after.forms
    assert "found nothing better before" in vain.text
    assert 1 == actions.count("receipt.reread")


async def test_failure_says_what_to_do_and_can_be_retried(
    database_url: str, tmp_path: Path
) -> None:
    answers: list[Answer] = [UNREADABLE, receipt_pages.make_reading()]
    async with receipt_pages.run_service(database_url, tmp_path, ScriptedReader(answers)) as (
        service,
        owner,
    ):
        failed_id = await receipt_pages.upload(service, type="invoice")
        await receipt_pages.read_receipt(service, owner, failed_id)
        failed = await receipt_pages.get_page(service, f"/{failed_id}")
        tried = await service.stranger.post(f"{PATH}/{failed_id}/again", data={"accuracy": "high"})
        receipt_id = accounts.redirect_target(tried).removeprefix(f"{PATH}/").partition("?")[0]
        receipt = await receipt_pages.read_receipt(service, owner, receipt_id)
        listed = await service.stranger.get(PATH)
        again = await service.stranger.post(f"{PATH}/{failed_id}/again", data={"accuracy": "high"})

    assert "Failed" == failed.by_id["standing"]
    assert "receipt.jpg · Recibo" == failed.title
    for text in (UNREADABLE.message, "Take a new photo", "Nothing is billed."):
        assert text in failed.text
    assert failed_id != receipt_id
    assert ("completed", "high") == (receipt["status"], receipt["accuracy"])
    assert {"filename": "receipt.jpg"} == receipt["metadata"]
    assert [receipt_id] == receipt_pages.listed_ids(listed)
    assert f"{PATH}/{receipt_id}?notice=again" == accounts.redirect_target(again)


async def test_failures_at_the_same_accuracy_are_kept_and_counted(
    database_url: str, tmp_path: Path
) -> None:
    answers: list[Answer] = [UNREADABLE] * 3
    async with receipt_pages.run_service(database_url, tmp_path, ScriptedReader(answers)) as (
        service,
        owner,
    ):
        ids = [await receipt_pages.upload(service)]
        for _ in range(3):
            await receipt_pages.read_receipt(service, owner, ids[-1])
            path = f"{PATH}/{ids[-1]}/again"
            tried = await service.stranger.post(path, data={"accuracy": "standard"})
            ids.append(accounts.redirect_target(tried).removeprefix(f"{PATH}/").partition("?")[0])
        listed = receipt_pages.listed_ids(await service.stranger.get(PATH))

    # The third failure is the answer from then on, without another reading.
    assert ids[-1] == ids[-2]
    assert set(ids) == set(listed)


async def test_deleted_receipt_is_not_read_again(database_url: str, tmp_path: Path) -> None:
    async with receipt_pages.run_service(database_url, tmp_path) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        await forms.submit(service, f"{PATH}/{receipt_id}/delete")
        await receipt_pages.upload(service)
        answers = [
            await service.stranger.post(f"{PATH}/{one}/again", data={"accuracy": "high"})
            for one in (receipt_id, "rcp_%00")
        ]

    assert [404, 404] == [answer.status_code for answer in answers]


async def test_receipt_is_deleted_after_confirmation(database_url: str, tmp_path: Path) -> None:
    async with receipt_pages.run_service(database_url, tmp_path) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        asked = await receipt_pages.get_page(service, f"/{receipt_id}/delete")
        kept = await receipt_pages.get_page(service, f"/{receipt_id}")
        deleted = await forms.submit(service, f"{PATH}/{receipt_id}/delete")
        gone = [
            (await service.stranger.get(f"{PATH}/{receipt_id}{rest}")).status_code
            for rest in ("", "/file", "/json", "/delete")
        ]
        twice = await service.stranger.post(f"{PATH}/{receipt_id}/delete")

    assert "cannot be restored. Its data and its file are erased" in asked.text
    assert f"{PATH}/{receipt_id}/delete" in kept.links
    assert "The receipt is deleted." in deleted.text
    assert "No receipts yet" in deleted.text
    assert [404] * 5 == [*gone, twice.status_code]


async def test_roles_without_permission_have_no_buttons(database_url: str, tmp_path: Path) -> None:
    async with receipt_pages.run_service(database_url, tmp_path) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        one = f"{PATH}/{receipt_id}"
        refused = {}
        for role in (Role.VIEWER, Role.BILLING):
            await forms.sign_in_as(service, await people.joined(service, owner, role))
            answers = [
                await receipt_pages.send_files(service, ("a.jpg", RECEIPT)),
                await service.stranger.post(f"{one}/again", data={"accuracy": "high"}),
                await service.stranger.get(f"{one}/delete"),
                await service.stranger.post(f"{one}/delete"),
            ]
            reads = [await service.stranger.get(path) for path in (PATH, one, f"{one}/file")]
            refused[role] = [answer.status_code for answer in (*answers, *reads)]
            if role is Role.VIEWER:
                for answer in reads[:2]:
                    posts = {
                        action for method, action in pages.parse(answer).forms if method == "post"
                    }
                    assert {"/portal/sign-out", "/portal/theme", "/portal/shortcuts"} >= posts
                    assert "/delete" not in answer.text

    assert {
        Role.VIEWER: [403] * 4 + [200] * 3,
        Role.BILLING: [403] * 7,
    } == refused


async def test_receipts_of_another_org_are_not_found(database_url: str, tmp_path: Path) -> None:
    async with receipt_pages.run_service(database_url, tmp_path) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        bea = await people.signed_up(service, email="bea@people.test", org="Loja Bea")
        await forms.sign_in_as(service, bea)
        statuses = [
            (await service.stranger.get(f"{PATH}/{one}{rest}")).status_code
            for one in (receipt_id, UNKNOWN, "%00", "x" * 300)
            for rest in ("", "/file", "/json", "/delete")
        ]
        pressed = [
            (await service.stranger.post(f"{PATH}/{receipt_id}/{act}", data=sent)).status_code
            for act, sent in (("again", {"accuracy": "high"}), ("delete", {}))
        ]
        listed = await receipt_pages.get_page(service)
        await forms.sign_in_as(service, owner)
        receipt = await receipt_pages.read_receipt(service, owner, receipt_id)

    assert {404} == {*statuses, *pressed}
    assert "No receipts yet" in listed.text
    assert "completed" == receipt["status"]


async def test_missing_file_shows_an_error(sqlite_url: str, tmp_path: Path) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path) as (service, owner):
        receipt_id = await receipt_pages.upload(service, make.jpeg("lost"))
        await receipt_pages.read_receipt(service, owner, receipt_id)
        path = await service.file(receipt_id)
        assert path is not None
        path.unlink()
        file = await service.stranger.get(f"{PATH}/{receipt_id}/file")
        again = await service.stranger.post(f"{PATH}/{receipt_id}/again", data={"accuracy": "high"})

    assert [404, 404] == [file.status_code, again.status_code]
    assert "The file of this receipt is gone." == pages.parse(again).alert
