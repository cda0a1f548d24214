"""Exports of the portal: tables that people open in a spreadsheet."""

import csv
import io
import zipfile
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import openpyxl

from recibo.adapters.fake_reader import FakeReader
from recibo.extract.model import Details, Extracted, Payment, PaymentMethod, TaxLine
from recibo.schemas.ids import OrgId
from tests import make
from tests.portal import forms, pages, receipt_pages
from tests.portal.receipt_pages import PATH, RECEIPT

READER = FakeReader({RECEIPT: receipt_pages.make_reading()})


def rows_of(content: bytes, separator: str) -> list[dict[str, str]]:
    """Return the rows of a file that is marked as UTF-8."""
    assert content.startswith(b"\xef\xbb\xbf")
    text = content.decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator))


async def test_tables_are_in_the_language_of_the_reader(sqlite_url: str, tmp_path: Path) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path, READER) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        client = service.stranger
        portuguese = {"Accept-Language": "pt-BR"}
        english = rows_of((await client.get(f"{PATH}/export")).content, ",")
        answer = await client.get(f"{PATH}/export", headers=portuguese)
        items = await client.get(f"{PATH}/export?rows=items", headers=portuguese)
        book = await client.get(f"{PATH}/export?format=xlsx")

    (row,) = english
    assert ("To review", "42.50", "2026-03-14 08:17:42") == (
        row["Review status"], row["Total"], row["Issued"],
    )  # fmt: skip
    # Spreadsheets know no offsets.
    assert {"Uploaded (UTC)", "Last change (UTC)"} <= row.keys()
    assert ("Receipt", "Standard", owner.email) == (
        row["Type"], row["Accuracy"], row["Uploaded by"],
    )  # fmt: skip
    assert not [heading for heading in row if "_" in heading]
    (row,) = rows_of(answer.content, ";")
    assert ("Para revisar", "42,50", "BRL") == (
        row["Situação da revisão"], row["Valor total"], row["Moeda"],
    )  # fmt: skip
    (item,) = rows_of(items.content, ";")
    assert ("Pão francês", "0,535", "10,11") == (
        item["Descrição"], item["Quantidade"], item["Total do item"],
    )  # fmt: skip
    sheet = openpyxl.load_workbook(io.BytesIO(book.content)).active
    head, values = list(sheet.values)
    assert ("To review", 42.5) == (
        values[head.index("Review status")], values[head.index("Total")],
    )  # fmt: skip


async def test_lists_are_text_in_the_language_of_the_reader(
    sqlite_url: str, tmp_path: Path
) -> None:
    details = Details(
        taxes=(Extracted(TaxLine("ICMS", Decimal(18), None, Decimal("7.42")), 0.9, "ICMS"),),
        payments=(
            Extracted(Payment(PaymentMethod.PIX, Decimal("40.00")), 0.9, "PIX"),
            Extracted(Payment(PaymentMethod.CREDIT_CARD, None, None, "4242"), 0.9, "CARD"),
        ),
    )
    reader = FakeReader({RECEIPT: replace(receipt_pages.make_reading(), details=details)})
    async with receipt_pages.run_service(sqlite_url, tmp_path, reader) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        secret = await make.key(service.database, OrgId(owner.org_id))
        changes = {"category": "fuel", "merchant_name": "Posto", "metadata": {"trip": "7"}}
        await service.patch(receipt_id, changes, secret=secret)
        exports = [
            (await service.stranger.get(f"{PATH}/export", headers={"Accept-Language": one})).content
            for one in ("en", "pt-BR")
        ]

    (english,), (portuguese,) = rows_of(exports[0], ","), rows_of(exports[1], ";")
    assert ("ICMS 18 % 7.42", "Pix 40.00; Credit card *4242", "Category, Merchant") == (
        english["Taxes by rate"], english["Payments"], english["Corrected fields"],
    )  # fmt: skip
    assert "trip: 7" in english["Tags"]
    assert ("ICMS 18 % 7,42", "Pix 40,00; Cartão de crédito *4242") == (
        portuguese["Impostos por alíquota"], portuguese["Pagamentos"],
    )  # fmt: skip
    assert "Categoria, Estabelecimento" == portuguese["Campos corrigidos"]


async def test_files_of_an_archive_are_named_by_date_merchant_and_total(
    sqlite_url: str, tmp_path: Path
) -> None:
    hostile = Extracted("../Pão & Cia\x7f.", 0.9, "Pão")
    reader = FakeReader({RECEIPT: replace(receipt_pages.make_reading(), merchant_name=hostile)})
    async with receipt_pages.run_service(sqlite_url, tmp_path, reader) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        answer = await service.stranger.get(f"{PATH}/export?format=zip")

    assert 200 == answer.status_code, answer.content[:300]
    names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
    assert [f"files/2026-03-14_Pão-Cia_42.50-BRL_{receipt_id}.jpg", "receipts.csv"] == names


async def test_dates_of_the_inbox_include_the_last_day(sqlite_url: str, tmp_path: Path) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path, READER) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        client = service.stranger
        until = [
            len(receipt_pages.listed_ids(await client.get(f"{PATH}?until=2026-03-{day}")))
            for day in (13, 14)
        ]
        exported = (await client.get(f"{PATH}/export?after=2026-03-14&until=2026-03-14")).content
        page = await forms.get_page(service, PATH)
        # This month, last month, this quarter, this year.
        presets = [one for one in page.links if "after=" in one]
        chosen = pages.parse(await client.get(presets[0]))

    assert [0, 1] == until
    assert 1 == len(rows_of(exported, ","))
    assert len(presets) == 4
    assert "Date This month" in chosen.text
