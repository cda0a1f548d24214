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
# Uploads that may come in for each that may be in flight.
_OPEN_PER_SLOT = 4
# Copies of one file that come at once are all answered, as long as some of them get in meanwhile.
_PATIENCE_SECONDS = 5.0
_LOOK_AGAIN_SECONDS = 0.03


class _Queue:
    """The uploads of one caller that wait for others of the same caller to be in."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        #: When one was let in, or was in, last.
        self.moved_at = 0.0

    @property
    def is_stuck(self) -> bool:
        """Whether nothing has moved for as long as one waits."""
        return time.monotonic() - self.moved_at >= _PATIENCE_SECONDS


class Arrivals:
    """Lets the uploads of a caller come in, so many at a time, in the order they came."""

    def __init__(self, slots: Semaphores) -> None:
        self._slots = slots
        # A queue lives as long as somebody is in it, or came in through it.
        self._queues: WeakValueDictionary[str, _Queue] = WeakValueDictionary()

    @asynccontextmanager
    async def arriving(self, actor: Actor) -> AsyncIterator[None]:
        """Let an upload come in while the block lasts; ask before its body is read.

        Raises:
            RateLimitExceeded: as many as may come in at once do already, and none gets done.
        """
        name, caps = ids.new("slot"), [_arriving(cap) for cap in _caps(actor)]
        queue = self._queues.setdefault(caps[0].subject, _Queue())
        while not await self._is_let_in(queue, name, caps):
            if queue.is_stuck:
                at_once = caps[0].at_once
                message = f"Uploads arriving at once are {at_once} on this plan; wait for one."
                raise RateLimitExceeded(message, retry_after=_RETRY_AFTER_SECONDS)
        try:
            yield
        finally:
            queue.moved_at = time.monotonic()
            await self._slots.free(name, caps)

    async def _is_let_in(self, queue: _Queue, name: str, caps: Sequence[Limit]) -> bool:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        try:
            await asyncio.wait_for(queue.lock.acquire(), _PATIENCE_SECONDS)
        except TimeoutError:
            return False
        try:
            # Redis could tell when one is over, at the price of a connection for each who waits.
            while not await self._slots.take(name, caps):
                if time.monotonic() >= deadline:
                    return False
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            queue.moved_at = time.monotonic()
        finally:
            queue.lock.release()
        return True


@asynccontextmanager
async def slot(slots: Semaphores, actor: Actor) -> AsyncIterator[None]:
    """Hold a slot while the block lasts.

    Raises:
        RateLimitExceeded: as many uploads are in flight as the plan allows.
    """
    name, caps = ids.new("slot"), _caps(actor)
    if not await slots.take(name, caps):
        at_once = actor.plan.uploads_at_once
        message = (
            f"Uploads in flight at once are {at_once} on this plan; wait until one is answered."
        )
        raise RateLimitExceeded(message, retry_after=_RETRY_AFTER_SECONDS)
    try:
        yield
    finally:
        await slots.free(name, caps)


@asynccontextmanager
async def turn(slots: Semaphores, actor: Actor, print_: Fingerprint) -> AsyncIterator[bool]:
    """Have one upload after the other accepted of all that would get the same receipt.

    Gives False when it was another's turn, which is now over: look whether the upload is known.
    """
    begun = list[str]()
    try:
        # The caller's key is always the first: so no two wait for each other.
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


def _arriving(cap: Limit) -> Limit:
    return Limit(f"arriving:{cap.subject}", cap.at_once * _OPEN_PER_SLOT)


def _caps(actor: Actor) -> list[Limit]:
    at_once = actor.plan.uploads_at_once
    own = actor.key_id if isinstance(actor, KeyActor) else actor.user_id
    caps = [Limit(own, at_once)]
    if actor.visit.is_limited_by_ip:
        caps.append(Limit(f"ip:{actor.visit.limit_subject}", at_once))
    return caps
