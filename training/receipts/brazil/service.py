"""The contents of an NFS-e, independent of its layout."""

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
    """The customer of the service."""

    name: str
    tax_id: str
    street: str
    place: Place


@dataclass(frozen=True, slots=True)
class Withheld:
    """Federal taxes withheld by the customer."""

    pis: Decimal = _NOTHING
    cofins: Decimal = _NOTHING
    inss: Decimal = _NOTHING
    ir: Decimal = _NOTHING
    csll: Decimal = _NOTHING

    @property
    def total(self) -> Decimal:
        """The sum of the taxes."""
        return self.pis + self.cofins + self.inss + self.ir + self.csll


@dataclass(frozen=True, slots=True)
class Service:
    """An NFS-e before it is printed."""

    seller: Seller
    taker: Taker
    at: dt.datetime
    offset: str
    number: int
    #: 50 characters; None on a municipal page.
    key: str | None
    verification: str
    #: The number of the RPS or DPS that was converted to this NFS-e.
    rps: int
    done: str
    #: The item of the list of services of law 116/2003.
    listed: str
    gross: Decimal
    discount: Decimal
    deductions: Decimal
    #: Percent.
    rate: Decimal
    withheld: Withheld
    is_iss_withheld: bool
    #: Text of the provider below the description: terms, taxes withheld, accounts.
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
        """The ISS withheld by the customer: all or nothing."""
        return self.iss if self.is_iss_withheld else _NOTHING

    @property
    def net(self) -> Decimal:
        """The amount paid by the customer."""
        return self.gross - self.discount - self.withheld.total - self.kept_iss


@dataclass(frozen=True, slots=True)
class Layout:
    """A page of a system, and the fields that it does not print."""

    print: Callable[[random.Random, Sheets, Service], None]
    #: The municipalities that use it; all if empty.
    states: tuple[str, ...] = ()
    has_net: bool = True
    has_seconds: bool = True
    label_size: float = 6
