"""Whatever a document does to the library, it gets an answer, and the next one is read."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from recibo.adapters.reader import Library, PoolReader
from recibo.adapters.reader_process.failures import Failure, FailureKind
from recibo.adapters.reader_process.limits import Limits
from recibo.errors import Overloaded
from recibo.extract.model import Accuracy, DocumentType, Receipt
from tests.adapters import process_exits
from tests.faulty import libraries, readers

LONG_S = 60.0

File = Callable[[str], Path]

#: The instruction for the faulty library, and the expected failure.
FAILURES = {
    "format": FailureKind.UNSUPPORTED_FORMAT,
    "empty": FailureKind.INVALID_DOCUMENT,
    "pages": FailureKind.INVALID_DOCUMENT,
    "pixels": FailureKind.INVALID_DOCUMENT,
    "encrypted": FailureKind.INVALID_DOCUMENT,
    "unreadable": FailureKind.UNREADABLE,
    "model": FailureKind.BROKEN,
    "import": FailureKind.BROKEN,
    "memory": FailureKind.OUT_OF_MEMORY,
    "ask": FailureKind.OUT_OF_MEMORY,
    "bug": FailureKind.CRASHED,
    "recursion": FailureKind.CRASHED,
    "exit": FailureKind.CRASHED,
    "interrupt": FailureKind.CRASHED,
    "unspeakable": FailureKind.CRASHED,
    "segfault": FailureKind.CRASHED,
    "killed": FailureKind.CRASHED,
}


@pytest.fixture
async def reader() -> AsyncIterator[PoolReader]:
    reader = PoolReader(processes=2, library=libraries.FAULTY)
    yield reader
    await reader.aclose()


@pytest.fixture
def file(tmp_path: Path) -> File:
    def write(text: str) -> Path:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.jpg"
        path.write_text(text)
        return path

    return write


async def read(reader: PoolReader, path: Path, *, time_limit_s: float = LONG_S) -> str | Failure:
    """Return the merchant that was read, or the failure."""
    outcome = await reader.read(
        path, hint=DocumentType.NFCE, accuracy=Accuracy.HIGH, time_limit_s=time_limit_s
    )
    if isinstance(outcome, Failure):
        return outcome
    assert isinstance(outcome, Receipt)
    assert outcome.merchant_name
    return outcome.merchant_name.value


async def kind_of(reader: PoolReader, path: Path, *, time_limit_s: float = LONG_S) -> FailureKind:
    outcome = await read(reader, path, time_limit_s=time_limit_s)
    assert isinstance(outcome, Failure)
    assert outcome.message
    return outcome.kind


async def hang(reader: PoolReader, file: File) -> tuple[asyncio.Task[object], int]:
    """Hang one of the reader's processes, and return the waiting task and the process's id."""
    # The process used last is used next.
    pid = int(str(await read(reader, file("pid"))))
    task: asyncio.Task[object] = asyncio.create_task(read(reader, file("hang")))
    await process_exits.deaf(pid)
    return task, pid


def test_what_every_child_imports_is_light() -> None:
    """A child limits its threads before it imports what would start them."""
    check = "import sys, recibo.adapters.reader_process.child; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    heavy = {"numpy", "cv2", "onnxruntime", "fastapi", "sqlalchemy", "pydantic", "rich", "httpx"}

    assert set() == heavy & set(said.stdout.split())


async def test_document_is_read_in_another_process(reader: PoolReader, file: File) -> None:
    assert await read(reader, file("pid")) != str(os.getpid())


async def test_library_gets_hint_and_accuracy(reader: PoolReader, file: File) -> None:
    assert await read(reader, file("arguments")) == "nfce high"


async def test_each_failure_has_its_kind_and_the_next_document_is_read(
    reader: PoolReader, file: File
) -> None:
    kinds = {text: await kind_of(reader, file(text)) for text in FAILURES}

    assert kinds == FAILURES
    assert await read(reader, file("fine")) == "fine"


async def test_document_that_takes_too_long_is_given_up(reader: PoolReader, file: File) -> None:
    pid = int(str(await read(reader, file("pid"))))

    assert await kind_of(reader, file("hang"), time_limit_s=0.2) is FailureKind.TIMED_OUT
    assert await process_exits.gone(pid)
    assert await read(reader, file("fine")) == "fine"


async def test_document_that_takes_too_much_memory_is_given_up(file: File) -> None:
    limits = Limits(memory_bytes=300 << 20)
    reader = PoolReader(processes=1, limits=limits, library=libraries.FAULTY)

    assert await kind_of(reader, file("eat")) is FailureKind.OUT_OF_MEMORY
    assert await read(reader, file("fine")) == "fine"
    await reader.aclose()


async def test_upload_waits_not_for_ever_for_a_process_that_inspects(
    file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = PoolReader(processes=1, library=libraries.FAULTY)
    assert await reader.inspect(file("fine")) == readers.JPEG
    hanging = asyncio.create_task(reader.inspect(file("hang")))
    await asyncio.sleep(0)
    monkeypatch.setattr("recibo.adapters.reader._INSPECTION_WAIT_S", 0.05)

    with pytest.raises(Overloaded) as refused:
        await reader.inspect(file("fine"))
    assert refused.value.retry_after
    hanging.cancel()
    await reader.aclose()


async def test_file_that_is_gone_is_a_failure(reader: PoolReader, tmp_path: Path) -> None:
    assert await kind_of(reader, tmp_path / "none.jpg") is FailureKind.CRASHED


async def test_message_reveals_no_internals(reader: PoolReader, file: File) -> None:
    outcome = await read(reader, file("bug"))

    assert isinstance(outcome, Failure)
    assert "Error" not in outcome.message
    assert "ZeroDivisionError" in outcome.detail


async def test_death_of_one_process_harms_no_other_reading(reader: PoolReader, file: File) -> None:
    waiting, pid = await hang(reader, file)

    assert await kind_of(reader, file("killed")) is FailureKind.CRASHED
    assert await read(reader, file("fine")) == "fine"
    assert not waiting.done()
    waiting.cancel()
    assert await process_exits.gone(pid)


async def test_document_after_a_crash_goes_to_a_process_that_has_started(
    reader: PoolReader, file: File
) -> None:
    hanging, _ = await hang(reader, file)
    idle = await read(reader, file("pid"))
    hanging.cancel()
    await asyncio.wait([hanging])

    assert await read(reader, file("pid")) == idle


async def test_sender_of_a_document_that_ends_its_process_waits_for_the_next_one(
    file: File,
) -> None:
    others = process_exits.children(os.getpid())
    reader = PoolReader(processes=1, spare=1, library=libraries.FAULTY)
    failures = [await kind_of(reader, file("killed")) for _ in range(3)]
    started = process_exits.children(os.getpid()) - others
    running = [pid for pid in started if not process_exits.is_zombie(pid)]
    await reader.aclose()

    assert [FailureKind.CRASHED] * 3 == failures
    # The spare one was not needed.
    assert 1 == len(running)


async def test_no_more_documents_are_read_at_once_than_there_are_processes(
    reader: PoolReader, file: File
) -> None:
    pids = await asyncio.gather(*(read(reader, file("pid")) for _ in range(12)))

    assert 1 <= len(set(pids)) <= 2


async def test_cancelled_reading_frees_its_process(reader: PoolReader, file: File) -> None:
    first, pid = await hang(reader, file)
    second, _ = await hang(reader, file)
    first.cancel()

    assert await read(reader, file("fine")) == "fine"
    assert await process_exits.gone(pid)
    second.cancel()


async def test_inspecting_waits_for_no_reading(reader: PoolReader, file: File) -> None:
    tasks = [await hang(reader, file) for _ in range(2)]

    assert await reader.inspect(file("fine")) == readers.JPEG
    for task, _ in tasks:
        task.cancel()


async def test_inspecting_refuses_as_reading_does(reader: PoolReader, file: File) -> None:
    outcome = await reader.inspect(file("pixels"))

    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureKind.INVALID_DOCUMENT


async def test_closing_answers_those_who_wait(file: File) -> None:
    reader = PoolReader(processes=1, library=libraries.FAULTY)
    waiting, _ = await hang(reader, file)
    queued = asyncio.create_task(kind_of(reader, file("fine")))
    await reader.aclose()

    failure = await waiting
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.CRASHED
    assert await queued is FailureKind.CRASHED


async def test_reader_is_ready_once_started_until_closed(reader: PoolReader) -> None:
    assert not reader.is_ready()
    assert await reader.start() is None
    assert reader.is_ready()
    await reader.aclose()
    assert not reader.is_ready()


@pytest.mark.parametrize(
    ("library", "kind"),
    [(libraries.BROKEN, FailureKind.BROKEN), (libraries.DYING, FailureKind.CRASHED)],
)
async def test_reader_that_cannot_start_says_why(library: Library, kind: FailureKind) -> None:
    reader = PoolReader(processes=2, library=library)
    failure = await reader.start()

    assert failure
    assert failure.kind is kind
    assert not reader.is_ready()
    await reader.aclose()


@pytest.mark.parametrize("kind", FailureKind)
def test_only_failures_of_the_document_have_their_own_code(kind: FailureKind) -> None:
    assert kind.is_the_documents_fault == (kind.code != "server_error")
