"""The dependencies of the billing services."""

from dataclasses import dataclass

from recibo.adapters.payments import Events, Payments, Sandbox
from recibo.errors import NotFound
from recibo.store.db import Database


@dataclass(frozen=True, slots=True)
class Billing:
    """Built once by `recibo.app`."""

    database: Database
    #: None where no plan is sold.
    payments: Payments | None
    #: None if the provider sends no events.
    events: Events | None = None

    def seller(self) -> Payments:
        """Return who takes payments; raises NotFound where no plan is sold."""
        if self.payments is None:
            raise NotFound
        return self.payments

    @property
    def sandbox(self) -> Sandbox | None:
        """The sandbox, where payments are made in it."""
        return self.payments if isinstance(self.payments, Sandbox) else None
