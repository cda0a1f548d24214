"""The JSON of receipts, for the API, webhooks and the command line."""

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field

from recibo.extract import model
from recibo.extract.model import Accuracy, Category, DocumentType, Extracted
from recibo.lib import money
from recibo.schemas.states import FailureCode, ReceiptStatus

T = TypeVar("T")

# Text layers of broken PDFs contain control characters and unpaired surrogates, which some JSON
# parsers and PostgreSQL refuse. They are removed, except for tabs and line ends.
_UNSPEAKABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

# More digits of a confidence would suggest a precision that it lacks.
_CONFIDENCE_DIGITS = 4


class _Wire(BaseModel):
    """A frozen model."""

    model_config = ConfigDict(frozen=True)


class LineItem(_Wire):
    """One line of what was bought."""

    name: str = Field(examples=["Pão francês"])
    qty: str | None = Field(description="As printed.", examples=["0.535"])
    unit_price: str | None = Field(description="As printed.", examples=["18.90"])
    total: str | None = Field(
        description="With the currency's minor digits where it is known.", examples=["10.11"]
    )


class _Typed(_Wire):
    type: DocumentType


class _Fields(_Wire):
    merchant_name: str | None = Field(examples=["PADARIA AURORA LTDA"])
    merchant_tax_id: str | None = Field(
        description="Letters and digits only.", examples=["11222333000181"]
    )
    issued_at: str | None = Field(
        description="ISO 8601 with the UTC offset of the place of issue; midnight when no time "
        "is printed, `+00:00` when no place is known.",
        examples=["2026-03-14T08:17:42-03:00"],
    )
    total: str | None = Field(
        description="A decimal with the currency's minor digits; as printed when the currency "
        "is unknown.",
        examples=["42.59"],
    )
    subtotal: str | None = Field(description="A decimal like `total`.", examples=["42.59"])
    tax: str | None = Field(description="A decimal like `total`.", examples=["5.73"])
    currency: str | None = Field(description="ISO 4217.", examples=["BRL"])
    document_number: str | None = Field(examples=["12345"])
    document_key: str | None = Field(
        description="The access key of a Brazilian fiscal document: 44 or 50 letters and digits.",
        examples=["35250311222333000181650010000123451000864157"],
    )
    line_items: tuple[LineItem, ...]


class Reading(_Fields, _Typed):
    """The fields of a receipt that reading gives. `null` means that it is not on the page."""

    confidence: float = Field(
        ge=0, le=1, description="How likely the answer as a whole is right.", examples=[0.97]
    )
    category: Category | None


class Failure(_Wire):
    """Why a receipt is `failed`."""

    code: FailureCode
    message: str


class _Head(_Wire):
    id: str = Field(examples=["rcp_01964f6e2b7a7c3f9d1e4a5b6c7d8e9f"])
    org_id: str = Field(examples=["org_01964f6e2b7a7c3f9d1e4a5b6c7d8e9f"])
    status: ReceiptStatus
    type: DocumentType | None


class Receipt(_Fields, _Head):
    """A stored receipt. What reading gives is `null` until it is `completed`."""

    confidence: float | None = Field(
        ge=0, le=1, description="How likely the answer as a whole is right.", examples=[0.97]
    )
    category: Category | None
    metadata: dict[str, str] = Field(examples=[{"project": "apollo"}])
    created_by: str = Field(description="The id of the API key that uploaded it.")
    accuracy: Accuracy
    failure: Failure | None
    created_at: dt.datetime
    updated_at: dt.datetime


class FieldEvidence(_Wire):
    """The location of one value."""

    confidence: float = Field(ge=0, le=1)
    page: int = Field(ge=1, description="Counted from 1.")
    box: tuple[int, int, int, int] | None = Field(
        description="`[x0, y0, x1, y1]`, pixels of the upright page, origin at the top left; "
        "`null` if the value has no single location.",
        examples=[[48, 610, 352, 640]],
    )
    text: str = Field(description="The text that it was read from.", examples=["TOTAL R$ 42,59"])


class Evidence(_Wire):
    """For each field that reading gave, where it comes from; `null` for a field that is `null`."""

    type: FieldEvidence
    merchant_name: FieldEvidence | None
    merchant_tax_id: FieldEvidence | None
    issued_at: FieldEvidence | None
    total: FieldEvidence | None
    subtotal: FieldEvidence | None
    tax: FieldEvidence | None
    currency: FieldEvidence | None
    document_number: FieldEvidence | None
    document_key: FieldEvidence | None
    line_items: tuple[FieldEvidence, ...] = Field(description="One each, in their order.")


class DetailedReceipt(Receipt):
    """A stored receipt with what `include` asked for; the rest stays unset."""

    evidence: Evidence | None = Field(default=None, description="With `include=evidence`.")
    text: tuple[str, ...] | None = Field(
        default=None, description="With `include=text`: the text of each page."
    )


def reading(receipt: model.Receipt) -> Reading:
    """Return the JSON model of a reading."""
    currency = _value(receipt.currency, _clean)

    def amount(value: Decimal) -> str:
        return money.in_minor_digits(value, currency)

    return Reading(
        type=receipt.type.value,
        merchant_name=_value(receipt.merchant_name, _clean),
        merchant_tax_id=_value(receipt.merchant_tax_id, _clean),
        issued_at=_value(receipt.issued_at, model.Moment.isoformat),
        total=_value(receipt.total, amount),
        subtotal=_value(receipt.subtotal, amount),
        tax=_value(receipt.tax, amount),
        currency=currency,
        document_number=_value(receipt.document_number, _clean),
        document_key=_value(receipt.document_key, _clean),
        line_items=tuple(_line_item(item.value, amount) for item in receipt.line_items),
        confidence=_share(receipt.confidence),
        category=receipt.category,
    )


def evidence(receipt: model.Receipt) -> Evidence:
    """Return the location of each value of a receipt."""
    return Evidence(
        type=_field_evidence(receipt.type),
        merchant_name=_evidence(receipt.merchant_name),
        merchant_tax_id=_evidence(receipt.merchant_tax_id),
        issued_at=_evidence(receipt.issued_at),
        total=_evidence(receipt.total),
        subtotal=_evidence(receipt.subtotal),
        tax=_evidence(receipt.tax),
        currency=_evidence(receipt.currency),
        document_number=_evidence(receipt.document_number),
        document_key=_evidence(receipt.document_key),
        line_items=tuple(_field_evidence(item) for item in receipt.line_items),
    )


def page_texts(receipt: model.Receipt) -> tuple[str, ...]:
    """Return the text of each page without control characters."""
    return tuple(_clean(text) for text in receipt.texts)


def _line_item(item: model.LineItem, amount: Callable[[Decimal], str]) -> LineItem:
    return LineItem(
        name=_clean(item.name),
        qty=None if item.qty is None else money.as_printed(item.qty),
        unit_price=None if item.unit_price is None else money.as_printed(item.unit_price),
        total=None if item.total is None else amount(item.total),
    )


def _value(found: Extracted[T] | None, spell: Callable[[T], str]) -> str | None:
    # A text of nothing but removed characters counts as not found.
    return None if found is None else spell(found.value) or None


def _evidence(found: Extracted[T] | None) -> FieldEvidence | None:
    return None if found is None else _field_evidence(found)


def _field_evidence(found: Extracted[T]) -> FieldEvidence:
    box = found.box
    return FieldEvidence(
        confidence=_share(found.confidence),
        page=found.page,
        box=box and (round(box.x0), round(box.y0), round(box.x1), round(box.y1)),
        text=_clean(found.text),
    )


def _share(confidence: float) -> float:
    return round(min(max(confidence, 0.0), 1.0), _CONFIDENCE_DIGITS)


def _clean(text: str) -> str:
    return _UNSPEAKABLE.sub("", text)
