"""The secrets that sign webhooks: one of an org's endpoint, one of its per-request addresses.

Source: Standard Webhooks, https://www.standardwebhooks.com.
"""

import base64
import datetime as dt
import secrets
from collections.abc import Iterable, Mapping

from sqlalchemy import select

from recibo.kit import clock
from recibo.kit.keyring import Keyring
from recibo.shapes.ids import EndpointId, OrgId
from recibo.shapes.webhooks import Signing
from recibo.store import upsert
from recibo.store.db import Session
from recibo.store.tables import SigningSecret

#: So long the secret before a rotation signs along.
OVERLAP = dt.timedelta(hours=24)
_PREFIX = "whsec_"
# The scheme asks for 24 to 64.
_BYTES = 32

Owner = OrgId | EndpointId


async def of(
    session: Session, keyring: Keyring, org_id: OrgId, owners: Iterable[Owner]
) -> Mapping[str, Signing]:
    """Return the secrets of owners, all of one org; whoever has none gets one."""
    wanted = set(owners)
    query = select(SigningSecret).where(
        SigningSecret.org_id == org_id, SigningSecret.owner_id.in_(wanted)
    )
    found = {row.owner_id: row for row in (await session.execute(query)).scalars()}
    for owner in wanted - found.keys():
        found[owner] = await _made(session, keyring, org_id, owner)
    return {owner: _shape(keyring, found[owner]) for owner in wanted}


async def rotate(session: Session, keyring: Keyring, org_id: OrgId, owner: Owner) -> None:
    """Give an owner a new secret; the present one signs along for a day."""
    row = await _made(session, keyring, org_id, owner)
    row.previous = row.sealed
    row.previous_until = clock.now() + OVERLAP
    row.sealed = _sealed(keyring, owner)


async def _made(session: Session, keyring: Keyring, org_id: OrgId, owner: Owner) -> SigningSecret:
    """Return the row of an owner, locked; the first call adds it."""
    # Two that find none at once must not sign by two secrets.
    await session.execute(
        upsert.insert(session, SigningSecret)
        .values(owner_id=owner, org_id=org_id, sealed=_sealed(keyring, owner))
        .on_conflict_do_nothing(index_elements=[SigningSecret.owner_id])
    )
    query = select(SigningSecret).where(
        SigningSecret.org_id == org_id, SigningSecret.owner_id == owner
    )
    return (await session.execute(query.with_for_update())).scalar_one()


def _sealed(keyring: Keyring, owner: Owner) -> str:
    secret = _PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()
    return keyring.seal(secret, bound_to=owner)


def _shape(keyring: Keyring, row: SigningSecret) -> Signing:
    current = keyring.unseal(row.sealed, bound_to=row.owner_id)
    if row.previous is None or row.previous_until is None or row.previous_until <= clock.now():
        return Signing(current)
    previous = keyring.unseal(row.previous, bound_to=row.owner_id)
    return Signing(current, previous, row.previous_until)
