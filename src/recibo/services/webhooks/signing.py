"""Signing secrets of webhooks: one for an org's endpoint, one for the URLs in its requests.

Source: Standard Webhooks, https://www.standardwebhooks.com.
"""

import base64
import datetime as dt
import secrets
from collections.abc import Iterable, Mapping

from sqlalchemy import select

from recibo.lib import clock
from recibo.lib.keyring import Keyring
from recibo.schemas.ids import EndpointId, OrgId
from recibo.schemas.webhooks import EarlierSecret, SigningSecrets
from recibo.store import upsert
from recibo.store.db import Session
from recibo.store.tables import SigningSecret

#: How long the previous secret still signs after a rotation.
OVERLAP = dt.timedelta(hours=24)
_PREFIX = "whsec_"
# Each earlier secret adds a signature to every request.
_MOST_EARLIER = 4
# Standard Webhooks requires 24 to 64.
_BYTES = 32

Owner = OrgId | EndpointId


async def of(
    session: Session, keyring: Keyring, org_id: OrgId, owners: Iterable[Owner]
) -> Mapping[str, SigningSecrets]:
    """Return the secrets of owners, all of one org; create missing ones."""
    wanted = set(owners)
    query = select(SigningSecret).where(
        SigningSecret.org_id == org_id, SigningSecret.owner_id.in_(wanted)
    )
    found = {row.owner_id: row for row in (await session.execute(query)).scalars()}
    for owner in wanted - found.keys():
        found[owner] = await _made(session, keyring, org_id, owner)
    return {owner: _shape(keyring, found[owner]) for owner in wanted}


async def rotate(session: Session, keyring: Keyring, org_id: OrgId, owner: Owner) -> None:
    """Replace an owner's secret; the current one signs for another day, too."""
    row = await _made(session, keyring, org_id, owner)
    replaced = {"sealed": row.sealed, "until": (clock.now() + OVERLAP).isoformat()}
    row.earlier = [replaced, *_still_signing(row)][:_MOST_EARLIER]
    row.sealed = _sealed(keyring, owner)


async def _made(session: Session, keyring: Keyring, org_id: OrgId, owner: Owner) -> SigningSecret:
    """Return the row of an owner, locked; create it if it is missing."""
    # Two transactions that find no row at once must end up with the same secret.
    await session.execute(
        upsert.insert(session, SigningSecret)
        .values(owner_id=owner, org_id=org_id, sealed=_sealed(keyring, owner), earlier=[])
        .on_conflict_do_nothing(index_elements=[SigningSecret.owner_id])
    )
    query = select(SigningSecret).where(
        SigningSecret.org_id == org_id, SigningSecret.owner_id == owner
    )
    return (await session.execute(query.with_for_update())).scalar_one()


def _sealed(keyring: Keyring, owner: Owner) -> str:
    secret = _PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()
    return keyring.seal(secret, bound_to=owner)


def _shape(keyring: Keyring, row: SigningSecret) -> SigningSecrets:
    current = keyring.unseal(row.sealed, bound_to=row.owner_id)
    earlier = (
        EarlierSecret(
            keyring.unseal(one["sealed"], bound_to=row.owner_id),
            dt.datetime.fromisoformat(one["until"]),
        )
        for one in _still_signing(row)
    )
    return SigningSecrets(current, tuple(earlier))


def _still_signing(row: SigningSecret) -> list[dict[str, str]]:
    now = clock.now()
    return [one for one in row.earlier if dt.datetime.fromisoformat(one["until"]) > now]
