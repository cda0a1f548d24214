"""How many uploads an org may have in flight at once, per key and per address."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from recibo.errors import RateLimitExceeded
from recibo.lib import ids, tokens
from recibo.schemas.actor import Actor, KeyActor
from recibo.services.reading.idempotency import Fingerprint
from recibo.store import scope
from recibo.store.semaphores import Limit, Semaphores

_RETRY_AFTER_SECONDS = 1
# How many uploads may arrive for each upload slot.
_OPEN_PER_SLOT = 4
# An upload waits at least this long; simultaneous uploads all succeed as long as some progress.
_MAX_WAIT_SECONDS = 5.0
_POLL_SECONDS = 0.03


class _Queue:
    """The uploads of one caller that wait for earlier uploads of the same caller."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        #: When an upload was last admitted or finished arriving.
        self.moved_at = 0.0

    @property
    def is_stuck(self) -> bool:
        """Whether no upload has progressed within the maximum wait."""
        return time.monotonic() - self.moved_at >= _MAX_WAIT_SECONDS


class Arrivals:
    """Admits the uploads of a caller in order, a limited number at a time."""

    def __init__(self, slots: Semaphores) -> None:
        self._slots = slots
        # A queue exists as long as an upload waits in it or arrives.
        self._queues: WeakValueDictionary[str, _Queue] = WeakValueDictionary()

    @asynccontextmanager
    async def arriving(self, actor: Actor) -> AsyncIterator[None]:
        """Hold a place for an arriving upload; enter before its body is read.

        Raises:
            RateLimitExceeded: all places are taken, and no upload progresses.
        """
        name, limits = ids.new("slot"), [_arriving(limit) for limit in _limits(actor)]
        queue = self._queues.setdefault(limits[0].subject, _Queue())
        while not await self._is_admitted(queue, name, limits):
            if queue.is_stuck:
                at_once = limits[0].at_once
                message = f"Uploads arriving at once are {at_once} on this plan; wait for one."
                raise RateLimitExceeded(message, retry_after=_RETRY_AFTER_SECONDS)
        try:
            yield
        finally:
            queue.moved_at = time.monotonic()
            await self._slots.free(name, limits)

    async def _is_admitted(self, queue: _Queue, name: str, limits: Sequence[Limit]) -> bool:
        deadline = time.monotonic() + _MAX_WAIT_SECONDS
        try:
            await asyncio.wait_for(queue.lock.acquire(), _MAX_WAIT_SECONDS)
        except TimeoutError:
            return False
        try:
            # A blocking wait in Redis would take a connection for each waiting upload.
            while not await self._slots.take(name, limits):
                if time.monotonic() >= deadline:
                    return False
                await asyncio.sleep(_POLL_SECONDS)
            queue.moved_at = time.monotonic()
        finally:
            queue.lock.release()
        return True


@asynccontextmanager
async def slot(slots: Semaphores, actor: Actor) -> AsyncIterator[None]:
    """Hold an upload slot until the block ends.

    Raises:
        RateLimitExceeded: as many uploads are in flight as the plan allows.
    """
    name, limits = ids.new("slot"), _limits(actor)
    if not await slots.take(name, limits):
        at_once = actor.plan.uploads_at_once
        message = (
            f"Uploads in flight at once are {at_once} on this plan; wait until one is answered."
        )
        raise RateLimitExceeded(message, retry_after=_RETRY_AFTER_SECONDS)
    try:
        yield
    finally:
        await slots.free(name, limits)


@asynccontextmanager
async def turn(slots: Semaphores, actor: Actor, print_: Fingerprint) -> AsyncIterator[bool]:
    """Serialize uploads that would get the same receipt; yield True to one at a time.

    Yields False after waiting for another upload: check whether this one is known now.
    """
    begun = list[str]()
    try:
        # Locks are taken in one order, the caller's key first, so no deadlock is possible.
        for kind, key in print_.items():
            work = f"{actor.org_id}:{scope.space_of(actor)}:{kind}:{tokens.fingerprint(key)}"
            if not await slots.begin(work):
                yield False
                return
            begun.append(work)
        yield True
    finally:
        for work in begun:
            await slots.end(work)


def _arriving(limit: Limit) -> Limit:
    return Limit(f"arriving:{limit.subject}", limit.at_once * _OPEN_PER_SLOT)


def _limits(actor: Actor) -> list[Limit]:
    at_once = actor.plan.uploads_at_once
    own = actor.key_id if isinstance(actor, KeyActor) else actor.created_by
    limits = [Limit(own, at_once)]
    if actor.visit.is_limited_by_ip:
        limits.append(Limit(f"ip:{actor.visit.limit_subject}", at_once))
    return limits
