"""Exports of receipts: CSV, XLSX, JSON Lines, or a ZIP with the uploaded files.

Receipts are read 500 at a time, so that the memory does not grow with their number.
"""

import asyncio
import codecs
import io
import json
import zipfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import xlsxwriter

from recibo.errors import Overloaded, ValidationFailed
from recibo.extract.document import formats
from recibo.lib import clock, csv_lines
from recibo.schemas.actor import Actor
from recibo.schemas.ids import ReceiptId
from recibo.schemas.receipts import AMOUNTS, LineItem, Receipt
from recibo.schemas.states import AuditAction, ResourceType
from recibo.services import audit
from recibo.services.pagination import PageRequest
from recibo.services.reading import receipt_lists, receipts
from recibo.services.reading.export_looks import Look
from recibo.services.reading.export_sheets import Kind, Record, Sheet
from recibo.services.reading.receipt_lists import Filters, ReceiptPage
from recibo.store.blobs import CHUNK_BYTES, Blobs
from recibo.store.db import Database


class Format(StrEnum):
    """The file formats."""

    CSV = "csv"
    XLSX = "xlsx"
    JSONL = "jsonl"
    ZIP = "zip"


class Rows(StrEnum):
    """What a row of a table is."""

    RECEIPTS = "receipts"
    ITEMS = "items"


MEDIA_TYPES: Mapping[Format, str] = {
    Format.CSV: "text/csv; charset=utf-8",
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    Format.JSONL: "application/jsonl",
    Format.ZIP: "application/zip",
}

_BATCH = 500
# Each takes a connection, and an XLSX file as much processor time as a thousand small requests.
_AT_ONCE, _OF_ORG_AT_ONCE = 4, 2
_RETRY_AFTER_S = 10
# A sheet has 1,048,576 rows, the first of which has the names of the columns.
_MAX_SHEET_ROWS = 1_048_575

_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys((*AMOUNTS, "unit_price"), Kind.MONEY),
    **dict.fromkeys(("qty", "tax_rate"), Kind.NUMBER),
    **dict.fromkeys(("issued_at", "created_at", "updated_at"), Kind.TIME),
    "due_date": Kind.DAY,
}
_AMOUNTS = frozenset(name for name, kind in _KINDS.items() if kind in (Kind.MONEY, Kind.NUMBER))
_TIMES = frozenset(name for name, kind in _KINDS.items() if kind is Kind.TIME)
_RECEIPT_COLUMNS = (
    "id", "status", "type", "merchant_name", "merchant_tax_id", "issued_at", "total", "subtotal",
    "tax", "currency", "document_number", "document_key", "category", "confidence", "review",
    "corrected_fields", "duplicates", "metadata", "accuracy", "created_by", "version",
    "created_at", "updated_at", "merchant_address", "customer_name", "customer_tax_id", "due_date",
    "discount", "tip", "service_charge", "rounding", "taxes", "payments",
)  # fmt: skip
_ITEM_FIELDS = tuple(LineItem.model_fields)
_ITEM_COLUMNS = (
    "id", "merchant_name", "merchant_tax_id", "issued_at", "currency", "document_number",
    "category", *_ITEM_FIELDS,
)  # fmt: skip
_COLUMNS = {Rows.RECEIPTS: _RECEIPT_COLUMNS, Rows.ITEMS: _ITEM_COLUMNS}

_json = partial(json.dumps, ensure_ascii=False)
# How the API writes what is more than one value into one cell.
_NESTED: Mapping[str, Callable[[Any], str]] = {
    "corrected_fields": " ".join, "duplicates": " ".join,
    "metadata": _json, "taxes": _json, "payments": _json,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is exported, and how."""

    format: Format = Format.CSV
    rows: Rows = Rows.RECEIPTS
    filters: Filters = field(default_factory=Filters)
    look: Look = field(default_factory=Look)

    @property
    def filename(self) -> str:
        """The name of the file, with the current date."""
        return f"{self.rows}-{clock.now():%Y-%m-%d}.{self.format}"


@dataclass(frozen=True, slots=True)
class Exports:
    """Writes exports."""

    database: Database
    blobs: Blobs
    #: The folder of temporary files.
    spool: Path
    cursor_key: str
    #: How many exports of each org are running.
    running: Counter[str] = field(default_factory=Counter)

    async def start(self, actor: Actor, wanted: Wanted) -> AsyncIterator[bytes]:
        """Record the export in the audit log and return the content of the file.

        Raises:
            Overloaded: too many exports are running.
            ValidationFailed: there are more rows than a sheet has.
        """
        self.require_room(actor)
        async with self.database.write() as session:
            chosen = {name: value for name, value in asdict(wanted.filters).items() if value}
            filters = json.loads(json.dumps(chosen, default=str))
            after = {"format": wanted.format, "rows": wanted.rows, "filters": filters}
            resource = (ResourceType.RECEIPT, None)
            audit.record(
                session, actor, AuditAction.RECEIPTS_EXPORTED, resource=resource, after=after
            )
        content = self.held(actor, self._content(actor, wanted))
        # What is refused is refused before the answer begins.
        first = await anext(content, b"")
        return _chained(first, content)

    def require_room(self, actor: Actor) -> None:
        """Raise Overloaded if too many exports are running, also of other lists."""
        is_full = self.running.total() >= _AT_ONCE
        if is_full or self.running[actor.org_id] >= _OF_ORG_AT_ONCE:
            raise Overloaded(retry_after=_RETRY_AFTER_S)

    async def held(self, actor: Actor, content: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield the content of an export, which counts as running meanwhile."""
        self.running[actor.org_id] += 1
        try:
            async for chunk in content:
                yield chunk
        finally:
            self.running[actor.org_id] -= 1

    def _content(self, actor: Actor, wanted: Wanted) -> AsyncIterator[bytes]:
        batches, table = self._batches(actor, wanted.filters), _Table(wanted.rows, wanted.look)
        match wanted.format:
            case Format.CSV:
                return _csv(batches, table)
            case Format.XLSX:
                return self._xlsx(batches, table)
            case Format.JSONL:
                return _jsonl(batches)
            case Format.ZIP:
                return self._zip(actor, batches, table)

    async def _batches(self, actor: Actor, filters: Filters) -> AsyncIterator[Sequence[Receipt]]:
        cursor: str | None = None
        while True:
            wanted = PageRequest(_BATCH, cursor, self.cursor_key)
            # A client that hangs up must not cancel a query: its connection would be lost.
            page = await asyncio.shield(self._page(actor, filters, wanted))
            yield page.data
            cursor = page.next_cursor
            if cursor is None:
                return

    async def _page(self, actor: Actor, filters: Filters, wanted: PageRequest) -> ReceiptPage:
        async with self.database.read() as session:
            return await receipt_lists.page(session, actor, filters, wanted=wanted)

    async def _xlsx(
        self, batches: AsyncIterator[Sequence[Receipt]], table: "_Table"
    ) -> AsyncIterator[bytes]:
        with TemporaryFile(dir=self.spool) as file:
            options = {"constant_memory": True, "tmpdir": str(self.spool)}
            workbook = xlsxwriter.Workbook(file, options)
            try:
                await _fill_sheet(workbook, batches, table)
            finally:
                # It also closes the temporary files of a sheet that was not finished.
                await asyncio.to_thread(workbook.close)
            file.seek(0)
            while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
                yield chunk

    async def _zip(
        self, actor: Actor, batches: AsyncIterator[Sequence[Receipt]], table: "_Table"
    ) -> AsyncIterator[bytes]:
        """Yield an archive of the uploaded files and a CSV file of the receipts."""
        written = _Stream()
        with TemporaryFile(dir=self.spool) as spooled:
            spooled.write(table.head)
            with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
                async for batch in batches:
                    spooled.write(table.lines(batch))
                    names = {one.id: table.look.file_name(one) for one in batch}
                    async for chunk in self._files(actor, names, archive, written):
                        yield chunk
                spooled.seek(0)
                with archive.open(f"{table.rows}.csv", "w", force_zip64=True) as entry:
                    while chunk := spooled.read(CHUNK_BYTES):
                        entry.write(chunk)
                        yield written.take()
            yield written.take()

    async def _files(
        self,
        actor: Actor,
        names: Mapping[str, str],
        archive: zipfile.ZipFile,
        written: "_Stream",
    ) -> AsyncIterator[bytes]:
        async with self.database.read() as session:
            types = await receipts.media_types(session, actor, list(names))
        for receipt_id, media_type in types.items():
            content = await self.blobs.content(ReceiptId(receipt_id))
            if content is None:
                continue
            path = f"files/{names[receipt_id]}.{formats.EXTENSIONS[media_type]}"
            with archive.open(path, "w") as entry:
                async for chunk in content.chunks:
                    entry.write(chunk)
                    yield written.take()


async def _chained(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        if chunk:
            yield chunk


class _Stream(io.RawIOBase):
    """What an archive writes, until it is taken: it can be sent before the archive is complete."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, piece: Any) -> int:
        """Keep a piece."""
        self._pieces.append(bytes(piece))
        return len(piece)

    def take(self) -> bytes:
        """Return what was written since the last call."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


async def _jsonl(batches: AsyncIterator[Sequence[Receipt]]) -> AsyncIterator[bytes]:
    async for batch in batches:
        yield "".join(f"{receipt.model_dump_json()}\n" for receipt in batch).encode()


@dataclass(frozen=True, slots=True)
class _Table:
    """A CSV file of receipts or items."""

    rows: Rows
    look: Look

    @property
    def head(self) -> bytes:
        """The line with the headings."""
        mark = codecs.BOM_UTF8 if self.look.is_for_people else b""
        headings = [self.look.heading(column) for column in _COLUMNS[self.rows]]
        return mark + csv_lines.joined([headings], separator=self.look.separator)

    def lines(self, batch: Sequence[Receipt]) -> bytes:
        """Return the lines of some receipts."""
        records = (
            record for receipt in batch for record in _records(receipt, self.rows, self.look)
        )
        cells = ([self._cell(*cell) for cell in record.items()] for record in records)
        return csv_lines.joined(cells, separator=self.look.separator)

    def _cell(self, name: str, value: str | float | None) -> str:
        # Most cells of a row are empty.
        if value is None:
            return ""
        if name in _AMOUNTS or isinstance(value, float):
            return csv_cell(name, self.look.number(value))
        if name in _TIMES:
            return csv_cell(name, self.look.time(str(value)))
        return csv_cell(name, self.look.shown(name, value))


async def _csv(batches: AsyncIterator[Sequence[Receipt]], table: _Table) -> AsyncIterator[bytes]:
    yield table.head
    async for batch in batches:
        yield table.lines(batch)


def csv_cell(name: str, value: str | float | None) -> str:
    """Return a cell that no spreadsheet takes for a formula; `name` is that of its column."""
    return csv_lines.cell(value, is_amount=name in _AMOUNTS)


async def _fill_sheet(
    workbook: xlsxwriter.Workbook, batches: AsyncIterator[Sequence[Receipt]], table: _Table
) -> None:
    columns = {name: _KINDS.get(name) for name in _COLUMNS[table.rows]}
    sheet = Sheet(workbook, table.rows.value, columns, table.look)
    async for batch in batches:
        records = [
            record for receipt in batch for record in _records(receipt, table.rows, table.look)
        ]
        if sheet.count + len(records) > _MAX_SHEET_ROWS:
            message = f"holds {_MAX_SHEET_ROWS:,} rows at most; narrow the filters, or take csv"
            raise ValidationFailed.of("format", message)
        await asyncio.to_thread(sheet.write, records)
    sheet.finish()


def _records(receipt: Receipt, rows: Rows, look: Look) -> Iterator[Record]:
    # Items take longer than all the rest.
    left_out = None if rows is Rows.ITEMS else {"line_items"}
    known = receipt.model_dump(mode="json", exclude=left_out)
    known["review"] = known["review"] and known["review"]["status"]
    for name, spelled in _NESTED.items():
        known[name] = look.texts.get(name, spelled)(known[name]) if known[name] else None
    parts = [{}] if rows is Rows.RECEIPTS else known["line_items"]
    for part in parts:
        yield {name: part.get(name, known.get(name)) for name in _COLUMNS[rows]}
