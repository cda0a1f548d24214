"""What the finders of fields found: the candidates among which `resolve` chooses."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from recibo.extract.model import (
    Category,
    Details,
    DocumentType,
    Extracted,
    LineItem,
    Moment,
    Payment,
    PaymentMethod,
    TaxLine,
)


@dataclass(frozen=True, slots=True)
class TaxBreakdown:
    """A total with its net and tax in a tax table."""

    gross: Decimal
    #: None if only tax and gross are printed.
    net: Extracted[Decimal] | None
    tax: Extracted[Decimal]


@dataclass(frozen=True, slots=True)
class PartyCandidates:
    """The candidates for the fields of the parties and for the due date, best first."""

    merchant_addresses: tuple[Extracted[str], ...] = ()
    customer_names: tuple[Extracted[str], ...] = ()
    customer_tax_ids: tuple[Extracted[str], ...] = ()
    due_dates: tuple[Extracted[dt.date], ...] = ()


@dataclass(frozen=True, slots=True)
class TaxCandidate:
    """A row that may be a tax line of the document."""

    found: Extracted[TaxLine]
    #: The amount with the tax, if it is in the row.
    gross: Decimal | None = None
    #: The taxable amount in another row that agrees with the rate, if there is one.
    base: Decimal | None = None
    features: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PaymentCandidate:
    """A row that mentions how something was paid, or a part of it."""

    found: Extracted[Payment]
    #: Its place in reading order.
    row: int
    features: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AmountCandidate:
    """An amount that may be a discount, a tip, a service charge or a rounding."""

    found: Extracted[Decimal]
    #: Its place in reading order.
    row: int
    features: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DetailCandidates:
    """The candidates for the amounts of bookkeeping, in reading order."""

    #: Tables of taxes, each with its lines.
    tax_tables: tuple[tuple[TaxCandidate, ...], ...] = ()
    #: Labelled taxes.
    taxes: tuple[TaxCandidate, ...] = ()
    #: The taxes of a fiscal document, which its reader knows; None for other documents.
    fiscal_taxes: tuple[Extracted[TaxLine], ...] | None = None
    payments: tuple[PaymentCandidate, ...] = ()
    discounts: tuple[AmountCandidate, ...] = ()
    tips: tuple[AmountCandidate, ...] = ()
    service_charges: tuple[AmountCandidate, ...] = ()
    roundings: tuple[AmountCandidate, ...] = ()
    #: Advances and withheld taxes.
    withheld: tuple[Extracted[Decimal], ...] = ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates for each field, best first."""

    types: tuple[Extracted[DocumentType], ...] = ()
    merchant_names: tuple[Extracted[str], ...] = ()
    merchant_tax_ids: tuple[Extracted[str], ...] = ()
    moments: tuple[Extracted[Moment], ...] = ()
    totals: tuple[Extracted[Decimal], ...] = ()
    #: The features of each total by its value, used to fit weights.
    total_features: Mapping[Decimal, Mapping[str, float]] = field(default_factory=dict)
    subtotals: tuple[Extracted[Decimal], ...] = ()
    taxes: tuple[Extracted[Decimal], ...] = ()
    #: Likely totals with their net and tax in tax tables.
    tax_breakdowns: tuple[TaxBreakdown, ...] = ()
    #: Candidates for the whole tax if no sum determines it.
    tax_sums: tuple[Extracted[Decimal], ...] = ()
    #: Amounts between the subtotal and the total, and between the total and the change.
    charges: tuple[Extracted[Decimal], ...] = ()
    discounts: tuple[Extracted[Decimal], ...] = ()
    roundings: tuple[Extracted[Decimal], ...] = ()
    cash: tuple[Extracted[Decimal], ...] = ()
    change: tuple[Extracted[Decimal], ...] = ()
    #: Amounts paid by card.
    cards: tuple[Extracted[Decimal], ...] = ()
    currencies: tuple[Extracted[str], ...] = ()
    document_numbers: tuple[Extracted[str], ...] = ()
    document_keys: tuple[Extracted[str], ...] = ()
    line_items: tuple[Extracted[LineItem], ...] = ()
    parties: PartyCandidates = field(default_factory=PartyCandidates)
    amounts: DetailCandidates = field(default_factory=DetailCandidates)
    #: The parties, due date and amounts of bookkeeping.
    details: Details = field(default_factory=Details)
    #: How the total was paid, on the proof of a transfer.
    transfer: PaymentMethod | None = None
    categories: tuple[Category, ...] = ()
    #: The text of each page in reading order.
    texts: tuple[str, ...] = ()
