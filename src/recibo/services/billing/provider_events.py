"""Events of the payment provider: each names a subscription, whose current state is then fetched.

Events come twice, late and in any order. So only the subscription's id is used: the provider is
asked for its current state, again if the subscription changed while it answered.
"""

import structlog
from sqlalchemy import select

from recibo.adapters.payments import Event, Events, SubscriptionState
from recibo.errors import NotFound, Overloaded
from recibo.schemas.ids import OrgId
from recibo.services.billing import subscriptions
from recibo.services.billing.billing import Billing
from recibo.store.tables import ProviderEvent

log = structlog.get_logger(__name__)

# Each further one means that another event changed the subscription while the provider was asked.
_TRIES = 5


async def take(billing: Billing, payload: bytes, signature: str) -> None:
    """Process one event: update the subscription that it names, once.

    Raises:
        NotFound: the provider sends no events.
        ValidationFailed: the signature is not the provider's.
        ServerError: the provider fails when asked; it will send the event again.
    """
    if billing.events is None:
        raise NotFound
    event = billing.events.event(payload, signature)
    for _ in range(_TRIES):
        if await _is_taken(billing, billing.events, event):
            return
    raise Overloaded("This subscription changes too fast; send the event again.")


async def _is_taken(billing: Billing, events: Events, event: Event) -> bool:
    """Try once; False when the subscription changed while the provider was asked."""
    if event.customer is None:
        return True
    async with billing.database.read() as session:
        known = select(ProviderEvent.id).where(ProviderEvent.id == event.id)
        if (await session.execute(known)).first() is not None:
            return True
        found = await subscriptions.of_customer(session, billing.seller().provider, event.customer)
    if found is None:
        # Of another service on the same account.
        return True
    now = await events.subscription(event.customer)
    async with billing.database.write() as session:
        org, row = await subscriptions.lock(session, OrgId(found.org_id))
        if row.version != found.version:
            return False
        if not await subscriptions.note_event(session, event.id):
            return True
        now = now or subscriptions.gone(row)
        if now is not None:
            _log_unknown_price(now)
            subscriptions.apply(session, org, row, now)
    return True


def _log_unknown_price(now: SubscriptionState) -> None:
    if now.plan is None and now.status in subscriptions.LIVE:
        log.error("a subscription has a price that no plan has", subscription=now.id)
