"""How many uploads an org may have in flight at once, per key and per address."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recibo.errors import RateLimitExceeded
from recibo.kit import ids, tokens
from recibo.services.reading.replays import Fingerprint
from recibo.shapes.actor import Actor, KeyActor
from recibo.store import scope
from recibo.store.slots import Cap, Slots

# Beyond what an upload waits for its reading: to be decoded and kept, on a bad day.
_GRACE_SECONDS = 60
_RETRY_AFTER_SECONDS = 1


@asynccontextmanager
async def slot(slots: Slots, actor: Actor, *, wait_seconds: float) -> AsyncIterator[None]:
    """Hold a slot while the block lasts, and a while at most if this process dies.

    Raises:
        RateLimitExceeded: as many uploads are in flight as the plan allows.
    """
    name, caps = ids.new("slot"), _caps(actor)
    if not await slots.take(name, caps, life_seconds=wait_seconds + _GRACE_SECONDS):
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
async def turn(slots: Slots, actor: Actor, print_: Fingerprint) -> AsyncIterator[bool]:
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


def _caps(actor: Actor) -> list[Cap]:
    at_once = actor.plan.uploads_at_once
    own = actor.key_id if isinstance(actor, KeyActor) else actor.user_id
    caps = [Cap(own, at_once)]
    if actor.visit.is_limited_by_ip:
        caps.append(Cap(f"ip:{actor.visit.limit_subject}", at_once))
    return caps
