"""New copies of documents that could not be read: they replace the failed receipts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind
from recibo.adapters.reader_process.failures import OUT_OF_MEMORY, TIMED_OUT
from recibo.extract import errors
from recibo.schemas.states import Role
from recibo.store.tables import AuditEvent
from tests import make, people
from tests.installation import Installation
from tests.people import Session
from tests.portal import accounts, forms, pages, receipt_pages
from tests.portal.receipt_pages import GIF, PATH
from tests.readers import CRASHED, UNREADABLE

BLURRED, SHARP = make.jpeg("blurred"), make.jpeg("sharp")


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed receipt, and its owner."""

    service: Installation
    owner: Session
    receipt_id: str
    headers: Mapping[str, str] = field(default_factory=dict)

    async def send(self, data: bytes, **fields: str) -> httpx.Response:
        """Send a new copy with the form of its page."""
        parts = {"file": ("copy.jpg", data)}
        path = f"{PATH}/{self.receipt_id}/copy"
        return await self.service.stranger.post(
            path, files=parts, data=fields, headers=self.headers
        )

    async def listed(self) -> list[str]:
        """Return the ids of the receipts in the inbox."""
        return receipt_pages.listed_ids(await self.service.stranger.get(PATH))


@pytest.fixture
def reader() -> FakeReader:
    """A reader that can read the sharp copy only."""
    return FakeReader({BLURRED: UNREADABLE, SHARP: receipt_pages.make_reading()})


async def fail(service: Installation, owner: Session) -> Failed:
    """Upload a document that cannot be read."""
    receipt_id = await receipt_pages.upload(service, BLURRED)
    await receipt_pages.read_receipt(service, owner, receipt_id)
    return Failed(service, owner, receipt_id)


async def test_new_copy_replaces_the_failed_receipt(
    database_url: str, tmp_path: Path, reader: FakeReader
) -> None:
    async with receipt_pages.run_service(database_url, tmp_path, reader) as (service, owner):
        failed = await fail(service, owner)
        before = await receipt_pages.get_page(service, f"/{failed.receipt_id}")
        sent = await failed.send(SHARP, accuracy="high")
        [new_id] = await failed.listed()
        receipt = await receipt_pages.read_receipt(service, owner, new_id)
        page = pages.parse(await service.stranger.get(accounts.redirect_target(sent)))
        log = await forms.get_page(service, "/portal/audit")
        twice = await failed.send(SHARP)
        entries = [
            (row.action, row.resource_id, row.after)
            for row in await service.rows(AuditEvent)
            if row.action == "receipt.deleted"
        ]

    assert ("post", f"{PATH}/{failed.receipt_id}/copy") in before.forms
    assert f"{PATH}/{new_id}?notice=replaced" == accounts.redirect_target(sent)
    assert ("completed", "high") == (receipt["status"], receipt["accuracy"])
    assert {"filename": "copy.jpg"} == receipt["metadata"]
    assert "in place of the document that could not be read" in page.text
    assert [("receipt.deleted", failed.receipt_id, {"replaced_by": new_id})] == entries
    said = "replaced a document that could not be read with the receipt of Padaria Aurora"
    assert f"{owner.email} {said}" in log.text
    assert "deleted a receipt" not in log.text
    assert f"{PATH}/{new_id}" in log.links
    # Buttons are pressed twice.
    assert f"{PATH}/{new_id}?notice=known" == accounts.redirect_target(twice)


async def test_high_accuracy_is_in_the_log_as_a_replacement(
    sqlite_url: str, tmp_path: Path, reader: FakeReader
) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path, reader) as (service, owner):
        failed = await fail(service, owner)
        path = f"{PATH}/{failed.receipt_id}/again"
        await service.stranger.post(path, data={"accuracy": "high"})
        log = await forms.get_page(service, "/portal/audit")

    assert "replaced a document that could not be read with a receipt" in log.text


async def test_the_same_file_replaces_nothing(
    sqlite_url: str, tmp_path: Path, reader: FakeReader
) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path, reader) as (service, owner):
        failed = await fail(service, owner)
        await failed.send(BLURRED)
        listed = await failed.listed()

    # It counts as a failure of this file.
    assert failed.receipt_id in listed
    assert 2 == len(listed)


async def test_copy_of_what_another_member_uploaded_replaces_it(
    sqlite_url: str, tmp_path: Path, reader: FakeReader
) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path, reader) as (service, owner):
        failed = await fail(service, owner)
        await forms.sign_in_as(service, await people.joined(service, owner, Role.DEVELOPER))
        await failed.send(SHARP)

        assert failed.receipt_id not in await failed.listed()


async def test_refused_copies_leave_the_failed_receipt(
    sqlite_url: str, tmp_path: Path, reader: FakeReader
) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path, reader) as (service, owner):
        failed = await fail(service, owner)
        refused = [await failed.send(data) for data in (GIF, b"")]
        listed = await failed.listed()
        read = await receipt_pages.upload(service, make.jpeg("read"))
        await receipt_pages.read_receipt(service, owner, read)
        of_read = await Failed(service, owner, read).send(SHARP)
        as_script = {"Accept": "application/json"}
        by_script = await Failed(service, owner, read, as_script).send(SHARP)
        unknown = await Failed(service, owner, "rcp_" + "0" * 32).send(SHARP)
        await forms.sign_in_as(service, await people.joined(service, owner, Role.VIEWER))
        by_viewer = await failed.send(SHARP)
        page = await receipt_pages.get_page(service, f"/{failed.receipt_id}")
        bea = await people.signed_up(service, email="bea@people.test", org="Loja Bea")
        await forms.sign_in_as(service, bea)
        foreign = await failed.send(SHARP)

    assert [failed.receipt_id] == listed
    assert [400, 400] == [answer.status_code for answer in refused]
    assert "not a JPG" in pages.parse(refused[0]).alert
    assert "The file is empty" in pages.parse(refused[1]).alert
    assert "Only a document that could not be read" in pages.parse(of_read).text
    assert 409 == by_script.status_code
    assert "Only a document that could not be read" in by_script.json()["error"]
    assert [409, 404, 403, 404] == [
        answer.status_code for answer in (of_read, unknown, by_viewer, foreign)
    ]
    assert set() == forms.form_actions(page, f"{PATH}/{failed.receipt_id}")


TRY_AGAIN, COPY, HIGH = "Try again", "Upload a new copy", "Try high accuracy"


def failure(kind: FailureKind, message: str | None) -> Failure:
    return Failure(kind, message or "")


REMEDIES = {
    "unreadable": (UNREADABLE, [COPY, HIGH]),
    "blank": (failure(FailureKind.UNREADABLE, errors.Blank.__doc__), [COPY]),
    "damaged": (failure(FailureKind.UNREADABLE, errors.Damaged.__doc__), [COPY]),
    "script": (failure(FailureKind.UNREADABLE, errors.UnknownScript.__doc__), [COPY]),
    "too long": (failure(FailureKind.TIMED_OUT, TIMED_OUT), [COPY]),
    "too large": (failure(FailureKind.OUT_OF_MEMORY, OUT_OF_MEMORY), [COPY]),
    "encrypted": (failure(FailureKind.INVALID_DOCUMENT, errors.Encrypted.__doc__), [COPY]),
    "format": (
        failure(FailureKind.UNSUPPORTED_FORMAT, errors.UnsupportedFormat.__doc__),
        ["Upload as JPG or PDF"],
    ),
    "crashed": (CRASHED, [TRY_AGAIN, COPY]),
}


async def test_what_helps_most_likely_is_offered_first(sqlite_url: str, tmp_path: Path) -> None:
    files = {name: make.jpeg(name) for name in REMEDIES}
    reader = FakeReader({files[name]: failed for name, (failed, _) in REMEDIES.items()})
    in_inbox, on_page = {}, {}
    async with receipt_pages.run_service(sqlite_url, tmp_path, reader) as (service, owner):
        for name, data in files.items():
            receipt_id = await receipt_pages.upload(service, data)
            await receipt_pages.read_receipt(service, owner, receipt_id)
            listed = await service.stranger.get(f"{PATH}?status=failed")
            row = listed.text.partition('<span class="acts')[2].partition("</span>\n")[0]
            in_inbox[name] = re.findall(r"</svg>([A-Z][^<]+)</", row)
            page = await receipt_pages.get_page(service, f"/{receipt_id}")
            on_page[name] = [one for one in page.buttons if re.match("Try|Upload", one)]

    assert {name: offered for name, (_, offered) in REMEDIES.items()} == in_inbox
    high = "Try at high accuracy (5 credits)"
    assert {"unreadable": [COPY, high], "blank": [COPY], "crashed": [TRY_AGAIN, COPY]} == {
        name: on_page[name] for name in ("unreadable", "blank", "crashed")
    }
