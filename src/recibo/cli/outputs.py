"""The formats of `recibo extract`, on stdout or in a folder."""

import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Protocol

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recibo.cli import readings
from recibo.cli.inputs import Document
from recibo.cli.readings import Line
from recibo.lib import atomic_files, csv_lines, printable
from recibo.schemas.receipts import AMOUNTS, Reading

# Wide enough for every column where no terminal limits it.
_PIPE_WIDTH = 160
_LISTS = ("line_items", "taxes", "payments")
_CSV_COLUMNS = (
    "file",
    *(name for name in Reading.model_fields if name not in _LISTS),
    *_LISTS,
    "review",
    "error",
)


class Format(StrEnum):
    """The formats."""

    JSONL = "jsonl"
    JSON = "json"
    CSV = "csv"
    TABLE = "table"


class Output(Protocol):
    """Takes the lines of the files in their order."""

    def add(self, document: Document, line: Line, /) -> None:
        """Write the line of a document, or keep it until the end."""

    def end(self) -> None:
        """Write what was kept; called if all documents were added."""


def on_stdout(form: Format) -> Output:
    """Return an output that writes to stdout."""
    match form:
        case Format.JSONL:
            return JsonLines(sys.stdout.buffer)
        case Format.JSON:
            return JsonArray(sys.stdout.buffer)
        case Format.CSV:
            return Csv(sys.stdout.buffer)
        case Format.TABLE:
            return Rows()


class JsonLines:
    """One object a line."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def add(self, _: Document, line: Line, /) -> None:
        """Write the line."""
        _write(self._out, readings.to_json_line(line.fields))

    def end(self) -> None:
        """Do nothing: all is written."""


class JsonArray:
    """One array of objects."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._before = b"[\n"

    def add(self, _: Document, line: Line, /) -> None:
        """Write the object."""
        _write(self._out, self._before + readings.to_json(line.fields))
        self._before = b",\n"

    def end(self) -> None:
        """Close the array."""
        _write(self._out, b"[]\n" if self._before.startswith(b"[") else b"\n]\n")


class Csv:
    """One row a file, under the names of the columns."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        _write(out, csv_lines.joined([_CSV_COLUMNS]))

    def add(self, _: Document, line: Line, /) -> None:
        """Write the row."""
        cells = {**line.fields, "review": _review(line), "error": line.error or None}
        _write(self._out, csv_lines.joined([[_cell(name, cells) for name in _CSV_COLUMNS]]))

    def end(self) -> None:
        """Do nothing: all is written."""


class Rows:
    """A table for people. It is printed at the end, when the widths of its columns are known."""

    def __init__(self) -> None:
        self._table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in ("file", "date", "merchant"):
            self._table.add_column(name, overflow="fold")
        self._table.add_column("total", justify="right", no_wrap=True)
        self._table.add_column("review", overflow="fold")

    def add(self, _: Document, line: Line, /) -> None:
        """Keep the row."""
        reading, name = line.reading, str(line.fields["file"])
        if reading is None:
            cells = (name, "", "", "", f"failed: {line.error}")
        else:
            amount = " ".join(one for one in (reading.total, reading.currency) if one)
            date = (reading.issued_at or "")[:10]
            cells = (name, date, reading.merchant_name or "", amount, _review(line) or "")
        self._table.add_row(*(Text(printable.line(cell)) for cell in cells))

    def end(self) -> None:
        """Print the table."""
        width = None if sys.stdout.isatty() else _PIPE_WIDTH
        Console(file=sys.stdout, width=width).print(self._table)


class Folder:
    """A JSON file for each document, named like it, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names = set[Path]()

    def add(self, document: Document, line: Line, /) -> None:
        """Write the file; of a document that was not read, only say why."""
        if line.is_error:
            report(document, line.error)
            return
        atomic_files.write(self._free(document.place), readings.to_json(line.fields) + b"\n")

    def end(self) -> None:
        """Do nothing: all is written."""

    def _free(self, place: Path) -> Path:
        """Return a name that no other document of this run has."""
        path, number = self._folder / f"{place}.json", 2
        while path in self._names:
            path = self._folder / f"{place} ({number}).json"
            number += 1
        self._names.add(path)
        return path


class InFile:
    """A format that has one file for all documents, which appears when it is complete."""

    def __init__(self, path: Path, form: Format) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path, self._part = path, path.with_name(f".{path.name}.part")
        self._file = self._part.open("wb")
        self._inner = Csv(self._file) if form is Format.CSV else JsonLines(self._file)

    def add(self, document: Document, line: Line, /) -> None:
        """Write the line; of a document that was not read, also say why."""
        if line.is_error:
            report(document, line.error)
        self._inner.add(document, line)

    def end(self) -> None:
        """Give the file its name."""
        self._file.close()
        self._part.replace(self._path)


class Silent:
    """Prints nothing but errors: for a run whose renamed files are its output."""

    def add(self, document: Document, line: Line, /) -> None:
        """Say why a document was not read."""
        if line.is_error:
            report(document, line.error)

    def end(self) -> None:
        """Do nothing: there is nothing to write."""


def report(document: Document, problem: str) -> None:
    """Print what is wrong with a document to stderr."""
    name = printable.line(printable.file_name(document.name))
    sys.stderr.write(f"recibo: {name}: {problem}\n")


def _review(line: Line) -> str | None:
    """Return the fields to look at, and why."""
    if line.reading is None or not line.doubts:
        return None
    return ", ".join(f"{one.code} {one.field or ''}".rstrip() for one in line.doubts)


def _cell(name: str, cells: Mapping[str, object]) -> str:
    value = cells.get(name)
    if name in _LISTS:
        value = json.dumps(value, ensure_ascii=False) if value else None
    text = None if value is None else str(value)
    return csv_lines.cell(text, is_amount=name in AMOUNTS)


def _write(out: BinaryIO, content: bytes) -> None:
    out.write(content)
    out.flush()
