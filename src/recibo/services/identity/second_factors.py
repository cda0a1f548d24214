"""A user's second factor: the secret of the app, used time steps and recovery codes.

All of it happens inside the caller's transaction, which holds the user's row.
"""

import datetime as dt
import re
import secrets

import structlog
from sqlalchemy import delete, func, select, update

from recibo.lib import clock, totp
from recibo.lib.keyring import BadTokenError, Keyring
from recibo.schemas.ids import UserId
from recibo.schemas.states import TotpLedger
from recibo.services.identity.throttles import Limit
from recibo.store import upsert
from recibo.store.db import ReadSession, Session
from recibo.store.tables import RecoveryCode, SpentTotpStep, User

log = structlog.get_logger(__name__)

#: On wrong codes from pending and full sessions of an account: it locks the second factor.
FOR_AN_ACCOUNT = Limit("second_factor:account", 20, dt.timedelta(hours=1))
#: The same for all, so that it does not reveal who has an account or a second factor.
WRONG = "The code is wrong, or was used already."
RECOVERY_CODES = 10
# 32 characters that are not confused with each other: no 0 and O, no 1 and I.
_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_GROUPS = 3
_GROUP_LENGTH = 4
_RECOVERY_CODE = re.compile(f"[{_ALPHABET}]{{{_GROUPS * _GROUP_LENGTH}}}")
# Codes of steps so long ago match nothing any more.
_STEPS_KEPT = 10
# Codes for unknown users are checked against it, so that they take as long.
_DUMMY_SECRET = totp.new_secret()


async def held(session: Session, user_id: str) -> User | None:
    """Return a user whose row is held until the transaction ends; None for an unknown id."""
    query = select(User).where(User.id == user_id).with_for_update(key_share=True)
    return (await session.execute(query)).scalar_one_or_none()


async def replace_secret(session: Session, keyring: Keyring, user: User) -> str:
    """Create a secret for a user, not active yet, and return it."""
    await wipe(session, user)
    secret = totp.new_secret()
    user.totp_secret = keyring.seal(secret, bound_to=_sealed_for(user.id))
    return secret


def secret_of(keyring: Keyring, user: User) -> str | None:
    """Return the secret of a user's app, active or not; None without one."""
    if user.totp_secret is None:
        return None
    try:
        return keyring.unseal(user.totp_secret, bound_to=_sealed_for(user.id))
    except BadTokenError:
        # The installation's secret was changed without keeping the one before.
        log.exception("failed to decrypt a second factor; reset it", user_id=user.id)
        return None


def matching_step(keyring: Keyring, user: User | None, code: str) -> int | None:
    """Return the step whose code this is; None when it is wrong or the user has no secret."""
    secret = secret_of(keyring, user) if user else None
    step = totp.matching_step(secret or _DUMMY_SECRET, code, clock.now())
    return step if secret else None


async def spend(session: Session, user_id: str, ledger: TotpLedger, step: int) -> bool:
    """Spend a step; False when it was spent. Of two at once, one spends it."""
    whose = (SpentTotpStep.user_id == user_id, SpentTotpStep.ledger == ledger)
    await session.execute(
        delete(SpentTotpStep).where(*whose, SpentTotpStep.step < step - _STEPS_KEPT)
    )
    statement = (
        upsert.insert(session, SpentTotpStep)
        .values(user_id=user_id, ledger=ledger, step=step)
        .on_conflict_do_nothing()
        .returning(SpentTotpStep.step)
    )
    return (await session.execute(statement)).scalar_one_or_none() is not None


async def is_spent(session: Session, user_id: str, ledger: TotpLedger, step: int) -> bool:
    """Return whether a code of this time step was used already."""
    return await session.get(SpentTotpStep, (user_id, ledger, step)) is not None


async def issue_recovery_codes(session: Session, keyring: Keyring, user: User) -> list[str]:
    """Replace all recovery codes of a user with ten new ones and return them."""
    await session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user.id))
    codes: set[str] = set()
    while len(codes) < RECOVERY_CODES:
        codes.add("".join(secrets.choice(_ALPHABET) for _ in range(_GROUPS * _GROUP_LENGTH)))
    session.add_all(
        RecoveryCode(
            user_id=user.id,
            code_hash=keyring.fingerprint(code, bound_to=_fingerprinted_for(user.id)),
        )
        for code in codes
    )
    return [_grouped(code) for code in codes]


async def use_recovery_code(session: Session, keyring: Keyring, user_id: str, code: str) -> bool:
    """Use up a recovery code; False when it is unknown or used. Of two at once, one uses it.

    Neither case nor hyphens and spaces matter.
    """
    bare = re.sub(r"[-\s]", "", code).upper()
    if not _RECOVERY_CODE.fullmatch(bare):
        bare = ""
    statement = (
        update(RecoveryCode)
        .where(
            RecoveryCode.user_id == user_id,
            RecoveryCode.code_hash.in_(
                keyring.fingerprints(bare, bound_to=_fingerprinted_for(user_id))
            ),
            RecoveryCode.used_at.is_(None),
        )
        .values(used_at=clock.now())
        .returning(RecoveryCode.code_hash)
    )
    return (await session.execute(statement)).scalar_one_or_none() is not None


async def count_recovery_codes(
    session: Session | ReadSession, user_id: UserId | str
) -> tuple[int, int]:
    """Return how many recovery codes a user has, and how many of them are unused."""
    # COUNT of a column leaves out its nulls: these are the used ones.
    query = select(func.count(), func.count(RecoveryCode.used_at))
    query = query.where(RecoveryCode.user_id == user_id)
    total, used = (await session.execute(query)).one()
    return total, total - used


async def wipe(session: Session, user: User) -> None:
    """Delete a user's second factor, active or not."""
    # An explicit UPDATE: the loaded row may be older than a change of another transaction.
    await session.execute(
        update(User).where(User.id == user.id).values(totp_secret=None, totp_enabled_at=None)
    )
    for table in (RecoveryCode, SpentTotpStep):
        await session.execute(delete(table).where(table.user_id == user.id))


def _sealed_for(user_id: str) -> str:
    return f"totp:{user_id}"


def _fingerprinted_for(user_id: str) -> str:
    return f"recovery:{user_id}"


def _grouped(code: str) -> str:
    starts = range(0, len(code), _GROUP_LENGTH)
    return "-".join(code[start : start + _GROUP_LENGTH] for start in starts)
