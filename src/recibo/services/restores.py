"""Restores a backup into an empty installation, which gets a new id.

All is checked before anything is written. The files come first, under a mark that keeps servers
out, and the database last, in one step: what breaks off is begun again.
"""

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncSession

from recibo.lib import clock, ids
from recibo.schemas.ids import ReceiptId
from recibo.schemas.states import AuditAction
from recibo.services import backups, installation
from recibo.services.backups import BackupError, Manifest
from recibo.services.installation import Marker
from recibo.store import db, folders, table_files
from recibo.store.blobs import Blobs
from recibo.store.db import Session
from recibo.store.tables import Installation

_SQLITE = "sqlite:///"


def refuse_other_key(manifest: Manifest, secrets: Sequence[str]) -> None:
    """Raise BackupError unless one of these secrets is the one that the backup is sealed by."""
    if not any(backups.fingerprint(one) == manifest.key_fingerprint for one in secrets):
        message = (
            "RECIBO_SECRET_KEY is not the one that the backup was made with, and what it sealed "
            "could never be decrypted; set the same, or add it to RECIBO_PREVIOUS_SECRET_KEYS."
        )
        raise BackupError(message)


async def restore(manifest: Manifest, folder: Path, *, url: str, blobs: Blobs) -> str:
    """Restore a backup that was checked; return the new installation's id.

    Raises:
        BackupError: there are data already.
    """
    await refuse_existing(url, blobs)
    own_id = ids.new("ins")
    await blobs.write_marker(Marker(own_id, is_restoring=True).dumped())
    await _restore_files(manifest, folder, blobs)
    if url.startswith(_SQLITE):
        await _restore_sqlite(manifest, folder, Path(url.removeprefix(_SQLITE)), own_id)
    else:
        await _restore_tables(manifest, folder, url, own_id)
    await blobs.write_marker(Marker(own_id).dumped())
    return own_id


async def refuse_existing(url: str, blobs: Blobs) -> None:
    """Raise BackupError if the target of a restore is not empty."""
    if _is_there(url):
        async with db.snapshot(url) as connection:
            if filled := await table_files.nonempty_tables(connection):
                message = f"the database is not empty ({', '.join(filled[:5])}); name a new one."
                raise BackupError(message)
    marker = await installation.marker_of(blobs)
    if marker is not None and marker.is_restoring:
        return
    if (await blobs.list_files("")).files:
        message = "the storage is not empty; name a new folder or prefix by RECIBO_STORAGE_URL."
        raise BackupError(message)


async def _restore_files(manifest: Manifest, folder: Path, blobs: Blobs) -> None:
    table = next(one for one in manifest.tables if one.name == "receipts")
    for one in backups.present(manifest, table, folder):
        with backups.path_of(folder, one.id).open("rb") as file:
            await blobs.put(ReceiptId(one.id), file)


async def _restore_sqlite(manifest: Manifest, folder: Path, path: Path, own_id: str) -> None:
    """Build the database under a temporary name, then move it into place."""
    partial = path.with_name(f"{path.name}.restoring")
    _remove(partial)
    await _restore_tables(manifest, folder, f"{_SQLITE}{partial}", own_id)
    # An empty database may exist; SQLite would apply the rest of its log to the new one.
    _remove(path)
    partial.replace(path)
    folders.sync(path.parent)


async def _restore_tables(manifest: Manifest, folder: Path, url: str, own_id: str) -> None:
    async with db.open_for_restore(url) as connection:
        if await db.revision(connection) is not None:
            # Tables without rows, perhaps of another revision.
            await table_files.drop_all(connection)
        await db.upgrade(connection, manifest.revision)
        await table_files.read_all(connection, manifest.tables, folder / backups.TABLES)
        await db.upgrade(connection)
        async with AsyncSession(connection) as session:
            _name(Session(session), own_id, manifest)
            # The transaction around it goes on.
            await session.commit()


def _name(session: Session, own_id: str, manifest: Manifest) -> None:
    session.add(Installation(row=1, id=own_id, created_at=clock.now()))
    after = {"backup_of": manifest.created_at, "files": manifest.files.count}
    installation.record(session, AuditAction.INSTALLATION_RESTORED, own_id, after=after)


def _is_there(url: str) -> bool:
    return not url.startswith(_SQLITE) or Path(url.removeprefix(_SQLITE)).is_file()


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
