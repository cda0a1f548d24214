"""Browser sessions: what a publishable key may do and see in one browser.

A session is no row: a signed token names it, bound to its key, and what it made bears its id.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recibo.lib import clock, ids
from recibo.lib.keyring import BadTokenError, Keyring
from recibo.schemas.actor import KeyActor
from recibo.schemas.ids import BROWSER_SESSION
from recibo.schemas.states import KeyKind
from recibo.services.identity import throttles
from recibo.services.identity.identity import Identity
from recibo.services.identity.throttles import Limit

LIFE = dt.timedelta(hours=24)

_AUDIENCE = "recibo:browser"
_MINUTE = dt.timedelta(minutes=1)
_UPLOADS = (
    Limit("publishable:uploads:minute", 5, _MINUTE),
    Limit("publishable:uploads:hour", 60, dt.timedelta(hours=1)),
)
_READS = (Limit("publishable:reads", 60, _MINUTE),)


@dataclass(frozen=True, slots=True)
class Uploader:
    """Who uploads."""

    actor: KeyActor
    #: Of a session that begins with this upload; None when there is nothing to hand over.
    new_token: str | None = None


async def uploader(identity: Identity, actor: KeyActor, token: str | None) -> Uploader:
    """Count an upload of a publishable key, and put the key at work in the session it shows.

    A token that is missing, over, broken or of another key begins a new session. Secret keys have
    none and are not counted.

    Raises:
        RateLimitExceeded: too many uploads through publishable keys from this address.
    """
    if actor.kind is not KeyKind.PUBLISHABLE:
        return Uploader(actor)
    await _count(identity, actor, _UPLOADS)
    session_id = _shown(identity.keyring, actor, token)
    if session_id is not None:
        return Uploader(replace(actor, browser_session=session_id))
    session_id = ids.new(BROWSER_SESSION)
    new_token = _token(identity.keyring, actor, session_id)
    return Uploader(replace(actor, browser_session=session_id), new_token)


async def reader(identity: Identity, actor: KeyActor, token: str | None) -> KeyActor:
    """Count a read of a publishable key, and put the key at work in the session it shows, if any.

    Raises:
        RateLimitExceeded: too many reads through publishable keys from this address.
    """
    if actor.kind is not KeyKind.PUBLISHABLE:
        return actor
    await _count(identity, actor, _READS)
    return replace(actor, browser_session=_shown(identity.keyring, actor, token))


async def _count(identity: Identity, actor: KeyActor, limits: Sequence[Limit]) -> None:
    if not actor.visit.is_limited_by_ip:
        return
    counted = [(limit, actor.visit.limit_subject) for limit in limits]
    async with identity.database.write() as session:
        await throttles.take(session, counted)


def _token(keyring: Keyring, actor: KeyActor, session_id: str) -> str:
    now = clock.now()
    claims = {
        "sub": actor.key_id,
        "jti": session_id,
        "iat": int(now.timestamp()),
        "exp": int((now + LIFE).timestamp()),
    }
    return keyring.sign(claims, audience=_AUDIENCE)


def _shown(keyring: Keyring, actor: KeyActor, token: str | None) -> str | None:
    if not token:
        return None
    try:
        claims = keyring.claims(token, audience=_AUDIENCE)
    except BadTokenError:
        return None
    is_good = claims["sub"] == actor.key_id and claims["exp"] > clock.now().timestamp()
    return str(claims["jti"]) if is_good else None
