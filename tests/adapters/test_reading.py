"""The real library in the reader's processes, and under the command."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recibo.adapters.reader import Failure, FailureKind, PoolReader
from recibo.extract.document.formats import Kind
from recibo.extract.model import Accuracy, Receipt
from recibo.schemas import receipts
from tests import make_documents, make_einvoice
from tests.make_einvoice import FACTUR_X, PAGE

RECEIPT = make_documents.till_receipt()
LONG_S = 240.0

HOSTILE = [
    (b"", FailureKind.INVALID_DOCUMENT),
    (b"TOTAL 10.00", FailureKind.UNSUPPORTED_FORMAT),
    (b"%PDF-1.7\nno more", FailureKind.UNREADABLE),
]


@pytest.fixture
async def reader() -> AsyncIterator[PoolReader]:
    reader = PoolReader(processes=1)
    yield reader
    await reader.aclose()


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


async def read(reader: PoolReader, path: Path) -> Receipt | Failure:
    return await reader.read(path, hint=None, accuracy=Accuracy.STANDARD, time_limit_s=LONG_S)


async def test_started_reader_reads_a_receipt(reader: PoolReader, tmp_path: Path) -> None:
    assert await reader.start() is None
    outcome = await read(reader, write(tmp_path, "receipt", RECEIPT.file()))

    assert isinstance(outcome, Receipt)
    wire = receipts.reading(outcome)
    assert (wire.total, wire.currency) == (RECEIPT.truth.total, RECEIPT.truth.currency)


async def test_kind_is_detected_by_content(reader: PoolReader, tmp_path: Path) -> None:
    path = write(tmp_path, "receipt.jpg", RECEIPT.pdf())

    assert await reader.inspect(path) == Kind("application/pdf", "pdf", 1)


async def test_embedded_invoice_is_read_and_a_huge_one_leaves_the_page(
    reader: PoolReader, tmp_path: Path
) -> None:
    whole = make_einvoice.pdf(("factur-x.xml", FACTUR_X), lines=PAGE)
    huge = make_einvoice.pdf(("factur-x.xml", FACTUR_X + b" " * 100_000_000), lines=PAGE)
    read_whole = await read(reader, write(tmp_path, "whole", whole))
    read_huge = await read(reader, write(tmp_path, "huge", huge))

    assert isinstance(read_whole, Receipt)
    assert isinstance(read_huge, Receipt)
    assert read_whole.total is not None
    assert read_huge.total is not None
    assert ("embedded", "page") == (read_whole.total.source, read_huge.total.source)
    assert read_whole.total.value == read_huge.total.value


async def test_hostile_files_get_the_same_answer_from_reading_and_inspecting(
    reader: PoolReader, tmp_path: Path
) -> None:
    for data, kind in HOSTILE:
        path = write(tmp_path, "receipt.jpg", data)

        for outcome in (await reader.inspect(path), await read(reader, path)):
            assert isinstance(outcome, Failure), data
            assert outcome.kind is kind, data


def test_command_reads_receipts_among_hostile_files(tmp_path: Path) -> None:
    files = [
        write(tmp_path, "a.pdf", RECEIPT.pdf()),
        write(tmp_path, "b.jpg", b"TOTAL 10.00"),
        write(tmp_path, "c.png", RECEIPT.file("PNG")),
    ]
    command = [sys.executable, "-m", "recibo", "extract", *map(str, files)]
    done = subprocess.run(command, capture_output=True, check=False)
    first, second, third = (json.loads(line) for line in done.stdout.splitlines())

    assert done.returncode == 1
    assert second["error"]["code"] == "unsupported_format"
    for line in (first, third):
        assert RECEIPT.truth.total == line["total"]
        assert RECEIPT.truth.issued_at == line["issued_at"]
