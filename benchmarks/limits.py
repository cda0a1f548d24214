"""What the limits a minute cost a request, in memory and over a Redis of our own.

    python -m benchmarks.limits [--rounds 5000]

Counted as for an API key: its address and the key itself, whose windows are as full as they get.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence

from benchmarks import measuring
from benchmarks.measuring import Times
from recibo.store import limits, redis_client
from recibo.store.limits import Limit, Limits
from tests import servers

MAX_IN_MEMORY_MS = 0.3
MAX_IN_REDIS_MS = 1.5
# No round is refused, which would be cheaper.
_FIGURE = 1_000_000
_TAKEN = (Limit("ip:203.0.113.9", _FIGURE), Limit("key_bench", _FIGURE))


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=5000, help="how many requests each")
    rounds = parser.parse_args().rounds
    with servers.run_redis() as redis:
        rows = [
            _row("in memory", asyncio.run(_times("", rounds)), MAX_IN_MEMORY_MS),
            _row("in Redis", asyncio.run(_times(redis.url, rounds)), MAX_IN_REDIS_MS),
        ]
    columns = ("", "median ms", "p95 ms", "at most", "kept")
    measuring.show(f"Limits: {rounds} requests of a key", columns, rows)


async def _times(redis_url: str, rounds: int) -> Times:
    async with redis_client.open_redis(redis_url) as client:
        counted = limits.create(client)
        await _time(counted)
        return Times(tuple([await _time(counted) for _ in range(rounds)]))


async def _time(counted: Limits) -> float:
    start = time.perf_counter()
    await counted.take(_TAKEN)
    return (time.perf_counter() - start) * 1000


def _row(name: str, times: Times, limit: float) -> Sequence[str]:
    figures = (f"{times.median:.3f}", f"{times.p95:.3f}", f"{limit}")
    return (name, *figures, measuring.verdict(times.median, limit))


if __name__ == "__main__":
    main()
