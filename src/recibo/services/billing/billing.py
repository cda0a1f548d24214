"""What the services of billing work with."""

from dataclasses import dataclass

from recibo.outside.payments import Events, Payments, Sandbox
from recibo.store.db import Database


@dataclass(frozen=True, slots=True)
class Billing:
    """Built once by `recibo.app`."""

    database: Database
    payments: Payments
    #: None where the provider tells nothing by itself.
    events: Events | None = None

    @property
    def sandbox(self) -> Sandbox | None:
        """The sandbox, where payments are made in it."""
        return self.payments if isinstance(self.payments, Sandbox) else None
