"""Functions that are called at an interval."""

import asyncio

from structlog.testing import capture_logs

from recibo.worker import loops


async def test_call_that_fails_is_logged_and_repeated() -> None:
    calls = 0
    done = asyncio.Event()

    async def fail_once() -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise OSError
        done.set()

    with capture_logs() as logs:
        async with asyncio.timeout(20), loops.repeating(fail_once, 0.01):
            await done.wait()

    assert [("error", "a periodic call failed")] == [
        (one["log_level"], one["event"]) for one in logs
    ]


async def test_call_in_progress_is_finished_at_the_end() -> None:
    began, may_end, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def call() -> None:
        began.set()
        await may_end.wait()
        ended.set()

    async with asyncio.timeout(20), loops.repeating(call, 60, is_run_at_start=True):
        await began.wait()
        asyncio.get_running_loop().call_soon(may_end.set)

    assert ended.is_set()


async def test_function_is_called_at_the_start_and_the_end_only_if_asked() -> None:
    calls = list[str]()

    async def call(name: str) -> None:
        calls.append(name)

    async with (
        loops.repeating(lambda: call("start"), 60, is_run_at_start=True),
        loops.repeating(lambda: call("end"), 60, is_run_at_end=True),
        loops.repeating(lambda: call("neither"), 60),
    ):
        await asyncio.sleep(0.01)

    assert ["start", "end"] == calls
