"""GET and DELETE of one receipt, and its file."""

import datetime as dt
from pathlib import Path
from urllib.parse import quote

import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.extract.model import Moment
from recibo.schemas.receipts import Receipt as ReceiptShape
from recibo.schemas.states import Scope
from recibo.store.tables import AuditEvent, Receipt, UsageEvent
from tests import installation, make
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation

pytestmark = ON_SQLITE

DOCUMENT = make.jpeg("document")
UNKNOWN = "rcp_" + "0" * 32
MALFORMED = [
    "rcp_",
    "rcp_0",
    "evt_" + "0" * 32,
    UNKNOWN.upper(),
    UNKNOWN + "%0a",
    "%00",
    UNKNOWN[:-1] + "%00",
    quote("é" * 20),
    "%ff%fe",
    "%ed%a0%80",
    "' OR 1=1 --",
    "a" * 4000,
]


@ON_BOTH
async def test_every_documented_field_is_present(service: Installation) -> None:
    receipt = await service.extracted(DOCUMENT)

    assert list(ReceiptShape.model_fields) == list(receipt)
    assert ([], {}, None) == (receipt["line_items"], receipt["metadata"], receipt["failure"])
    assert receipt["id"].startswith("rcp_")
    assert receipt["created_by"].startswith("key_")


async def test_stored_receipt_is_the_one_that_the_upload_answered(service: Installation) -> None:
    receipt = await service.extracted(DOCUMENT)

    assert receipt == (await service.get(f"/receipts/{receipt['id']}")).json()


@ON_BOTH
async def test_times_are_utc(service: Installation) -> None:
    receipt = await service.extracted(DOCUMENT)

    for name in ("created_at", "updated_at"):
        assert dt.timedelta(0) == dt.datetime.fromisoformat(receipt[name]).utcoffset()


async def test_evidence_and_text_come_when_they_are_asked_for(
    database_url: str, tmp_path: Path
) -> None:
    reader = FakeReader({DOCUMENT: make.reading("Aurora", total="12.5")})
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        path = f"/receipts/{(await service.extracted(DOCUMENT))['id']}"
        bare = (await service.get(path)).json()
        text = (await service.get(path, include="text")).json()
        both = (await service.get(path, include="evidence,text")).json()

    assert bare == {name: both[name] for name in bare}
    assert ["Aurora\npage one"] == text["text"]
    assert set(bare) | {"text"} == set(text)
    assert {
        "confidence": 0.9,
        "page": 1,
        "box": None,
        "text": "total",
        "source": "page",
    } == both["evidence"]["total"]
    assert both["evidence"]["tax"] is None


REFUSED = ["include=", "include=all", "include=text,", "include=text,all",
           "include=text&include=text", "wait=-1", "wait=25.1", "wait=nan", "wait=inf",
           "wait=soon", "wait=", "wait=1&wait=1"]  # fmt: skip


async def test_unknown_include_or_wait_is_400(reading_door: Installation) -> None:
    path = f"/v1/receipts/{(await reading_door.extracted(DOCUMENT))['id']}"

    answers = {query: await reading_door.client.get(f"{path}?{query}") for query in REFUSED}

    assert dict.fromkeys(REFUSED, (400, "validation_error")) == {
        query: (answer.status_code, answer.json()["error"]["code"])
        for query, answer in answers.items()
    }


async def test_unknown_parameters_are_ignored(reading_door: Installation) -> None:
    receipt = await reading_door.extracted(DOCUMENT)

    assert 200 == (await reading_door.get(f"/receipts/{receipt['id']}", colour="red")).status_code


async def test_unknown_and_malformed_ids_are_404_everywhere(service: Installation) -> None:
    answers = {
        (method, one, rest): await service.client.request(method, f"/v1/receipts/{one}{rest}")
        for one in (UNKNOWN, *MALFORMED)
        for method, rest in (("GET", ""), ("GET", "/file"), ("DELETE", ""))
    }

    assert dict.fromkeys(answers, (404, "not_found")) == {
        asked: (answer.status_code, answer.json()["error"]["code"])
        for asked, answer in answers.items()
    }


async def test_receipt_of_another_org_is_404_and_stays(service: Installation) -> None:
    path = f"/receipts/{(await service.extracted(DOCUMENT))['id']}"
    stranger = await make.key(service.database, await make.org(service.database))

    statuses = [
        (await service.get(path, secret=stranger)).status_code,
        (await service.get(f"{path}/file", secret=stranger)).status_code,
        (await service.delete(path, secret=stranger)).status_code,
    ]

    assert [404, 404, 404] == statuses
    assert 200 == (await service.get(path)).status_code
    assert [] == (await service.get("/receipts", secret=stranger)).json()["data"]


async def test_scopes_read_and_delete(service: Installation) -> None:
    path = f"/receipts/{(await service.extracted(DOCUMENT))['id']}"
    org_id = (await service.get("/key")).json()["org_id"]
    reads, writes, extracts = [
        await make.key(service.database, org_id, scopes=[scope])
        for scope in (Scope.READ, Scope.WRITE, Scope.EXTRACT_WRITE)
    ]

    for secret in (writes, extracts):
        assert 403 == (await service.get(path, secret=secret)).status_code
        assert 403 == (await service.get("/receipts", secret=secret)).status_code
        assert 403 == (await service.get(f"{path}/file", secret=secret)).status_code
        assert 200 == (await service.extract(DOCUMENT, secret=secret)).status_code
    assert 200 == (await service.get(path, secret=reads)).status_code
    assert 403 == (await service.extract(DOCUMENT, secret=reads)).status_code
    refused = [await service.delete(path, secret=secret) for secret in (reads, writes, extracts)]
    assert [403, 403, 403] == [answer.status_code for answer in refused]
    assert {"insufficient_scope"} == {answer.json()["error"]["code"] for answer in refused}
    assert "write" in refused[0].json()["error"]["details"][0]["message"]


async def test_scope_is_judged_before_existence(door: Installation) -> None:
    org_id = (await door.get("/key")).json()["org_id"]
    reads = await make.key(door.database, org_id, scopes=[Scope.READ])

    assert 403 == (await door.delete(f"/receipts/{UNKNOWN}", secret=reads)).status_code


@ON_BOTH
async def test_deleted_receipt_is_gone_at_once_and_its_use_is_not_refunded(
    service: Installation,
) -> None:
    receipt = await service.extracted(DOCUMENT)
    path = f"/receipts/{receipt['id']}"

    deleted = await service.delete(path)

    assert (204, b"") == (deleted.status_code, deleted.content)
    assert "content-type" not in deleted.headers
    assert 404 == (await service.get(path)).status_code
    assert 404 == (await service.get(f"{path}/file")).status_code
    assert 404 == (await service.delete(path)).status_code
    assert [] == (await service.get("/receipts")).json()["data"]
    assert (1, 1) == await service.used()
    assert 1 == len(await service.rows(UsageEvent))


async def test_deletion_is_audited(service: Installation) -> None:
    receipt = await service.extracted(DOCUMENT)
    headers = {"X-Request-ID": "deletion", "User-Agent": "a test"}

    await service.client.delete(f"/v1/receipts/{receipt['id']}", headers=headers)

    entries = {row.action: row for row in await service.rows(AuditEvent)}
    entry = entries["receipt.deleted"]
    assert "receipt.created" in entries
    assert ("receipt", receipt["id"]) == (entry.resource_type, entry.resource_id)
    assert receipt["created_by"] == entry.actor_api_key_id
    assert ("deletion", "a test", "127.0.0.1") == (
        entry.request_id,
        entry.user_agent,
        entry.ip_address,
    )


@ON_BOTH
async def test_deleting_a_pending_receipt_discards_its_result_and_keeps_the_quota(
    hasty_service: Installation,
) -> None:
    service = hasty_service
    service.reader.hold()
    receipt = await service.extracted(DOCUMENT)

    deleted = await service.delete(f"/receipts/{receipt['id']}")
    service.reader.release()
    await service.waited((await service.extracted(make.jpeg("another")))["id"])

    assert ("pending", 204) == (receipt["status"], deleted.status_code)
    rows = {row.id: row for row in await service.rows(Receipt)}
    assert rows[receipt["id"]].reading is None
    assert [] == [row for row in await service.rows(UsageEvent) if row.receipt_id == receipt["id"]]
    assert (1, 1) == await service.used()


async def test_file_is_the_upload_and_cannot_do_harm(service: Installation) -> None:
    receipt = await service.extracted(DOCUMENT)

    answer = await service.get(f"/receipts/{receipt['id']}/file")

    assert DOCUMENT == answer.content
    assert {
        "content-type": "image/jpeg",
        "content-disposition": f'attachment; filename="{receipt["id"]}.jpg"',
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox",
    }.items() <= dict(answer.headers).items()
    assert "no-store" in answer.headers["cache-control"]


@pytest.mark.parametrize("asked", ["bytes=0-3", "bytes=999-", "bytes=", "lines=1-2", "?"])
async def test_file_is_answered_whole_whatever_range_is_asked_for(
    reading_door: Installation, asked: str
) -> None:
    receipt = await reading_door.extracted(DOCUMENT)

    answer = await reading_door.client.get(
        f"/v1/receipts/{receipt['id']}/file", headers={"Range": asked}
    )

    assert (200, DOCUMENT) == (answer.status_code, answer.content)
    assert "none" == answer.headers["accept-ranges"]


async def test_file_of_a_pending_receipt_can_be_fetched(
    hasty_service: Installation,
) -> None:
    hasty_service.reader.hold()
    receipt = await hasty_service.extracted(DOCUMENT)

    assert DOCUMENT == (await hasty_service.get(f"/receipts/{receipt['id']}/file")).content


async def test_file_that_is_gone_from_the_disk_is_404(reading_door: Installation) -> None:
    receipt = await reading_door.extracted(DOCUMENT)
    path = await reading_door.file(receipt["id"])
    assert path is not None
    path.unlink()

    assert 404 == (await reading_door.get(f"/receipts/{receipt['id']}/file")).status_code


@ON_BOTH
async def test_wait_answers_when_the_reading_ends(hasty_service: Installation) -> None:
    hasty_service.reader.hold()
    receipt = await hasty_service.extracted(DOCUMENT)

    at_once = (await hasty_service.get(f"/receipts/{receipt['id']}")).json()
    waited = await hasty_service.waited(receipt["id"])

    assert ("pending", "pending") == (receipt["status"], at_once["status"])
    assert "completed" == waited["status"]


@ON_BOTH
async def test_pending_receipt_has_its_options_and_no_reading(
    hasty_service: Installation,
) -> None:
    hasty_service.reader.hold()

    receipt = await hasty_service.extracted(DOCUMENT, accuracy="high", metadata='{"a": "b"}')

    assert ("pending", "high", {"a": "b"}) == tuple(
        receipt[name] for name in ("status", "accuracy", "metadata")
    )
    assert {None} == {receipt[name] for name in ("type", "total", "confidence", "category")}
    asked = {"include": "evidence,text"}
    detailed = (await hasty_service.get(f"/receipts/{receipt['id']}", **asked)).json()
    assert (None, None) == (detailed["evidence"], detailed["text"])


@ON_BOTH
async def test_time_without_a_time_zone_is_in_utc(database_url: str, tmp_path: Path) -> None:
    reader = FakeReader({DOCUMENT: make.reading(issued=Moment(dt.date(2026, 3, 14)))})
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        receipt = await service.extracted(DOCUMENT)

    assert "2026-03-14T00:00:00+00:00" == receipt["issued_at"]


@ON_BOTH
async def test_correction_answers_with_what_is_asked_for(database_url: str, tmp_path: Path) -> None:
    reader = FakeReader({DOCUMENT: make.reading()})
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        receipt = await service.extracted(DOCUMENT)
        path = f"/v1/receipts/{receipt['id']}"
        corrected, plain, unknown = [
            await service.client.patch(path + query, json=change)
            for query, change in (
                ("?include=reading,evidence", {"issued_at": "2026-03-15T13:00:00.000Z"}),
                ("", {"tax": "1.00"}),
                ("?include=everything", {"tax": "2.00"}),
            )
        ]
        after = (await service.get(f"/receipts/{receipt['id']}")).json()

    body = corrected.json()
    assert "2026-03-15T13:00:00+00:00" == body["issued_at"]
    assert receipt["issued_at"] == body["reading"]["issued_at"]
    assert body["evidence"] is not None
    assert {"reading", "evidence"}.isdisjoint(plain.json())
    assert (400, "include") == (unknown.status_code, unknown.json()["error"]["details"][0]["field"])
    assert "1.00" == after["tax"]
