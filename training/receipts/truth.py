"""The contents of a document, with the API's field names, and their entry in a folder's list.

The list has the format of the documents on which the library is measured, so one scorer
scores both.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from training.receipts.prints import Print

#: The precision of a printed moment.
Precision = Literal["date", "minute", "second"]


@dataclass(frozen=True, slots=True)
class TruthItem:
    """A line item as the service must return it; a number that is not printed is None."""

    name: str
    qty: str | None
    unit_price: str | None
    total: str | None


@dataclass(frozen=True, slots=True)
class Truth:
    """The fields that the service must return; a field that is not printed is None."""

    type: str
    merchant_name: str | None
    merchant_tax_id: str | None
    issued_at: str | None
    total: str | None
    subtotal: str | None
    tax: str | None
    currency: str | None
    document_number: str | None
    document_key: str | None
    line_items: tuple[TruthItem, ...]

    def wire(self) -> dict[str, object]:
        """Return the fields in the format of the JSON response."""
        fields = asdict(self)
        return {**fields, "line_items": list(fields["line_items"])}


@dataclass(frozen=True, slots=True)
class TruthTax:
    """A tax as printed: what is not printed is None."""

    rate: str | None
    base: str | None
    amount: str


@dataclass(frozen=True, slots=True)
class TruthPayment:
    """What was paid in one way."""

    #: `card` is any kind of card.
    method: str
    amount: str
    tendered: str | None = None
    last4: str | None = None


@dataclass(frozen=True, slots=True)
class Bookkeeping:
    """The taxes, the payments and what changes the sum; None if it is not printed."""

    taxes: tuple[TruthTax, ...] = ()
    payments: tuple[TruthPayment, ...] = ()
    discount: str | None = None
    tip: str | None = None
    service_charge: str | None = None
    rounding: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One document: how it is printed, and its contents."""

    #: The kind of document in the generator: `till`, `fuel`, `nfce` ...
    kind: str
    #: The layout and its choices, for reports.
    layout: str
    #: A language tag with the country: `de-AT`.
    language: str
    print: Print
    truth: Truth
    #: The precision of `issued_at`.
    precision: Precision = "minute"
    #: The UTC offset, which is not printed but follows from the place, such as `+08:00`.
    timezone: str | None = None
    #: Further right values by field; None if the value may be missing.
    alternatives: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    #: None if it was not established.
    bookkeeping: Bookkeeping | None = None
    #: Fields that cannot be determined from the document.
    unassessed: tuple[str, ...] = ()

    def listed(self, name: str, files: Mapping[str, str]) -> dict[str, object]:
        """Return the entry of a list of documents, given the files of each look."""
        return {
            "id": name,
            "files": dict(files),
            "truth": self.truth.wire(),
            "alternatives": {key: list(values) for key, values in self.alternatives.items()},
            "bookkeeping": asdict(self.bookkeeping) if self.bookkeeping else None,
            "unassessed": list(self.unassessed),
            "issued_at_precision": self.precision,
            "timezone": self.timezone,
            "kind": self.kind,
            "layout": self.layout,
            "language": self.language,
            "codes": [{"format": code.symbology, "text": code.text} for code in self.print.codes()],
        }
