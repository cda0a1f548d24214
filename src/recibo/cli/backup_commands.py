"""Admin commands for stored files and backups."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from recibo import startup
from recibo.schemas.states import AuditAction
from recibo.services import backups, installation, restores
from recibo.services.backups import Manifest
from recibo.services.installation import Marker
from recibo.settings import Settings, keep_secret, secret_key
from recibo.startup import StartError
from recibo.store import folder_lock, folders, storage
from recibo.store.blobs import Blobs
from recibo.store.db import Database, migrate


@dataclass(frozen=True, slots=True)
class OpenInstallation:
    """The open database and file storage of an installation."""

    database: Database
    blobs: Blobs


def list_trash(settings: Settings) -> int:
    """Print the files in the trash, one per line."""
    return startup.run(_list_trash(settings))


def restore_from_trash(settings: Settings, receipt_ids: Sequence[str], *, everything: bool) -> int:
    """Move files back to their places."""
    return startup.run(_restore_from_trash(settings, receipt_ids, everything=everything))


def adopt_files(settings: Settings, *, by_force: bool) -> int:
    """Mark the files as belonging to this database."""
    return startup.run(_adopt_files(settings, by_force=by_force))


def back_up(settings: Settings, folder: Path) -> int:
    """Write a backup into a folder."""
    return startup.run(back_up_to(settings, folder))


def restore(settings: Settings, folder: Path) -> int:
    """Restore a backup into an empty installation."""
    return startup.run(restore_from(settings, folder))


def blobs_of(settings: Settings) -> Blobs:
    """Return the storage of files."""
    return storage.open_storage(
        settings.storage_url.strip(), folder=settings.files_dir, spool=settings.spool_dir
    )


@asynccontextmanager
async def open_installation(settings: Settings) -> AsyncIterator[OpenInstallation]:
    """Open the database, migrated, and the file storage.

    Raises:
        StartError: there is no database.
    """
    if settings.is_embedded and not settings.has_database:
        message = (
            f"there is no database in {settings.data_dir.absolute()}; name the folder by "
            "RECIBO_DATA_DIR, or make one with `recibo migrate`."
        )
        raise StartError(message)
    await migrate(settings.database)
    folders.make(settings.spool_dir)
    database = Database(settings.database)
    try:
        yield OpenInstallation(database, blobs_of(settings))
    finally:
        await database.close()


async def _list_trash(settings: Settings) -> None:
    async with open_installation(settings) as own:
        count = size = 0
        async for one in own.blobs.list_trash():
            sys.stdout.write(f"{one.id}  {one.day}  {one.size}\n")
            count += 1
            size += one.size
    sys.stdout.write(f"{count} files in the trash, {size} bytes.\n")


async def _restore_from_trash(
    settings: Settings, receipt_ids: Sequence[str], *, everything: bool
) -> None:
    wanted = set(receipt_ids)
    if bool(wanted) == everything:
        message = "name the ids of files in the trash, or --all of them."
        raise StartError(message)
    async with open_installation(settings) as own:
        try:
            await installation.agree(own.database, own.blobs)
        except installation.ForeignFilesError as e:
            raise StartError(str(e)) from None
        # List first, because moving files changes the listing.
        found = [one async for one in own.blobs.list_trash() if everything or one.id in wanted]
        restored = [one.id for one in found if await own.blobs.restore(one)]
        await _record_restored(own.database, restored)
    sys.stdout.write(f"{len(restored)} files restored.\n")
    if missing := wanted.difference(restored):
        message = f"not in the trash, or in their place already: {', '.join(sorted(missing))}."
        raise StartError(message)


async def _record_restored(database: Database, restored: Sequence[str]) -> None:
    if not restored:
        return
    async with database.write() as session:
        own_id = await installation.ensure_id(session)
        after = {"count": len(restored), "first": list(restored[:100])}
        installation.record(session, AuditAction.FILES_RESTORED, own_id, after=after)


async def _adopt_files(settings: Settings, *, by_force: bool) -> None:
    # A running server could sweep these files meanwhile.
    alone = folder_lock.hold_lock(settings.data_dir) if settings.is_embedded else nullcontext()
    with alone:
        async with open_installation(settings) as own:
            try:
                before = await installation.marker_of(own.blobs)
            except installation.ForeignFilesError:
                before = Marker("unknown")
            await _refuse_foreign_files(own, before, by_force=by_force)
            await installation.record_adoption(own.database, before)
            own_id = await installation.adopt(own.database, own.blobs)
    sys.stdout.write(f"The files belong to installation {own_id} now, as the database does.\n")


async def _refuse_foreign_files(
    own: OpenInstallation, before: Marker | None, *, by_force: bool
) -> None:
    async with own.database.read() as session:
        own_id = await installation.id_of(session)
    contents = await installation.looked_into(own.database, own.blobs)
    if by_force or contents.are_known or (before and before.installation_id == own_id):
        return
    if contents.has_files:
        message = (
            "no receipt of this database knows any of these files; a sweep would take them for "
            "orphans. To adopt them all the same, add --force."
        )
        raise StartError(message)
    if before is not None:
        message = (
            f"the files are marked as those of installation {before.installation_id}, which would "
            "not start with them any more. To adopt them all the same, add --force."
        )
        raise StartError(message)


async def back_up_to(settings: Settings, folder: Path) -> None:
    """Write a backup into a new or empty folder."""
    if settings.is_embedded and not settings.has_database:
        message = f"there is no database in {settings.data_dir.absolute()}."
        raise StartError(message)
    database = Database(settings.database)
    try:
        if not await database.is_migrated():
            message = "the database is of another version; run `recibo migrate` first."
            raise StartError(message)
        manifest = await backups.back_up(
            database,
            blobs_of(settings),
            folder,
            url=settings.database,
            secret=secret_key(settings),
            own_secret=not settings.secret_key,
        )
    finally:
        await database.close()
    files = manifest.files
    for what, receipt_ids in (("missing", files.missing), ("damaged", files.damaged)):
        if receipt_ids:
            named = ", ".join(receipt_ids[:5])
            sys.stderr.write(f"recibo: {len(receipt_ids)} files are {what} ({named} ...).\n")
    rows = sum(one.rows for one in manifest.tables)
    sys.stdout.write(f"{rows} rows and {files.count} files ({files.size} bytes) in {folder}.\n")


async def restore_from(settings: Settings, folder: Path) -> None:
    """Restore a backup into an empty installation."""
    manifest = backups.loaded(folder)
    restores.refuse_other_key(manifest, _secrets(settings, folder, manifest))
    for one in (settings.data_dir, settings.spool_dir):
        folders.make(one)
    alone = folder_lock.hold_lock(settings.data_dir) if settings.is_embedded else nullcontext()
    with alone:
        blobs = blobs_of(settings)
        await restores.refuse_existing(settings.database, blobs)
        # Check every byte first, so that a damaged backup restores nothing.
        await asyncio.to_thread(backups.check, manifest, folder)
        if not settings.secret_key:
            keep_secret(settings, (folder / backups.SECRET).read_text("ascii"))
        own_id = await restores.restore(manifest, folder, url=settings.database, blobs=blobs)
    count = manifest.files.count
    sys.stdout.write(f"Restored {count} files and all rows as installation {own_id}.\n")


def _secrets(settings: Settings, folder: Path, manifest: Manifest) -> list[str]:
    """Return the secrets that the restored installation would have."""
    if settings.secret_key:
        return [settings.secret_key, *settings.older_secrets]
    if not manifest.has_secret:
        return settings.older_secrets
    restored = (folder / backups.SECRET).read_text("ascii")
    if settings.has_secret and secret_key(settings) != restored:
        message = f"{settings.data_dir} has another generated secret; name a new RECIBO_DATA_DIR."
        raise StartError(message)
    return [restored]
