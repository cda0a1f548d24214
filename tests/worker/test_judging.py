"""Receipts of older releases are judged and indexed in the background."""

from pathlib import Path

from sqlalchemy import delete, update

from recibo.adapters.fake_reader import FakeReader
from recibo.store.tables import Receipt, ReceiptWords
from recibo.worker.periodic_tasks import PeriodicTasks
from tests import installation, make, receipts
from tests.core import RecordingEnqueuer

DOCUMENTS = [make.jpeg("one"), make.jpeg("two")]
# What an older release did not know.
UNKNOWN = {
    "doubts": None,
    "duplicates": None,
    "review_status": None,
    "merchant_key": None,
    "confidence": None,
    "document_number": None,
}


async def test_older_receipts_get_review_duplicates_and_words(
    database_url: str, tmp_path: Path
) -> None:
    reader = FakeReader(dict.fromkeys(DOCUMENTS, receipts.sure()))
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        for document in DOCUMENTS:
            await service.extracted(document)
        listed = (await service.get("/receipts")).json()
        async with service.database.write() as session:
            await session.execute(update(Receipt).values(UNKNOWN))
            await session.execute(delete(ReceiptWords))
        unknown = (await service.get("/receipts")).json()
        tasks = PeriodicTasks(service.database, service.services.blobs, RecordingEnqueuer())
        await tasks.run_once()
        judged = (await service.get("/receipts")).json()
        found = (await service.get("/receipts", q="aurora", merchant="padaria aurora")).json()

    assert [None, None] == [one["review"] for one in unknown["data"]]
    assert listed == judged == found
    assert listed["data"][0]["duplicates"] == [listed["data"][1]["id"]]


async def test_receipt_that_cannot_be_judged_does_not_keep_others_from_it(
    database_url: str, tmp_path: Path
) -> None:
    reader = FakeReader(dict.fromkeys(DOCUMENTS, receipts.sure()))
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        first, second = [await service.extracted(document) for document in DOCUMENTS]
        async with service.database.write() as session:
            await session.execute(update(Receipt).values(UNKNOWN))
            broken = update(Receipt).where(Receipt.id == first["id"])
            await session.execute(broken.values(reading={"total": []}))
        tasks = PeriodicTasks(service.database, service.services.blobs, RecordingEnqueuer())
        await tasks.run_once()
        judged = (await service.get(f"/receipts/{second['id']}")).json()

    assert judged["review"]["status"] in {"ready", "needs_review"}
