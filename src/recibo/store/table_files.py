"""Database tables as JSON Lines files, one array per row, independent of the database engine."""

import datetime as dt
import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    inspect,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import TypeEngine

from recibo.store import tables
from recibo.store.columns import Money, UtcDateTime

# The state of a sweep belongs to its storage, and a restored database gets a new id.
_EXCLUDED = {"installation", "sweeps", "orphans"}
# SQLite keeps the full-text index in separate tables.
_FULL_TEXT = "receipt_words_fts"
_CONTINUE_NUMBERS = text(
    "SELECT setval(pg_get_serial_sequence('receipt_words', 'number'), max(number))"
    " FROM receipt_words HAVING max(number) IS NOT NULL"
)
_BATCH = 500
_NAME = re.compile("[a-z0-9_]+")
#: The names of column types in a backup; part of its format.
_KINDS: Mapping[str, TypeEngine[Any]] = {
    "time": UtcDateTime(),
    "money": Money(),
    "json": JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql"),
    "bool": Boolean(),
    "date": Date(),
    "int": BigInteger(),
    "float": Float(),
    "text": Text(),
}
# The first match wins.
_KIND_OF: Sequence[tuple[type[TypeEngine[Any]], str]] = (
    (UtcDateTime, "time"),
    (Money, "money"),
    (JSON, "json"),
    (Boolean, "bool"),
    (Date, "date"),
    (Integer, "int"),
    (Float, "float"),
    (String, "text"),
)


@dataclass(frozen=True, slots=True)
class TableFile:
    """The name, size, checksum and columns of a table's file."""

    name: str
    rows: int
    sha256: str
    #: The name and type of each column, in the order of the values.
    columns: tuple[tuple[str, str], ...]

    @property
    def file(self) -> str:
        """The file's name."""
        return f"{self.name}.jsonl"

    def stored(self) -> dict[str, Any]:
        """Return the manifest entry."""
        return asdict(self)

    @classmethod
    def loaded(cls, stored: Mapping[str, Any]) -> "TableFile":
        """Build it from a manifest entry."""
        columns = tuple((str(name), str(kind)) for name, kind in stored["columns"])
        return cls(str(stored["name"]), int(stored["rows"]), str(stored["sha256"]), columns)


async def write_all(connection: AsyncConnection, folder: Path) -> list[TableFile]:
    """Write each table to a file in a folder, referenced tables first."""
    return [
        await _write(connection, table, folder)
        for table in tables.Table.metadata.sorted_tables
        if table.name not in _EXCLUDED
    ]


def check(table: TableFile, folder: Path) -> None:
    """Raise ValueError unless the file is intact and has only known column types."""
    if not _NAME.fullmatch(table.name):
        # The name is also the file's name.
        message = f"{table.name!r} is no table's name"
        raise ValueError(message)
    digest, rows = hashlib.sha256(), 0
    try:
        with (folder / table.file).open("rb") as lines:
            for line in lines:
                digest.update(line)
                rows += 1
    except FileNotFoundError:
        message = f"{table.file} is missing"
        raise ValueError(message) from None
    if (rows, digest.hexdigest()) != (table.rows, table.sha256):
        message = f"{table.file} is damaged"
        raise ValueError(message)
    if unknown := {kind for _, kind in table.columns}.difference(_KINDS):
        message = f"{table.file} has columns of an unknown kind ({', '.join(sorted(unknown))})"
        raise ValueError(message)


def read_rows(table: TableFile, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, with each value converted to its column's type."""
    with (folder / table.file).open(encoding="ascii") as lines:
        for line in lines:
            yield {
                name: _decoded(kind, value)
                for (name, kind), value in zip(table.columns, json.loads(line), strict=True)
            }


async def read_all(connection: AsyncConnection, found: Sequence[TableFile], folder: Path) -> None:
    """Insert the rows of files into empty tables, at the schema revision of the backup."""
    for table in found:
        columns = [Column(name, _KINDS[kind]) for name, kind in table.columns]
        insert = Table(table.name, MetaData(), *columns).insert()
        batch = list[dict[str, Any]]()
        for row in read_rows(table, folder):
            batch.append(row)
            if len(batch) == _BATCH:
                await connection.execute(insert, batch)
                batch = []
        if batch:
            await connection.execute(insert, batch)
    if connection.dialect.name == "postgresql":
        # SQLite numbers new rows from the largest one; PostgreSQL asks a sequence.
        await connection.execute(_CONTINUE_NUMBERS)


async def nonempty_tables(connection: AsyncConnection) -> list[str]:
    """Return the names of tables with rows, which would conflict with a restore."""
    names = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
    found = []
    kept = {name for name in names if not name.startswith(_FULL_TEXT)}
    for name in sorted(kept - _EXCLUDED - {"alembic_version"}):
        query = text(f'SELECT EXISTS (SELECT 1 FROM "{name}")')  # noqa: S608 - of the catalog
        if (await connection.execute(query)).scalar_one():
            found.append(name)
    return found


async def drop_all(connection: AsyncConnection) -> None:
    """Drop all (empty) tables, so that those of another revision can be created."""
    names = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
    for name in names:
        await connection.execute(text(f'DROP TABLE "{name}" CASCADE'))


async def _write(connection: AsyncConnection, table: Table, folder: Path) -> TableFile:
    columns = tuple((column.name, _kind(column.type)) for column in table.columns)
    kinds = [kind for _, kind in columns]
    digest, rows = hashlib.sha256(), 0
    with (folder / f"{table.name}.jsonl").open("wb") as file:
        async for row in _streamed(connection, table):
            values = [_encoded(kind, value) for kind, value in zip(kinds, row, strict=True)]
            line = json.dumps(values, separators=(",", ":")).encode("ascii") + b"\n"
            file.write(line)
            digest.update(line)
            rows += 1
    return TableFile(table.name, rows, digest.hexdigest(), columns)


async def _streamed(connection: AsyncConnection, table: Table) -> AsyncIterator[Sequence[Any]]:
    async with connection.stream(select(table).execution_options(yield_per=_BATCH)) as result:
        async for row in result:
            yield row


def _kind(type_: TypeEngine[Any]) -> str:
    for known, kind in _KIND_OF:
        if isinstance(type_, known):
            return kind
    message = f"a backup knows no columns of the type {type_!r}"
    raise TypeError(message)


def _encoded(kind: str, value: Any) -> Any:
    if value is None:
        return None
    match kind:
        case "time" | "date":
            return value.isoformat()
        case "money":
            # Normalized, because databases differ in trailing zeros.
            return format(value.normalize(), "f")
        case _:
            return value


def _decoded(kind: str, value: Any) -> Any:
    if value is None:
        return None
    match kind:
        case "time":
            return dt.datetime.fromisoformat(value)
        case "date":
            return dt.date.fromisoformat(value)
        case "money":
            return Decimal(value)
        case _:
            return value
