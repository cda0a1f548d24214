"""`recibo admin files`: the trash listed and restored, files adopted."""

import asyncio
import re
from pathlib import Path

import pytest

from recibo.__main__ import main
from recibo.services import installation
from recibo.services.installation import Marker
from recibo.store import db, storage
from recibo.store.blobs import Blobs
from tests import sweeping


@pytest.fixture
def blobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Blobs:
    """The files of a migrated installation that the commands work on."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECIBO_DATA_DIR", str(tmp_path / "data"))
    assert main(["migrate"]) == 0
    blobs = storage.open_storage("", folder=tmp_path / "data" / "files", spool=tmp_path)
    agree(tmp_path, blobs)
    return blobs


def agree(tmp_path: Path, blobs: Blobs) -> str:
    """Do what a start does first."""

    async def agreed() -> str:
        database = db.Database(f"sqlite:///{tmp_path / 'data' / 'recibo.db'}")
        try:
            return await installation.agree(database, blobs)
        finally:
            await database.close()

    return asyncio.run(agreed())


def test_trash_is_listed_and_restored(blobs: Blobs, capsys: pytest.CaptureFixture[str]) -> None:
    receipt_id = asyncio.run(sweeping.orphan(blobs))
    asyncio.run(blobs.move_to_trash(receipt_id))

    assert main(["admin", "files"]) == 0
    listed = capsys.readouterr().out
    assert re.search(rf"{receipt_id}  \d{{4}}-\d\d-\d\d  6\n1 files in the trash, 6 bytes", listed)
    assert main(["admin", "files", "restore", receipt_id]) == 0
    assert asyncio.run(sweeping.is_kept(blobs, receipt_id))
    assert main(["admin", "files", "restore", receipt_id]) == 1
    assert receipt_id in capsys.readouterr().err


def test_all_of_the_trash_is_restored(blobs: Blobs, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        asyncio.run(blobs.move_to_trash(asyncio.run(sweeping.orphan(blobs))))

    assert main(["admin", "files", "restore", "--all"]) == 0
    assert "2 files restored" in capsys.readouterr().out
    assert main(["admin", "files", "restore"]) == 1


def test_files_of_another_installation_are_not_restored(
    blobs: Blobs, capsys: pytest.CaptureFixture[str]
) -> None:
    receipt_id = asyncio.run(sweeping.orphan(blobs))
    asyncio.run(blobs.move_to_trash(receipt_id))
    asyncio.run(blobs.write_marker(Marker("ins_production").dumped()))

    assert main(["admin", "files", "restore", receipt_id]) == 1
    assert "ins_production" in capsys.readouterr().err
    assert not asyncio.run(sweeping.is_kept(blobs, receipt_id))


def test_files_of_another_are_adopted_by_force_only(
    blobs: Blobs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(blobs.write_marker(Marker("ins_production").dumped()))
    with pytest.raises(installation.ForeignFilesError):
        agree(tmp_path, blobs)

    assert main(["admin", "files", "adopt"]) == 1
    assert "ins_production" in capsys.readouterr().err
    assert main(["admin", "files", "adopt", "--force"]) == 0
    assert agree(tmp_path, blobs) in capsys.readouterr().out
