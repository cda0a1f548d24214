"""What asyncio and threads do differently: blocking functions and several workers at once."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")


async def in_thread(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Call a blocking function in a thread."""
    return await anyio.to_thread.run_sync(partial(function, *args, **kwargs))


def directly(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Call a function."""
    return function(*args, **kwargs)


async def run_workers(
    worker: Callable[[], Coroutine[Any, Any, None]], count: int, *, on_interrupt: Callable[[], None]
) -> None:
    """Run so many tasks until all have ended."""
    try:
        async with anyio.create_task_group() as group:
            for _ in range(count):
                group.start_soon(worker)
    except BaseException:
        on_interrupt()
        raise


def run_threads(
    worker: Callable[[], None], count: int, *, on_interrupt: Callable[[], None]
) -> None:
    """Run so many threads until all have ended; raise the first error of one of them.

    Ctrl-C does not wait for them: they may be waiting for a server for minutes.
    """
    failures: list[BaseException] = []

    def work() -> None:
        try:
            worker()
        except BaseException as error:  # noqa: BLE001 - it is raised below
            failures.append(error)
            on_interrupt()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException:
        on_interrupt()
        raise
    if failures:
        raise failures[0]
