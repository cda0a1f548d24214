"""What asyncio and threads do differently: blocking functions and several workers at once."""

from __future__ import annotations

from functools import partial
from multiprocessing.pool import ThreadPool
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
    """Run so many tasks until all have ended; raise the first error as it is, in no group."""
    try:
        async with anyio.create_task_group() as group:
            for _ in range(count):
                group.start_soon(worker)
    except BaseException as error:
        on_interrupt()
        grouped = getattr(error, "exceptions", None)
        if grouped is None:
            raise
    else:
        return
    # Outside of the handler, so that it keeps its cause.
    raise grouped[0]


def run_threads(
    worker: Callable[[], None], count: int, *, on_interrupt: Callable[[], None]
) -> None:
    """Run so many threads until all have ended.

    Ctrl-C does not wait for them: they may be waiting for a server for minutes. The threads of
    this pool, unlike those of `concurrent.futures`, do not keep a program from ending.
    """
    with ThreadPool(count) as pool:
        try:
            for running in [pool.apply_async(worker) for _ in range(count)]:
                running.get()
        except Exception:
            on_interrupt()
            pool.close()
            pool.join()
            raise
        except BaseException:
            on_interrupt()
            raise
