"""GET /v1/receipts/export."""

import csv
import io
import json
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import openpyxl
import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.extract.model import Extracted
from recibo.schemas.states import Scope
from recibo.services.reading import exports
from recibo.store.tables import AuditEvent
from tests import installation, make, receipts
from tests.installation import Installation

HOSTILE = '=HYPERLINK("http://evil.example";"Total")'
READINGS = {
    "bakery": receipts.sure(),
    "hostile": replace(
        receipts.sure(HOSTILE, total="-5.00"),
        document_number=Extracted("+1", 0.97, "+1"),
        line_items=(receipts.item('@cmd, "quoted"\tx', "-5.00"),),
    ),
    "bare": make.reading("Só o nome"),
}


@asynccontextmanager
async def stocked(database_url: str, folder: Path) -> AsyncIterator[Installation]:
    """Open a service that has read each of READINGS, in their order."""
    reader = FakeReader({make.jpeg(name): answer for name, answer in READINGS.items()})
    async with installation.start(database_url, folder, reader=reader) as service:
        for name in READINGS:
            await service.extracted(make.jpeg(name), metadata='{"k": "v"}')
        yield service


async def exported(service: Installation, **query: str) -> httpx.Response:
    """Return an export."""
    answer = await service.get("/receipts/export", **query)
    assert 200 == answer.status_code, answer.text
    return answer


def table(content: bytes) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


async def test_csv_has_the_fields_of_the_api(database_url: str, tmp_path: Path) -> None:
    async with stocked(database_url, tmp_path) as service:
        answer = await exported(service)
        listed = (await service.get("/receipts")).json()["data"]

    rows = table(answer.content)
    assert "text/csv; charset=utf-8" == answer.headers["content-type"]
    assert "attachment" in answer.headers["content-disposition"]
    assert answer.content.startswith(b"id,status,type,merchant_name,")
    assert answer.content.count(b"\r\n") == 4
    assert set(rows[0]) < set(listed[0])
    for name in ("id", "created_at", "confidence"):
        assert [str(one[name]) for one in listed] == [row[name] for row in rows]
    assert ("42.59", "2026-03-14T08:17:42-03:00", "ready", '{"k": "v"}') == tuple(
        rows[2][name] for name in ("total", "issued_at", "review", "metadata")
    )
    assert ("", "", "") == tuple(rows[0][name] for name in ("total", "issued_at", "currency"))


async def test_csv_has_no_cell_that_a_spreadsheet_runs(database_url: str, tmp_path: Path) -> None:
    async with stocked(database_url, tmp_path) as service:
        [receipt] = table((await exported(service, max_total="0")).content)
        [item] = table((await exported(service, max_total="0", rows="items")).content)

    assert (f"'{HOSTILE}", "'+1", "-5.00") == tuple(
        receipt[name] for name in ("merchant_name", "document_number", "total")
    )
    assert ('\'@cmd, "quoted"\tx', "-5.00") == (item["name"], item["total"])


async def test_items_are_rows_of_their_own(database_url: str, tmp_path: Path) -> None:
    async with stocked(database_url, tmp_path) as service:
        rows = table((await exported(service, rows="items", min_total="1")).content)

    assert [("Pão francês", "0.535", "", "10.11"), ("Café", "", "", "32.48")] == [
        tuple(row[name] for name in ("name", "qty", "unit_price", "total")) for row in rows
    ]
    assert {"Padaria Aurora"} == {row["merchant_name"] for row in rows}


async def test_xlsx_has_numbers_dates_and_texts(database_url: str, tmp_path: Path) -> None:
    async with stocked(database_url, tmp_path) as service:
        answer = await exported(service, format="xlsx")

    book = openpyxl.load_workbook(io.BytesIO(answer.content))
    assert ["receipts"] == book.sheetnames
    head, *lines = book["receipts"].iter_rows()
    names = [cell.value for cell in head]
    bare, hostile, bakery = (dict(zip(names, line, strict=True)) for line in lines)
    assert (42.59, "n") == (bakery["total"].value, bakery["total"].data_type)
    # 100.00 is not shown as 100.
    assert "#,##0.00" == bakery["total"].number_format
    assert "General" == bakery["confidence"].number_format
    assert "2026-03-14T08:17:42" == bakery["issued_at"].value.isoformat()
    # A text is no formula.
    assert (HOSTILE, "s") == (hostile["merchant_name"].value, hostile["merchant_name"].data_type)
    assert None is bare["total"].value


async def test_sheet_has_a_head_that_stays_and_columns_that_fit(
    database_url: str, tmp_path: Path
) -> None:
    async with stocked(database_url, tmp_path) as service:
        answers = [
            await exported(service, format="xlsx", rows=one) for one in ("receipts", "items")
        ]
        nothing = await exported(service, format="xlsx", q="nothing")

    for answer in answers:
        sheet = openpyxl.load_workbook(io.BytesIO(answer.content)).active
        assert "A2" == sheet.freeze_panes
        assert sheet.dimensions == sheet.auto_filter.ref
        for column in sheet.iter_cols():
            wide = sheet.column_dimensions[column[0].column_letter].width
            assert column[0].font.bold
            # The button of the filter follows the heading.
            assert len(column[0].value) + 2 < wide
            assert wide < 50
            shown = [f"{cell.value}" for cell in column[1:] if cell.data_type == "s"]
            assert [] == [one for one in shown if len(one) >= wide and len(one) < 48]
    empty = openpyxl.load_workbook(io.BytesIO(nothing.content)).active
    assert (1, None) == (empty.max_row, empty.auto_filter.ref)


async def test_sheet_has_the_digits_of_the_currency_and_true_dates(
    sqlite_url: str, tmp_path: Path
) -> None:
    changes: tuple[dict[str, Any], ...] = (
        {"currency": "JPY", "total": "1500", "due_date": "2026-04-14"},
        {"currency": "BHD", "total": "7.5", "issued_at": None},
        {"currency": None, "total": "1500", "due_date": "1890-04-14"},
    )
    async with stocked(sqlite_url, tmp_path) as service:
        listed = (await service.get("/receipts")).json()["data"]
        for receipt, change in zip(listed, changes, strict=True):
            await service.patched(receipt["id"], **change)
        answer = await exported(service, format="xlsx")

    head, *lines = openpyxl.load_workbook(io.BytesIO(answer.content)).active.iter_rows()
    names = [cell.value for cell in head]
    rows = [dict(zip(names, line, strict=True)) for line in lines]
    assert [(1500, "#,##0"), (7.5, "#,##0.000"), (1500, "#,##0.00")] == [
        (row["total"].value, row["total"].number_format) for row in rows
    ]
    assert ("2026-04-14", "yyyy-mm-dd") == (
        f"{rows[0]['due_date'].value:%Y-%m-%d}",
        rows[0]["due_date"].number_format,
    )
    # Sheets know no days before 1900.
    assert [None, "1890-04-14"] == [row["due_date"].value for row in rows[1:]]


async def test_jsonl_has_a_receipt_of_the_api_on_each_line(
    database_url: str, tmp_path: Path
) -> None:
    async with stocked(database_url, tmp_path) as service:
        answer = await exported(service, format="jsonl")
        listed = (await service.get("/receipts")).json()["data"]

    assert listed == [json.loads(line) for line in answer.text.splitlines()]


async def test_zip_has_the_files_and_a_table(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "_BATCH", 2)
    async with stocked(database_url, tmp_path) as service:
        gone = (await service.get("/receipts", q="nome")).json()["data"][0]["id"]
        path = await service.file(gone)
        assert path
        path.unlink()
        answer = await exported(service, format="zip")

    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert None is archive.testzip()
    rows = table(archive.read("receipts.csv"))
    files = {name for name in archive.namelist() if name.startswith("files/")}
    # What is gone from the disk is in the table only.
    assert {f"files/{row['id']}.jpg" for row in rows if row["id"] != gone} == files
    assert make.jpeg("bakery") == archive.read(f"files/{rows[2]['id']}.jpg")


async def test_pages_of_an_export_follow_each_other(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "_BATCH", 1)
    async with stocked(database_url, tmp_path) as service:
        rows = table((await exported(service)).content)
        found = table((await exported(service, q="aurora")).content)
        none = table((await exported(service, q="nothing")).content)

    assert [3, 1, 0] == [len(rows), len(found), len(none)]


async def test_export_is_audited_with_its_filters(database_url: str, tmp_path: Path) -> None:
    async with stocked(database_url, tmp_path) as service:
        await exported(service, format="jsonl", currency="BRL", **{"metadata.k": "v"})
        audited = {row.action: row for row in await service.rows(AuditEvent)}

    entry = audited["receipts.exported"]
    assert {
        "format": "jsonl",
        "rows": "receipts",
        "filters": {"currency": "BRL", "tags": [["k", "v"]]},
    } == entry.after
    assert entry.actor_api_key_id


async def test_more_rows_than_a_sheet_has_are_refused(
    tmp_path: Path, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "_MAX_SHEET_ROWS", 2)
    async with stocked(sqlite_url, tmp_path) as service:
        refused = await service.get("/receipts/export", format="xlsx")
        # What was refused holds no place.
        after = [(await service.get("/receipts/export")).status_code for _ in range(5)]

    assert ("format", [200] * 5) == (refused.json()["error"]["details"][0]["field"], after)


INVALID: list[dict[str, Any]] = [{"format": "pdf"}, {"rows": "pages"}, {"q": ""}]


@pytest.mark.parametrize("query", INVALID)
async def test_invalid_exports_are_refused(query: dict[str, str], door: Installation) -> None:
    answer = await door.get("/receipts/export", **query)

    assert (400, [*query]) == (
        answer.status_code, [one["field"] for one in answer.json()["error"]["details"]]
    )  # fmt: skip


async def test_export_needs_the_scope_read(door: Installation) -> None:
    org_id = await make.org(door.database)
    secret = await make.key(door.database, org_id, scopes=[Scope.WRITE])

    assert 403 == (await door.get("/receipts/export", secret=secret)).status_code


async def test_an_org_has_two_exports_at_once(database_url: str, tmp_path: Path) -> None:
    async with stocked(database_url, tmp_path) as service:
        org_id = (await service.get("/receipts")).json()["data"][0]["org_id"]
        running = service.services.exports.running
        running[org_id] = 2
        refused = await service.get("/receipts/export")
        other = await make.key(service.database, await make.org(service.database))
        served = await service.get("/receipts/export", secret=other)
        running[org_id] = 1
        again = await service.get("/receipts/export")

    assert [503, 200, 200] == [one.status_code for one in (refused, served, again)]
    assert refused.headers["retry-after"]
