"""The in-memory reader behaves like the real one and returns the answers set."""

import asyncio
from pathlib import Path

import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind, Reader
from recibo.extract.document.formats import Kind
from recibo.extract.model import Accuracy, DocumentType, Receipt

FAILURE = Failure(FailureKind.UNREADABLE, "Nothing could be read.")
PDF = Kind("application/pdf", "pdf", 3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "receipt"
    path.write_bytes(b"Cafe")
    return path


async def read(
    reader: Reader, path: Path, *, hint: DocumentType | None = None
) -> Receipt | Failure:
    return await reader.read(path, hint=hint, accuracy=Accuracy.STANDARD, time_limit_s=1)


async def test_unknown_file_is_a_receipt_of_the_merchant_in_its_text(path: Path) -> None:
    receipt = await read(FakeReader(), path)

    assert isinstance(receipt, Receipt)
    assert receipt.merchant_name
    assert receipt.merchant_name.value == "Cafe"
    assert receipt.type.value is DocumentType.RECEIPT


async def test_hint_is_believed(path: Path) -> None:
    receipt = await read(FakeReader(), path, hint=DocumentType.NFE)

    assert isinstance(receipt, Receipt)
    assert receipt.type.value is DocumentType.NFE


async def test_answer_set_for_a_file_is_returned(path: Path) -> None:
    reader = FakeReader({b"Cafe": FAILURE}, kinds={b"Cafe": PDF})

    assert await read(reader, path) == FAILURE
    assert await reader.inspect(path) == PDF
    assert reader.seen == [b"Cafe"]
    assert reader.is_ready()


async def test_held_reading_ends_after_release(path: Path) -> None:
    reader = FakeReader()
    reader.hold()
    task = asyncio.create_task(read(reader, path))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(task), 0.05)
    reader.release()

    assert isinstance(await task, Receipt)
