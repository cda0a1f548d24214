"""A database and its files belong to one installation, and are used with no other's."""

import io
from pathlib import Path

import pytest

from recibo.schemas.ids import ReceiptId
from recibo.services import installation
from recibo.services.installation import ForeignFilesError, Marker
from recibo.store import storage
from recibo.store.blobs import Blobs
from recibo.store.db import Database
from tests import make, sweeping


@pytest.fixture(params=["folder", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    """An empty storage, of each kind in turn."""
    url = "" if request.param == "folder" else request.getfixturevalue("bucket_url")
    return storage.open_storage(url, folder=tmp_path / "files", spool=tmp_path)


async def known(database: Database, blobs: Blobs) -> None:
    """Keep the file of a receipt, as a version without marks left it."""
    row = make.receipt(await make.actor(database))
    async with database.write() as session:
        session.add(row)
    await blobs.put(ReceiptId(row.id), io.BytesIO(b"bytes"))


async def refusal(database: Database, blobs: Blobs) -> str:
    """Return why the two are refused, in one line."""
    with pytest.raises(ForeignFilesError) as raised:
        await installation.agree(database, blobs)
    message = str(raised.value)
    assert "recibo admin files adopt" in message
    assert "\n" not in message
    return message


async def test_first_start_gives_both_one_id(database: Database, blobs: Blobs) -> None:
    first = await installation.agree(database, blobs)

    assert first == await installation.agree(database, blobs)
    assert Marker(first) == await installation.marker_of(blobs)


async def test_processes_that_start_for_the_first_time_at_once_agree(
    database: Database, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = blobs.read_marker
    others = list[str]()

    async def read_after_another() -> str | None:
        if not others:
            others.append("")
            others[0] = await installation.adopt(database, blobs)
        return await read()

    monkeypatch.setattr(blobs, "read_marker", read_after_another)

    assert await installation.agree(database, blobs) == others[0]


async def test_older_installation_is_adopted_with_its_files(
    database: Database, blobs: Blobs
) -> None:
    await known(database, blobs)
    await sweeping.orphan(blobs)

    assert Marker(await installation.agree(database, blobs)) == await installation.marker_of(blobs)


async def test_start_interrupted_between_row_and_marker_is_completed(
    database: Database, blobs: Blobs
) -> None:
    async with database.write() as session:
        own_id = await installation.ensure_id(session)

    assert own_id == await installation.agree(database, blobs)


async def test_fresh_database_is_refused_over_marked_files(
    database: Database, blobs: Blobs
) -> None:
    await blobs.write_marker(Marker("ins_production").dumped())

    assert "this database is new" in await refusal(database, blobs)
    assert Marker("ins_production") == await installation.marker_of(blobs)


async def test_fresh_database_is_refused_over_files_of_an_older_version(
    database: Database, blobs: Blobs
) -> None:
    await sweeping.orphan(blobs)

    assert "no receipt of this database knows the files" in await refusal(database, blobs)


async def test_database_is_refused_over_the_files_of_another(
    database: Database, blobs: Blobs
) -> None:
    await installation.agree(database, blobs)
    await blobs.write_marker(Marker("ins_production").dumped())

    assert "ins_production" in await refusal(database, blobs)


async def test_database_with_receipts_is_refused_over_a_folder_that_is_not_mounted(
    database: Database, blobs: Blobs, tmp_path: Path
) -> None:
    await known(database, blobs)
    await installation.agree(database, blobs)
    empty = storage.open_storage("", folder=tmp_path / "empty", spool=tmp_path)

    assert "is it mounted?" in await refusal(database, empty)


async def test_files_whose_mark_is_broken_are_refused(database: Database, blobs: Blobs) -> None:
    await blobs.write_marker("half a ma")

    assert ".installation" in await refusal(database, blobs)


async def test_adopted_files_are_not_refused(database: Database, blobs: Blobs) -> None:
    await blobs.write_marker(Marker("ins_production").dumped())
    await installation.adopt(database, blobs)

    assert Marker(await installation.agree(database, blobs)) == await installation.marker_of(blobs)
