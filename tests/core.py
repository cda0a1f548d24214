"""The services without web or queue: enqueued jobs are recorded, and tests run them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import select

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Reader
from recibo.lib.moving_average import MovingAverage
from recibo.schemas.actor import Actor
from recibo.schemas.ids import ReceiptId
from recibo.services.reading.extraction import Capacity, Extraction, Submitted
from recibo.services.reading.fair_queue import Job
from recibo.services.reading.upload_limits import Arrivals
from recibo.store import semaphores, tables, worker_registry
from recibo.store.blobs import Blobs, Folder
from recibo.store.db import Database
from recibo.store.pubsub import InProcess
from recibo.worker.periodic_tasks import PeriodicTasks
from recibo.worker.tasks import Tasks
from tests import make


@dataclass
class RecordingEnqueuer:
    """Records the jobs that it is given; raises `error` if that is set."""

    added: list[ReceiptId] = field(default_factory=list)
    error: Exception | None = None

    async def add_readings(self, pending: Sequence[Job]) -> None:
        """Record the receipts."""
        if self.error is not None:
            raise self.error
        self.added += [one.receipt_id for one in pending]


@dataclass(frozen=True, slots=True)
class Core:
    """The parts that accept and process uploads."""

    database: Database
    folder: Path
    blobs: Blobs
    carrier: RecordingEnqueuer
    extraction: Extraction
    tasks: Tasks
    periodic_tasks: PeriodicTasks

    async def submit(self, actor: Actor, text: str = "receipt") -> Submitted:
        """Upload a file with this text."""
        path = self.folder / f"upload-{text}"
        path.write_bytes(make.jpeg(text))
        async with self.extraction.submitted(actor, make.upload(path)) as submitted:
            return submitted

    async def row(self, receipt_id: ReceiptId) -> tables.Receipt:
        """Return a receipt's row."""
        async with self.database.read() as session:
            query = select(tables.Receipt).where(tables.Receipt.id == receipt_id)
            return (await session.execute(query)).scalar_one()

    async def held(self) -> list[tuple[int, int, int]]:
        """Return what each month holds: receipts held, receipts completed, credits."""
        async with self.database.read() as session:
            months = (await session.execute(select(tables.UsageMonth))).scalars()
            return [(one.held, one.completed, one.credits) for one in months]

    def files(self) -> list[Path]:
        """Return the stored files."""
        return list((self.folder / "files").glob("??/*"))


def build(
    database: Database, folder: Path, *, reader: Reader | None = None, blobs: Blobs | None = None
) -> Core:
    """Return the connected parts."""
    reader = reader or FakeReader()
    (folder / "files").mkdir(exist_ok=True)
    blobs = blobs or Folder(folder / "files")
    pubsub, carrier, pace = InProcess(), RecordingEnqueuer(), MovingAverage(2)
    return Core(
        database=database,
        folder=folder,
        blobs=blobs,
        carrier=carrier,
        extraction=Extraction(
            database=database,
            blobs=blobs,
            pubsub=pubsub,
            reader=reader,
            carrier=carrier,
            capacity=Capacity(worker_registry.InMemory(), 300),
            slots=semaphores.InMemory(),
            wait_seconds=25,
            arrivals=Arrivals(semaphores.InMemory()),
        ),
        tasks=Tasks(database, blobs, pubsub, reader, pace, carrier),
        periodic_tasks=PeriodicTasks(database, blobs, carrier),
    )
