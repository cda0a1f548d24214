"""A lane survives whatever its process does."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from recibo.outside.processes import Lane, Limits, ProcessDiedError, TimeLimitError
from tests.faulty import readers
from tests.outside import deaths

LONG_S = 60.0

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def lane() -> AsyncIterator[Lane]:
    lane = Lane(readers.warm)
    yield lane
    await lane.aclose()


async def pid_of(lane: Lane) -> int:
    return await lane.run(os.getpid, time_limit_s=LONG_S)


async def hanging_pid(lane: Lane, fifo: Path) -> tuple[asyncio.Task[None], int]:
    """Hang the child, and return the task that waits for it and the child's id."""
    os.mkfifo(fifo)
    hang = partial(readers.hang_after_telling, fifo)
    task = asyncio.create_task(lane.run(hang, time_limit_s=LONG_S))
    return task, int(await asyncio.to_thread(fifo.read_text))


async def test_work_is_done_in_another_process_that_stays(lane: Lane) -> None:
    first = await pid_of(lane)

    assert first != os.getpid()
    assert first == await pid_of(lane)


async def test_process_that_dies_at_work_is_told_and_replaced(lane: Lane) -> None:
    with pytest.raises(ProcessDiedError, match="SIGSEGV"):
        await lane.run(readers.crash, time_limit_s=LONG_S)
    with pytest.raises(ProcessDiedError, match="SIGKILL"):
        await lane.run(readers.be_killed, time_limit_s=LONG_S)

    assert await pid_of(lane)


async def test_idle_process_that_is_killed_costs_no_work(lane: Lane) -> None:
    for _ in range(3):
        pid = await pid_of(lane)
        os.kill(pid, signal.SIGKILL)

        assert pid != await pid_of(lane)


async def test_work_beyond_its_time_is_killed_though_it_hears_no_signal(lane: Lane) -> None:
    with pytest.raises(TimeLimitError, match=r"0\.2 s"):
        await lane.run(readers.hang, time_limit_s=0.2)

    assert await pid_of(lane)


async def test_cancelled_caller_ends_the_work(lane: Lane, tmp_path: Path) -> None:
    task, pid = await hanging_pid(lane, tmp_path / "pid")
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert await pid_of(lane) != pid
    assert await deaths.gone(pid)


async def test_closing_ends_the_work_and_tells_who_waits(lane: Lane, tmp_path: Path) -> None:
    task, pid = await hanging_pid(lane, tmp_path / "pid")
    await lane.aclose()

    with pytest.raises(ProcessDiedError, match="closing"):
        await task
    assert await deaths.gone(pid)


async def test_closed_lane_takes_no_work(lane: Lane) -> None:
    await lane.aclose()

    with pytest.raises(ProcessDiedError, match="closed"):
        await pid_of(lane)


async def test_memory_beyond_the_limit_is_an_error_of_the_work_alone(lane: Lane) -> None:
    with pytest.raises(MemoryError):
        await lane.run(readers.eat_memory, time_limit_s=LONG_S)

    assert await pid_of(lane)


async def test_answer_that_cannot_be_unpickled_ends_the_process_alone(lane: Lane) -> None:
    with pytest.raises(ProcessDiedError):
        await lane.run(readers.Garbage, time_limit_s=LONG_S)

    assert await pid_of(lane)


async def test_process_is_replaced_after_its_share_of_tasks() -> None:
    lane = Lane(readers.warm, Limits(tasks=2))
    pids = [await pid_of(lane) for _ in range(5)]
    await lane.aclose()

    assert pids[0] == pids[1] != pids[2] == pids[3] != pids[4]


async def test_preparation_that_raises_leaves_the_process_at_work() -> None:
    lane = Lane(readers.fail_to_warm)
    pid = await pid_of(lane)
    await lane.aclose()

    assert pid != os.getpid()


async def test_process_that_dies_in_preparation_is_told_not_waited_for() -> None:
    lane = Lane(readers.exit_while_warming)

    with pytest.raises(ProcessDiedError):
        await pid_of(lane)
    await lane.aclose()


async def test_child_gives_way_and_leaves_no_core(lane: Lane) -> None:
    niceness = partial(os.getpriority, os.PRIO_PROCESS, 0)
    core = partial(resource.getrlimit, resource.RLIMIT_CORE)

    assert await lane.run(niceness, time_limit_s=LONG_S) >= 10
    assert await lane.run(core, time_limit_s=LONG_S) == (0, 0)


async def test_child_never_hears_the_terminals_interrupt(lane: Lane) -> None:
    blocked = partial(signal.pthread_sigmask, signal.SIG_BLOCK, ())

    assert signal.SIGINT in await lane.run(blocked, time_limit_s=LONG_S)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


async def test_child_prints_nothing_to_the_output(
    lane: Lane, capfd: pytest.CaptureFixture[str]
) -> None:
    await lane.run(partial(os.write, 1, b"noise"), time_limit_s=LONG_S)
    out, err = capfd.readouterr()

    assert out == ""
    assert "noise" in err


PARENT = """
import asyncio, os, sys
sys.path.insert(0, os.getcwd())
from functools import partial
from pathlib import Path
from recibo.outside.processes import Lane
from tests.faulty import readers

async def main():
    lane = Lane(readers.warm)
    await lane.run(partial(readers.hang_after_telling, Path(sys.argv[1])), time_limit_s=60)

if __name__ == "__main__":
    asyncio.run(main())
"""


def test_child_dies_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    fifo, script = tmp_path / "pid", tmp_path / "parent.py"
    os.mkfifo(fifo)
    script.write_text(PARENT)
    command = [sys.executable, str(script), str(fifo)]
    # multiprocessing's tracker says that it cleans up.
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as parent:
        child = int(fifo.read_text())
        parent.kill()

    assert deaths.wait_until_gone(child)
