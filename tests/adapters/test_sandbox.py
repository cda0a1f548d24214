"""A compromised reader process can only give a wrong answer."""

import ast
import json
import os
import socket
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from recibo.adapters.reader import PoolReader
from recibo.adapters.reader_process import child_process
from recibo.adapters.reader_process.failures import Failure, FailureKind
from recibo.adapters.reader_process.limits import Limits
from recibo.extract.model import Accuracy
from tests.adapters import process_exits
from tests.faulty import libraries

LONG_S = 60.0


@pytest.fixture(scope="module", autouse=True)
def _secret() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECIBO_SECRET_KEY", "never to be seen")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "nor this")
        yield


@pytest.fixture
async def reader() -> AsyncIterator[PoolReader]:
    reader = PoolReader(processes=1, library=libraries.HOSTILE)
    yield reader
    await reader.aclose()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "recibo.db") as database:
        database.execute("CREATE TABLE secrets (one)")
    return tmp_path


async def attempt(
    reader: PoolReader, folder: Path, attack: str, *, limit_s: float = LONG_S
) -> str | Failure:
    """Have the hostile reader do this; return what it says it got."""
    path = folder / "document"
    path.write_text(attack)
    outcome = await reader.read(path, hint=None, accuracy=Accuracy.STANDARD, time_limit_s=limit_s)
    if isinstance(outcome, Failure):
        return outcome
    assert outcome.merchant_name
    return outcome.merchant_name.value


async def kind_of(reader: PoolReader, folder: Path, attack: str) -> FailureKind:
    outcome = await attempt(reader, folder, attack)
    assert isinstance(outcome, Failure), outcome
    return outcome.kind


async def test_environment_holds_no_secret(reader: PoolReader, folder: Path) -> None:
    said = str(await attempt(reader, folder, "environment"))

    names = {name.partition("_")[0] for name in ast.literal_eval(said)}
    assert names <= {"LC", "OMP", "OPENBLAS", "MKL", "OPENCV", "LD"}


async def test_no_descriptor_of_the_parent_is_left_open(reader: PoolReader, folder: Path) -> None:
    with (folder / "recibo.db").open("rb") as database:
        os.set_inheritable(database.fileno(), True)  # noqa: FBT003
        said = str(await attempt(reader, folder, "descriptors"))

    # The standard streams and the channel; documents are closed.
    assert 4 == len(ast.literal_eval(said))


async def test_no_file_is_read_listed_written_or_changed(reader: PoolReader, folder: Path) -> None:
    database = folder / "recibo.db"
    before = (database.read_bytes(), database.stat().st_mtime_ns, database.stat().st_mode)
    for attack in (
        f"read_file {database}",
        "read_file /etc/passwd",
        "read_file /proc/self/environ",
        f"read_file /proc/{os.getpid()}/environ",
        f"memory_of {os.getpid()}",
        f"list_folder {folder}",
        f"write_file {folder}/left",
        "write_file /tmp/recibo-was-here",
        "write_file /dev/shm/recibo-was-here",
    ):
        assert await attempt(reader, folder, attack) == "PermissionError", attack
    said = str(await attempt(reader, folder, f"change {database}"))

    assert {"PermissionError"} == set(ast.literal_eval(said))
    after = (database.read_bytes(), database.stat().st_mtime_ns, database.stat().st_mode)
    assert before == after
    assert {"document", "recibo.db"} == set(os.listdir(folder))  # noqa: PTH208


async def test_no_socket_is_made(reader: PoolReader, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(str(folder / "daemon"))
        daemon.listen()
        for attack in (
            f"connect {server.getsockname()[1]}",
            f"connect_unix {folder / 'daemon'}",
            "connect_unix \0abstract",
            "pair",
        ):
            assert await attempt(reader, folder, attack) == "PermissionError", attack


async def test_no_process_is_made_run_traced_or_killed(reader: PoolReader, folder: Path) -> None:
    for attack in (
        "execute",
        "spawn",
        "fork",
        f"kill {os.getpid()}",
        "kill 1",
        f"kill_with_threads_call {os.getpid()}",
    ):
        assert await attempt(reader, folder, attack) == "PermissionError", attack
    said = ast.literal_eval(str(await attempt(reader, folder, "calls")))

    # ENOSYS makes the C library use the older call.
    assert "OSError" == said.pop("clone3")
    assert {"PermissionError"} == set(said.values())


async def test_threads_without_end_end_with_their_reader(reader: PoolReader, folder: Path) -> None:
    outcome = await attempt(reader, folder, "threads")

    assert isinstance(outcome, Failure) or outcome == "True"
    assert await attempt(reader, folder, "nothing") == "fine"


FORGED = [
    "forge {}",
    "forge null",
    "forge [1]",
    "forge {" * 50_000,
    'forge {"result": null, "failure": null}',
    'forge {"result": {"type": 5}}',
    'forge {"result": {"type": {"value": "receipt", "confidence": "1", "text": ""}}}',
    'forge {"result": {"type": {"value": "gold", "confidence": 1, "text": ""}}}',
    'forge {"failure": {"kind": "crashed", "message": ["x"]}}',
    'forge {"failure": {"kind": "crashed", "message": "x", "code": 1}}',
    'forge {"failure": {"kind": "crashed", "message": "' + "x" * 600 + '"}}',
    "huge",
    "unknown_kind",
    "steps",
]


@pytest.mark.parametrize("attack", FORGED, ids=[str(number) for number in range(len(FORGED))])
async def test_forged_answer_is_a_crash(reader: PoolReader, folder: Path, attack: str) -> None:
    assert await kind_of(reader, folder, attack) is FailureKind.CRASHED
    assert await attempt(reader, folder, "nothing") == "fine"


@pytest.mark.parametrize(
    "value",
    ['"1E+999999999"', '"NaN"', '"Infinity"', "1e400", "[1]", "true"],
)
async def test_amount_that_no_document_bears_is_a_crash(
    reader: PoolReader, folder: Path, value: str
) -> None:
    found = '{"value": %s, "confidence": 1, "text": ""}'
    kind = found % '"receipt"'
    forged = f'{{"result": {{"type": {kind}, "total": {found % value}}}}}'

    assert await kind_of(reader, folder, f"forge {forged}") is FailureKind.CRASHED


async def test_pickle_is_never_loaded(reader: PoolReader, folder: Path) -> None:
    mark = folder / "loaded"

    assert await kind_of(reader, folder, f"pickle {mark}") is FailureKind.CRASHED
    assert not mark.exists()


async def test_child_that_eats_memory_is_killed_and_its_document_at_fault(folder: Path) -> None:
    limits = Limits(memory_bytes=300 << 20)
    reader = PoolReader(processes=1, limits=limits, library=libraries.HOSTILE)

    assert await kind_of(reader, folder, "eat") is FailureKind.OUT_OF_MEMORY
    assert FailureKind.OUT_OF_MEMORY.is_the_documents_fault
    await reader.aclose()


@pytest.mark.parametrize("attack", ["sleep", "spin"])
async def test_child_that_never_answers_is_killed_and_its_document_at_fault(
    reader: PoolReader, folder: Path, attack: str
) -> None:
    await reader.start()
    outcome = await attempt(reader, folder, attack, limit_s=0.3)

    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureKind.TIMED_OUT
    assert FailureKind.TIMED_OUT.is_the_documents_fault
    assert await attempt(reader, folder, "nothing") == "fine"


async def test_no_attack_leaves_a_process_behind(reader: PoolReader, folder: Path) -> None:
    before = process_exits.children(os.getpid())
    for attack in ("huge", "steps", "nothing"):
        await attempt(reader, folder, attack)
    await reader.aclose()

    assert process_exits.children(os.getpid()) == before


def test_missing_protections_are_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    child_process.warn_once.cache_clear()
    lacking = json.dumps(["Landlock", "seccomp"]).encode()
    for _ in range(3):
        child_process.warn_once(lacking)

    assert 1 == len(caplog.messages)
    assert "Landlock, seccomp" in caplog.messages[0]
    child_process.warn_once.cache_clear()
