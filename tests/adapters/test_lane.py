"""A lane survives whatever its process does."""

import asyncio
import logging
import os
import resource
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recibo.adapters.reader_process import results
from recibo.adapters.reader_process.child_process import Job, ProcessDiedError, Program
from recibo.adapters.reader_process.failures import Failure, FailureKind
from recibo.adapters.reader_process.lane import Lane
from recibo.adapters.reader_process.limits import (
    Limits,
    MemoryLimitError,
    TimeLimitError,
    TimeLimits,
)
from tests.adapters import process_exits
from tests.faulty import libraries

LONG = TimeLimits(60.0, 60.0)

ROOT = Path(__file__).parents[2]

MB = 1 << 20


@pytest.fixture
async def lane() -> AsyncIterator[Lane]:
    lane = Lane(libraries.FAULTY.reading)
    yield lane
    await lane.aclose()


async def outcome(lane: Lane, text: str, limits: TimeLimits = LONG) -> str | Failure:
    """Have the lane read a file that says this; return the merchant's name or the failure."""
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    arguments = {"hint": None, "accuracy": "standard"}
    try:
        answer = await lane.run(Job("read", arguments, read), results.receipt, limits)
    finally:
        os.close(read)
    if isinstance(answer, Failure):
        return answer
    assert answer.merchant_name
    return answer.merchant_name.value


async def pid_of(lane: Lane) -> int:
    said = await outcome(lane, "pid")
    assert isinstance(said, str)
    return int(said)


async def hanging(lane: Lane) -> tuple[asyncio.Task[str | Failure], int]:
    """Hang the process, and return the task that waits for it and the process's id."""
    pid = await pid_of(lane)
    task = asyncio.create_task(outcome(lane, "hang"))
    await process_exits.deaf(pid)
    return task, pid


async def test_work_is_done_in_another_process_that_stays(lane: Lane) -> None:
    first = await pid_of(lane)

    assert first != os.getpid()
    assert first == await pid_of(lane)


async def test_process_that_dies_during_a_job_is_reported_and_replaced(lane: Lane) -> None:
    with pytest.raises(ProcessDiedError, match="SIGSEGV"):
        await outcome(lane, "segfault")
    with pytest.raises(ProcessDiedError, match="SIGKILL"):
        await outcome(lane, "killed")

    assert await pid_of(lane)


async def test_idle_process_that_is_killed_costs_no_work_and_leaves_no_zombie(lane: Lane) -> None:
    for _ in range(3):
        pid = await pid_of(lane)
        os.kill(pid, signal.SIGKILL)

        assert pid != await pid_of(lane)
        assert await process_exits.gone(pid)


async def test_work_that_sleeps_is_killed_by_the_clock(lane: Lane) -> None:
    await lane.ready()
    with pytest.raises(TimeLimitError, match=r"0\.2 s"):
        await outcome(lane, "hang", TimeLimits(0.1, 60.0))

    assert await pid_of(lane)


async def test_work_that_spins_is_killed_by_its_processor_time(lane: Lane) -> None:
    with pytest.raises(TimeLimitError, match=r"0\.1 s of processor time"):
        await outcome(lane, "spin", TimeLimits(0.1, 60.0, clock_ratio=1000))

    assert await pid_of(lane)


async def test_slow_step_runs_at_the_lowest_priority() -> None:
    lane = Lane(libraries.FAULTY.reading, Limits(slow_step_s=0.1))
    pid = await pid_of(lane)
    task = asyncio.create_task(outcome(lane, "spin"))
    await asyncio.to_thread(process_exits.wait_for_lowest_priority, pid)
    await lane.aclose()

    with pytest.raises(ProcessDiedError):
        await task


async def test_process_of_a_slow_step_is_replaced() -> None:
    lane = Lane(libraries.FAULTY.reading, Limits(slow_step_s=0.1))
    pid = await pid_of(lane)

    assert await outcome(lane, "toil") == "toil"
    assert await pid_of(lane) != pid
    await lane.aclose()


async def test_step_that_spins_is_killed_before_the_work_is_late(lane: Lane) -> None:
    with pytest.raises(TimeLimitError, match=r"a step took more than 0\.1 s of processor time"):
        await outcome(lane, "spin", TimeLimits(60.0, 0.1, clock_ratio=1000))


async def test_child_that_begins_steps_without_end_is_killed(lane: Lane) -> None:
    assert await outcome(lane, "steps 31") == "31"
    with pytest.raises(ProcessDiedError, match="out of turn"):
        await outcome(lane, "steps 100")


async def test_cancelled_caller_ends_the_work(lane: Lane) -> None:
    task, pid = await hanging(lane)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert await pid_of(lane) != pid
    assert await process_exits.gone(pid)


async def test_closing_fails_the_job_in_progress(lane: Lane) -> None:
    task, pid = await hanging(lane)
    await lane.aclose()

    with pytest.raises(ProcessDiedError, match="closing"):
        await task
    assert await process_exits.gone(pid)


async def test_closed_lane_takes_no_work(lane: Lane) -> None:
    await lane.aclose()

    with pytest.raises(ProcessDiedError, match="closed"):
        await pid_of(lane)


async def test_lane_closed_while_its_process_starts_leaves_none(lane: Lane) -> None:
    before = process_exits.children(os.getpid())
    starting = asyncio.create_task(lane.ready())
    await asyncio.sleep(0)
    await lane.aclose()

    with pytest.raises(ProcessDiedError, match="closing"):
        await starting
    assert process_exits.children(os.getpid()) == before


async def test_allocation_beyond_the_limit_is_a_failure_of_the_work_alone(lane: Lane) -> None:
    failure = await outcome(lane, "ask")

    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.OUT_OF_MEMORY


async def test_process_that_eats_memory_is_killed() -> None:
    lane = Lane(libraries.FAULTY.reading, Limits(memory_bytes=300 * MB))
    with pytest.raises(MemoryLimitError, match="MB"):
        await outcome(lane, "eat")

    assert await pid_of(lane)
    await lane.aclose()


async def test_process_is_replaced_after_its_share_of_tasks() -> None:
    lane = Lane(libraries.FAULTY.reading, Limits(tasks=2))
    pids = [await pid_of(lane) for _ in range(5)]
    await lane.aclose()

    assert pids[0] == pids[1] != pids[2] == pids[3] != pids[4]


async def test_library_that_cannot_be_loaded_is_the_answer_to_every_job() -> None:
    lane = Lane(libraries.BROKEN.reading)
    failures = [await outcome(lane, "fine") for _ in range(2)]
    await lane.aclose()

    assert [FailureKind.BROKEN] * 2 == [
        failure.kind for failure in failures if isinstance(failure, Failure)
    ]


async def test_missing_library_is_reported() -> None:
    lane = Lane(Program("recibo.no_such_module:load"))
    failure = await outcome(lane, "fine")
    await lane.aclose()

    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.BROKEN


async def test_process_that_cannot_be_started_is_reported_and_retried(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No memory or no descriptor is left, and a moment later there is."""
    before = os.listdir("/proc/self/fd")  # noqa: PTH208 - their names are all
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", "/nowhere")
        with pytest.raises(ProcessDiedError, match="could not be started"):
            await outcome(lane, "pid")
        assert before == os.listdir("/proc/self/fd")  # noqa: PTH208

    assert os.getpid() != await pid_of(lane)


async def test_job_is_answered_though_the_next_process_cannot_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lane = Lane(libraries.FAULTY.reading, Limits(tasks=1))
    await lane.ready()
    monkeypatch.setattr(sys, "executable", "/nowhere")

    assert await pid_of(lane)
    await lane.aclose()


async def test_process_that_dies_during_start_is_reported_at_once() -> None:
    lane = Lane(libraries.DYING.reading)

    with pytest.raises(ProcessDiedError, match="status 3"):
        await pid_of(lane)
    await lane.aclose()


async def test_child_gives_way_and_leaves_no_core(lane: Lane) -> None:
    pid = await pid_of(lane)

    assert os.getpriority(os.PRIO_PROCESS, pid) >= 10
    assert resource.prlimit(pid, resource.RLIMIT_CORE) == (0, 0)


async def test_child_never_hears_the_terminals_interrupt(lane: Lane) -> None:
    assert os.getsid(await pid_of(lane)) != os.getsid(0)


async def test_child_prints_to_the_log_alone(
    lane: Lane, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        await outcome(lane, "shout")
        await lane.aclose()
    out, err = capfd.readouterr()

    assert "noise of a native library" in caplog.text
    assert out == ""
    assert err == ""


async def test_child_that_prints_for_ever_fills_no_log(
    lane: Lane, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        assert await outcome(lane, "flood") == "flood"

    assert sum(len(line) for line in caplog.messages) < 1 * MB


async def test_last_output_of_the_child_is_reported_with_its_exit(lane: Lane) -> None:
    with pytest.raises(ProcessDiedError, match="out of ink"):
        await outcome(lane, "cry out of ink")


PARENT = """
import asyncio, os, sys
sys.path.insert(0, os.getcwd())
from recibo.adapters.reader_process.lane import Lane
from tests.adapters import test_lane
from tests.faulty import libraries

async def main():
    lane = Lane(libraries.FAULTY.reading)
    print(await test_lane.pid_of(lane), flush=True)
    await test_lane.outcome(lane, sys.argv[1])

if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.parametrize("work", ["hang", "spin"])
def test_child_dies_with_a_parent_that_is_killed(tmp_path: Path, work: str) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    command = [sys.executable, str(script), work]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        parent.kill()

    assert process_exits.wait_until_gone(child)
