"""Nothing but the parent's limits bounds what a decoder does within one call."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recibo.adapters import reader as readers
from recibo.adapters.reader import PoolReader
from recibo.adapters.reader_process.child_process import ChildProcess, Job
from recibo.adapters.reader_process.failures import Failure, FailureKind
from recibo.adapters.reader_process.limits import Limits, TimeLimits
from recibo.extract.model import Accuracy, Receipt
from tests import make_documents
from tests.extract import stress_pdfs

LONG_S = 240.0
#: A process with its models holds half of it.
MEMORY_BYTES = 900 << 20


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of all jobs that processes were given."""
    given: list[str] = []
    do = ChildProcess.do

    async def noted(process: ChildProcess, job: Job, limits: TimeLimits) -> bytes:
        given.append(job.kind)
        return await do(process, job, limits)

    monkeypatch.setattr(ChildProcess, "do", noted)
    return given


@pytest.fixture
async def reader(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PoolReader]:
    """The real library in processes that may take little."""
    monkeypatch.setattr(readers, "PAGE_LIMIT_S", 3.0)
    monkeypatch.setattr(readers, "_INSPECTION_LIMITS", TimeLimits(1.0, 1.0))
    reader = PoolReader(processes=1, limits=Limits(memory_bytes=MEMORY_BYTES))
    yield reader
    await reader.aclose()


def written(folder: Path, data: bytes) -> Path:
    path = folder / str(len(list(folder.iterdir())))
    path.write_bytes(data)
    return path


async def read(reader: PoolReader, path: Path) -> Receipt | Failure:
    return await reader.read(path, hint=None, accuracy=Accuracy.STANDARD, time_limit_s=LONG_S)


async def test_stress_files_fail_once_and_the_next_document_is_read(
    reader: PoolReader, jobs: list[str], tmp_path: Path
) -> None:
    """They are the documents' fault, so they are not tried again."""
    slow, large = stress_pdfs.shadings(200), stress_pdfs.nested_marks(20_000)

    for data, kind in ((slow, FailureKind.TIMED_OUT), (large, FailureKind.OUT_OF_MEMORY)):
        outcome = await read(reader, written(tmp_path, data))
        assert isinstance(outcome, Failure)
        assert outcome.kind is kind
        assert outcome.kind.is_the_documents_fault
    assert jobs == ["read", "read"]
    text = make_documents.till_receipt().pdf()
    assert isinstance(await read(reader, written(tmp_path, text)), Receipt)


async def test_a_stress_file_fails_while_it_is_inspected(
    reader: PoolReader, jobs: list[str], tmp_path: Path
) -> None:
    """Whichever of the limits it comes to first."""
    outcome = await reader.inspect(written(tmp_path, stress_pdfs.nested_forms(30)))

    assert isinstance(outcome, Failure)
    assert outcome.kind in (FailureKind.TIMED_OUT, FailureKind.OUT_OF_MEMORY)
    assert outcome.kind.is_the_documents_fault
    assert jobs == ["inspect"]
