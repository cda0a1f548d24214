"""Backups: all tables of one moment and the files of their receipts, in a folder.

The manifest is written last, so a folder without one is no backup. Files are kept before their rows
are committed and never change, so those of the receipts seen are there, unless they are purged
meanwhile.
"""

import asyncio
import hashlib
import hmac
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any

from recibo.lib import clock, ids
from recibo.schemas.ids import ReceiptId
from recibo.services.reading import receipts
from recibo.store import db, folders, table_files
from recibo.store.blobs import Blobs, key_of
from recibo.store.db import Database
from recibo.store.table_files import TableFile

#: Grows when older versions could not read it.
FORMAT = 1
MANIFEST = "manifest.json"
TABLES, FILES, SECRET = "tables", "files", "secret_key"
# A bucket answers one after the other in tens of milliseconds each.
_COPIED_AT_ONCE = 16
_FINGERPRINT = b"recibo: the key of a backup"


class BackupError(ValueError):
    """A backup cannot be made, or is none; the message says why."""


@dataclass(frozen=True, slots=True)
class File:
    """The file of a receipt, as its row knows it."""

    id: ReceiptId
    sha256: str
    size: int


@dataclass(slots=True)
class Files:
    """What became of the files of a backup."""

    count: int = 0
    size: int = 0
    #: Purged while the backup was made; their rows are in it.
    purged: list[str] = field(default_factory=list)
    #: Not there although their receipts are.
    missing: list[str] = field(default_factory=list)
    #: Files that differ from the upload, by their SHA-256.
    damaged: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds."""

    revision: str
    tables: list[TableFile]
    files: Files
    key_fingerprint: str
    has_secret: bool
    created_at: str

    def stored(self) -> dict[str, Any]:
        """Return it as it is written."""
        return {
            "format": FORMAT,
            "recibo": metadata.version("recibo"),
            "created_at": self.created_at,
            "revision": self.revision,
            "key_fingerprint": self.key_fingerprint,
            "has_secret": self.has_secret,
            "tables": [one.stored() for one in self.tables],
            "files": {name: getattr(self.files, name) for name in Files.__slots__},
        }


async def back_up(
    database: Database, blobs: Blobs, folder: Path, *, url: str, secret: str, own_secret: bool
) -> Manifest:
    """Write a backup into a new or empty folder; a server may be running.

    Args:
        database: Used to look up receipts whose files disappear during the backup.
        blobs: The files.
        folder: Where to.
        url: The database's URL.
        secret: What signs and seals.
        own_secret: Whether it is the generated one, which belongs into the backup.

    Raises:
        BackupError: the folder is not empty.
    """
    _prepare(folder)
    async with db.snapshot(url) as connection:
        revision = await db.revision(connection)
        written = await table_files.write_all(connection, folder / TABLES)
    files = Files()
    by_name = {one.name: one for one in written}
    for some in _batched(files_of(by_name["receipts"], folder), _COPIED_AT_ONCE):
        await asyncio.gather(*(_copy(database, blobs, one, folder, files) for one in some))
    if own_secret:
        folders.write(folder / SECRET, secret.encode())
    manifest = Manifest(
        revision=revision or "",
        tables=written,
        files=files,
        key_fingerprint=fingerprint(secret),
        has_secret=own_secret,
        created_at=clock.now().isoformat(),
    )
    # One call for a million files and the names of their folders.
    await asyncio.to_thread(os.sync)
    folders.write(folder / MANIFEST, json.dumps(manifest.stored(), indent=1).encode())
    return manifest


def fingerprint(secret: str) -> str:
    """Return a hash that identifies a secret without revealing it."""
    return hmac.new(secret.encode(), _FINGERPRINT, hashlib.sha256).hexdigest()[:32]


def files_of(table: TableFile, folder: Path) -> Iterator[File]:
    """Yield the files that the receipts of a backup refer to."""
    for row in table_files.read_rows(table, folder / TABLES):
        if not ids.is_well_formed(str(row["id"])):
            # It names a file, here and where it is restored.
            message = f"the backup cannot be used: {row['id']!r} is no id of a receipt."
            raise BackupError(message)
        yield File(ReceiptId(row["id"]), row["file_sha256"], row["file_size"])


def loaded(folder: Path) -> Manifest:
    """Return the manifest of a backup.

    Raises:
        BackupError: the folder holds no whole backup, or one of a newer version.
    """
    try:
        stored: Mapping[str, Any] = json.loads((folder / MANIFEST).read_bytes())
        if stored["format"] != FORMAT or not db.is_known_revision(stored["revision"]):
            message = f"the backup was made by a newer version ({stored['recibo']}); install that."
            raise BackupError(message)
        return Manifest(
            revision=stored["revision"],
            tables=[TableFile.loaded(one) for one in stored["tables"]],
            files=Files(**stored["files"]),
            key_fingerprint=stored["key_fingerprint"],
            has_secret=stored["has_secret"],
            created_at=stored["created_at"],
        )
    except FileNotFoundError:
        message = f"{folder} is no backup, or one that broke off: it has no {MANIFEST}."
        raise BackupError(message) from None
    except (KeyError, TypeError, json.JSONDecodeError) as e:
        message = f"{folder / MANIFEST} cannot be read."
        raise BackupError(message) from e


def check(manifest: Manifest, folder: Path) -> None:
    """Verify every byte of a backup.

    Raises:
        BackupError: something is missing or damaged.
    """
    receipts_table = None
    for table in manifest.tables:
        try:
            table_files.check(table, folder / TABLES)
        except ValueError as e:
            message = f"the backup cannot be used: {e}."
            raise BackupError(message) from e
        receipts_table = table if table.name == "receipts" else receipts_table
    if receipts_table is None:
        message = "the backup cannot be used: it has no receipts.jsonl."
        raise BackupError(message)
    for one in present(manifest, receipts_table, folder):
        if path_of(folder, one.id).is_symlink():
            # A link could expose any file of this machine to the owner of the receipt.
            message = f"the backup cannot be used: the file of {one.id} is a link."
            raise BackupError(message)
        if one.id not in manifest.files.damaged and _sha256(folder, one.id) != one.sha256:
            message = f"the backup cannot be used: the file of {one.id} is missing or damaged."
            raise BackupError(message)


def present(manifest: Manifest, table: TableFile, folder: Path) -> Iterator[File]:
    """Yield the files that a backup contains."""
    absent = {*manifest.files.purged, *manifest.files.missing}
    return (one for one in files_of(table, folder) if one.id not in absent)


def path_of(folder: Path, receipt_id: ReceiptId) -> Path:
    """Return where the file of a receipt is in a backup."""
    return folder / FILES / key_of(receipt_id)


def _prepare(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = f"{folder} is not empty; name a new folder for each backup."
        raise BackupError(message)
    for one in (folder, folder / TABLES, folder / FILES):
        folders.make(one)
    folders.restrict([folder])


async def _copy(database: Database, blobs: Blobs, one: File, folder: Path, files: Files) -> None:
    content = await blobs.content(one.id)
    if content is None:
        async with database.read() as session:
            is_there = await receipts.existing(session, [one.id])
        (files.missing if is_there else files.purged).append(one.id)
        return
    path = path_of(folder, one.id)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        async for chunk in content.chunks:
            file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
    files.count += 1
    files.size += size
    if digest.hexdigest() != one.sha256:
        files.damaged.append(one.id)


def _sha256(folder: Path, receipt_id: ReceiptId) -> str | None:
    try:
        with path_of(folder, receipt_id).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _batched(files: Iterator[File], count: int) -> Iterator[Sequence[File]]:
    while some := list(islice(files, count)):
        yield some
