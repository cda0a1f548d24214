"""What the note of a service says, whatever page it is printed on."""

import datetime as dt
import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from training.receipts.brazil import sales
from training.receipts.brazil.sellers import Place, Seller
from training.receipts.brazil.sheets import Sheets

_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Taker:
    """For whom the service was done."""

    name: str
    tax_id: str
    street: str
    place: Place


@dataclass(frozen=True, slots=True)
class Withheld:
    """Federal taxes that the taker keeps back and pays for the provider."""

    pis: Decimal = _NOTHING
    cofins: Decimal = _NOTHING
    inss: Decimal = _NOTHING
    ir: Decimal = _NOTHING
    csll: Decimal = _NOTHING

    @property
    def total(self) -> Decimal:
        """All of them."""
        return self.pis + self.cofins + self.inss + self.ir + self.csll


@dataclass(frozen=True, slots=True)
class Service:
    """An NFS-e before it is printed."""

    seller: Seller
    taker: Taker
    at: dt.datetime
    offset: str
    number: int
    #: 50 characters; None on a municipality's own page.
    key: str | None
    verification: str
    #: The number of the slip that was turned into this note.
    rps: int
    done: str
    #: The item of the list of services of law 116/2003.
    listed: str
    gross: Decimal
    discount: Decimal
    deductions: Decimal
    #: Per cent.
    rate: Decimal
    withheld: Withheld
    is_iss_withheld: bool
    #: What the provider wrote under the description: terms, taxes kept back, accounts.
    remarks: tuple[str, ...] = ()

    @property
    def base(self) -> Decimal:
        """The base of the ISS."""
        return self.gross - self.discount - self.deductions

    @property
    def iss(self) -> Decimal:
        """The municipality's tax."""
        return sales.cents(self.base * self.rate / 100)

    @property
    def kept_iss(self) -> Decimal:
        """The part of the ISS that the taker keeps back: all or nothing."""
        return self.iss if self.is_iss_withheld else _NOTHING

    @property
    def net(self) -> Decimal:
        """What the taker pays."""
        return self.gross - self.discount - self.withheld.total - self.kept_iss


@dataclass(frozen=True, slots=True)
class Layout:
    """A page of a system, and what it does not print."""

    print: Callable[[random.Random, Sheets, Service], None]
    #: Where it is used; everywhere if empty.
    states: tuple[str, ...] = ()
    has_net: bool = True
    has_seconds: bool = True
    label_size: float = 6
