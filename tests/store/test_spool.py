"""Cleanup of files that killed processes left in the spool."""

import datetime as dt
import os
from pathlib import Path

from recibo.lib import clock
from recibo.store import spool


def fill(folder: Path) -> None:
    """Write a new and an old file to a folder."""
    for name, age in (("young", dt.timedelta(minutes=1)), ("old", dt.timedelta(hours=2))):
        path = folder / name
        path.write_bytes(b"")
        changed = (clock.now() - age).timestamp()
        os.utime(path, (changed, changed))


def test_exclusive_folder_is_emptied(tmp_path: Path) -> None:
    fill(tmp_path)

    spool.clear(tmp_path, is_shared=False)

    assert [] == list(tmp_path.iterdir())


def test_shared_folder_keeps_new_files(tmp_path: Path) -> None:
    fill(tmp_path)

    spool.clear(tmp_path, is_shared=True)

    assert ["young"] == [path.name for path in tmp_path.iterdir()]
