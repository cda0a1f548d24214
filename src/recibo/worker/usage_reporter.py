"""Reports used credits to the payment provider.

A crash at any point only means that an event is sent again; the provider recognizes it by its id.
"""

import datetime as dt
from dataclasses import dataclass

import structlog

from recibo.adapters.payments import MeterError, UsageMeter, UseRefusedError
from recibo.lib import clock
from recibo.services import meter_events
from recibo.services.meter_events import Lease
from recibo.store.db import Session
from recibo.worker import metrics
from recibo.worker.outbox import Outbox, RetryLaterError

log = structlog.get_logger(__name__)

# Stripe refuses older events: https://docs.stripe.com/api/billing/meter-event/create
_MAX_AGE = dt.timedelta(days=35)


@dataclass(frozen=True, slots=True)
class UsageReporter(Outbox[Lease]):
    """Sends meter events to a payment provider."""

    provider: UsageMeter

    name = "usage"
    rows = meter_events.ROWS

    async def lease(self, session: Session, row_id: str) -> Lease | None:
        """Lease a meter event."""
        return await meter_events.lease(session, row_id)

    async def send(self, lease: Lease) -> str:
        """Send a meter event; drop it if the provider refuses it or it is too old."""
        if clock.now() - lease.used.used_at >= _MAX_AGE:
            return _drop(lease, "it is too old")
        try:
            await self.provider.measure(lease.used)
        except UseRefusedError as e:
            return _drop(lease, str(e))
        except MeterError as e:
            raise RetryLaterError(str(e)) from e
        return "sent"

    async def defer(self, session: Session, lease: Lease) -> str:
        """Schedule the next attempt."""
        await self.rows.defer(session, lease)
        return "deferred"

    def count(self, _lease: Lease, outcome: str) -> None:
        """Count an attempt."""
        metrics.METER_EVENTS.labels(outcome).inc()


def _drop(lease: Lease, reason: str) -> str:
    log.error("meter event dropped", detail=reason, credits=lease.used.credits)
    return "refused"
