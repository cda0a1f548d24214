"""Print what sweeping a folder of many files costs: seconds of work a portion, portions a pass.

python -m benchmarks.sweep_folder 1000000
"""

import asyncio
import datetime as dt
import resource
import sys
import tempfile
import time
from pathlib import Path

from recibo.lib import clock, ids
from recibo.schemas.ids import ReceiptId
from recibo.services import installation, orphans
from recibo.store import storage
from recibo.store.blobs import Blobs, key_of
from recibo.store.db import Database, migrate


def fill(folder: Path, count: int) -> None:
    """Make empty files of receipts."""
    for number in range(256):
        (folder / f"{number:02x}").mkdir()
    for _ in range(count):
        (folder / key_of(ReceiptId(ids.new("rcp")))).touch()


async def sweep(database: Database, blobs: Blobs) -> list[float]:
    """Sweep to the end of a pass; return the seconds of each portion."""
    seconds = list[float]()
    later = dt.timedelta(days=1)
    with clock.moved(later):
        await orphans.sweep(database, blobs)
    while True:
        later += dt.timedelta(minutes=30)
        with clock.moved(later):
            begun = time.perf_counter()
            swept = await orphans.sweep(database, blobs)
            seconds.append(time.perf_counter() - begun)
        if swept.is_aborted:
            return seconds


async def main(count: int) -> None:
    """No receipt knows any of the files, so the pass ends when too many are found."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        await migrate(url := f"sqlite:///{folder / 'recibo.db'}")
        blobs = storage.open_storage("", folder=folder / "files", spool=folder)
        database = Database(url)
        await installation.agree(database, blobs)
        fill(folder / "files", count)
        seconds = await sweep(database, blobs)
        await database.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{count} files: {len(seconds)} portions, the longest {max(seconds):.2f} s, {peak} MB")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
