"""The JSON of receipts, for the API, webhooks and the command line."""

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field

from recibo.extract import model
from recibo.extract.model import (
    Accuracy,
    Category,
    DocumentType,
    Edge,
    Extracted,
    Hint,
    PaymentMethod,
    Source,
)
from recibo.lib import money
from recibo.schemas.formats import DateText, DecimalText, TimestampText
from recibo.schemas.states import FailureCode, ReceiptStatus, ReviewCode, ReviewStatus

T = TypeVar("T")

# Text layers of broken PDFs contain control characters and unpaired surrogates, which some JSON
# parsers and PostgreSQL refuse. They are removed, except for tabs and line ends.
# The reader marks gaps within numbers and between columns by them.
_WIDE_SPACES = str.maketrans("\u2003\u2008", "  ")
_UNSPEAKABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

#: A field that is less likely right than this is doubtful.
DOUBTFUL = 0.7

#: The amounts of a receipt, in its currency.
AMOUNTS = ("total", "subtotal", "tax", "discount", "tip", "service_charge", "rounding")

#: The tag with the file name, which identifies a receipt until it is read.
FILENAME = "filename"

# More digits of a confidence would suggest a precision that it lacks.
_CONFIDENCE_DIGITS = 4


class _Wire(BaseModel):
    """A frozen model."""

    model_config = ConfigDict(frozen=True)


class LineItem(_Wire):
    """One line of what was bought."""

    name: str = Field(examples=["Pão francês"])
    qty: DecimalText | None = Field(description="As printed.", examples=["0.535"])
    unit_price: DecimalText | None = Field(description="As printed.", examples=["18.90"])
    total: DecimalText | None = Field(
        description="With the currency's minor digits where it is known.", examples=["10.11"]
    )
    code: str | None = Field(
        default=None, description="The seller's article number.", examples=["7891000"]
    )
    unit: str | None = Field(default=None, description="As printed.", examples=["KG"])
    tax_rate: DecimalText | None = Field(default=None, description="In percent.", examples=["19"])
    discount: DecimalText | None = Field(default=None, description="Positive.", examples=["0.50"])


class TaxLine(_Wire):
    """One tax at one rate. `null` means that it is not printed."""

    name: str | None = Field(default=None, description="As printed.", examples=["MwSt"])
    rate: DecimalText | None = Field(default=None, description="In percent.", examples=["7.7"])
    base: DecimalText | None = Field(
        default=None, description="The taxed amount without the tax.", examples=["10.00"]
    )
    amount: DecimalText | None = Field(default=None, examples=["0.77"])
    informational: bool = Field(
        description="`true` for a tax that is printed for information and not charged: the "
        "approximate taxes of Brazil's Lei 12.741."
    )


class Payment(_Wire):
    """One payment. `null` means that it is not printed."""

    method: PaymentMethod = Field(
        description="`card` where the document does not say which kind.", examples=["cash"]
    )
    amount: DecimalText | None = Field(
        default=None, description="What went toward the total.", examples=["42.59"]
    )
    tendered: DecimalText | None = Field(
        default=None, description="The cash that was given.", examples=["50.00"]
    )
    last4: str | None = Field(
        default=None, description="The last digits of the card.", examples=["4242"]
    )


class _Typed(_Wire):
    type: DocumentType


class _Fields(_Wire):
    merchant_name: str | None = Field(examples=["PADARIA AURORA LTDA"])
    merchant_tax_id: str | None = Field(
        description="Letters and digits only.", examples=["11222333000181"]
    )
    issued_at: TimestampText | None = Field(
        description="ISO 8601 with the UTC offset of the place of issue; midnight when no time "
        "is printed, `+00:00` when no place is known.",
        examples=["2026-03-14T08:17:42-03:00"],
    )
    total: DecimalText | None = Field(
        description="A decimal with the currency's minor digits; as printed when the currency "
        "is unknown.",
        examples=["42.59"],
    )
    subtotal: DecimalText | None = Field(description="A decimal like `total`.", examples=["42.59"])
    tax: DecimalText | None = Field(description="A decimal like `total`.", examples=["5.73"])
    currency: str | None = Field(description="ISO 4217.", examples=["BRL"])
    document_number: str | None = Field(examples=["12345"])
    document_key: str | None = Field(
        description="The access key of a Brazilian fiscal document: 44 or 50 letters and digits.",
        examples=["35250311222333000181650010000123451000864157"],
    )
    line_items: tuple[LineItem, ...]
    merchant_address: str | None = Field(
        default=None,
        description="One line, its parts joined by `, `.",
        examples=["Rua das Flores 12, São Paulo"],
    )
    customer_name: str | None = Field(default=None, examples=["Oficina Lima ME"])
    customer_tax_id: str | None = Field(
        default=None, description="Letters and digits only.", examples=["44555666000199"]
    )
    due_date: DateText | None = Field(
        default=None, description="`YYYY-MM-DD`.", examples=["2026-04-13"]
    )
    discount: DecimalText | None = Field(
        default=None, description="A positive decimal like `total`.", examples=["5.00"]
    )
    tip: DecimalText | None = Field(
        default=None, description="A decimal like `total`.", examples=["4.00"]
    )
    service_charge: DecimalText | None = Field(
        default=None, description="A decimal like `total`.", examples=["3.87"]
    )
    rounding: DecimalText | None = Field(
        default=None, description="A decimal like `total`, with its sign.", examples=["-0.02"]
    )
    taxes: tuple[TaxLine, ...] = Field(
        default=(), description="One for each rate or tax that is printed."
    )
    payments: tuple[Payment, ...] = ()


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


class ReviewReason(_Wire):
    """Why a person should look at a receipt."""

    code: ReviewCode = Field(description="The list grows.")
    field: str | None = Field(
        description="The field in doubt; `null` for the receipt as a whole.", examples=["total"]
    )


class Review(_Wire):
    """Whether a person should look at a receipt, or has approved it."""

    status: ReviewStatus
    reasons: tuple[ReviewReason, ...] = Field(
        description="Judged again after each change; they stay when it is approved."
    )
    by: str | None = Field(description="The id of the user or API key that approved it.")
    at: dt.datetime | None = Field(description="When it was approved.")


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
    version: int = Field(description="Grows with every change of a completed receipt.")
    review: Review | None = Field(description="`null` until it is `completed`.")
    corrected_fields: tuple[str, ...] = Field(
        description="The fields that a person changed.", examples=[["total"]]
    )
    duplicates: tuple[str, ...] = Field(
        description="The ids of other receipts that look like the same document.", examples=[[]]
    )
    created_at: dt.datetime
    updated_at: dt.datetime


class Alternative(_Wire):
    """Another value that was considered."""

    value: str
    confidence: float = Field(ge=0, le=1)


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
    source: Source = Field(
        default=Source.PAGE,
        description="`embedded` if it comes from the e-invoice inside the PDF.",
    )
    alternatives: tuple[Alternative, ...] = Field(
        default=(),
        description="Of a doubtful field: up to three other values, the likeliest first. Of an "
        "embedded value that the page contradicts: what the page says.",
    )


class Quality(_Wire):
    """How well the hardest page can be read."""

    sharpness: float | None = Field(
        ge=0, le=1, description="`null` if no words were found.", examples=[0.91]
    )
    brightness: float = Field(ge=0, le=1, description="Of the background.", examples=[0.84])
    glare: float = Field(ge=0, le=1, description="The share of the picture in reflections.")
    cut_off: tuple[Edge, ...] = Field(description="The edges that cut words.", examples=[[]])
    resolution_dpi: int | None = Field(
        ge=0, description="Of a photo an estimate from the height of its lines.", examples=[310]
    )
    hints: tuple[Hint, ...] = Field(
        description="What makes it hard to read. The list grows.", examples=[[]]
    )


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
    merchant_address: FieldEvidence | None = None
    customer_name: FieldEvidence | None = None
    customer_tax_id: FieldEvidence | None = None
    due_date: FieldEvidence | None = None
    discount: FieldEvidence | None = None
    tip: FieldEvidence | None = None
    service_charge: FieldEvidence | None = None
    rounding: FieldEvidence | None = None
    taxes: tuple[FieldEvidence, ...] = Field(default=(), description="One each, in their order.")
    payments: tuple[FieldEvidence, ...] = Field(default=(), description="One each, in their order.")
    quality: Quality | None = Field(
        default=None, description="Of photos and scans; `null` for a PDF with text."
    )


class PageSize(_Wire):
    """The upright page to which boxes refer."""

    width: int = Field(description="Pixels.")
    height: int
    turns: int = Field(
        description="The quarter turns clockwise that set the page of the file upright."
    )


class DetailedReceipt(Receipt):
    """A stored receipt with what `include` asked for; the rest stays unset."""

    evidence: Evidence | None = Field(default=None, description="With `include=evidence`.")
    text: tuple[str, ...] | None = Field(
        default=None, description="With `include=text`: the text of each page."
    )
    reading: Reading | None = Field(
        default=None, description="With `include=reading`: what the machine read, uncorrected."
    )
    pages: tuple[PageSize, ...] | None = Field(
        default=None,
        description="With `include=pages`: the pages to which boxes refer; `null` for a receipt "
        "that an older release read.",
    )


def reading(receipt: model.Receipt) -> Reading:
    """Return the JSON model of a reading."""
    currency = _value(receipt.currency, _clean)
    amount = _amount_in(currency)
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
        merchant_address=_value(receipt.details.merchant_address, _clean),
        customer_name=_value(receipt.details.customer_name, _clean),
        customer_tax_id=_value(receipt.details.customer_tax_id, _clean),
        due_date=_value(receipt.details.due_date, dt.date.isoformat),
        discount=_value(receipt.details.discount, amount),
        tip=_value(receipt.details.tip, amount),
        service_charge=_value(receipt.details.service_charge, amount),
        rounding=_value(receipt.details.rounding, amount),
        taxes=tuple(_tax_line(tax.value, amount) for tax in receipt.details.taxes),
        payments=tuple(_payment(one.value, amount) for one in receipt.details.payments),
        confidence=_share(receipt.confidence),
        category=receipt.category,
    )


def evidence(receipt: model.Receipt) -> Evidence:
    """Return the location of each value of a receipt."""
    amount = _amount_in(_value(receipt.currency, _clean))
    of = money.speller_of(amount)
    return Evidence(
        type=_field_evidence(receipt.type, str),
        merchant_name=_evidence(receipt.merchant_name, _clean),
        merchant_tax_id=_evidence(receipt.merchant_tax_id, _clean),
        issued_at=_evidence(receipt.issued_at, model.Moment.isoformat),
        total=_evidence(receipt.total, amount),
        subtotal=_evidence(receipt.subtotal, amount),
        tax=_evidence(receipt.tax, amount),
        currency=_evidence(receipt.currency, _clean),
        document_number=_evidence(receipt.document_number, _clean),
        document_key=_evidence(receipt.document_key, _clean),
        line_items=tuple(_field_evidence(item, of("total")) for item in receipt.line_items),
        merchant_address=_evidence(receipt.details.merchant_address, _clean),
        customer_name=_evidence(receipt.details.customer_name, _clean),
        customer_tax_id=_evidence(receipt.details.customer_tax_id, _clean),
        due_date=_evidence(receipt.details.due_date, dt.date.isoformat),
        discount=_evidence(receipt.details.discount, amount),
        tip=_evidence(receipt.details.tip, amount),
        service_charge=_evidence(receipt.details.service_charge, amount),
        rounding=_evidence(receipt.details.rounding, amount),
        taxes=tuple(_field_evidence(tax, of("amount")) for tax in receipt.details.taxes),
        payments=tuple(_field_evidence(payment) for payment in receipt.details.payments),
        quality=_quality(receipt),
    )


def _quality(receipt: model.Receipt) -> Quality | None:
    measured = [page.quality for page in receipt.pages if page.quality]
    if not measured:
        return None
    hardest = max(measured, key=lambda one: (len(one.hints), -(one.sharpness or 0)))
    return Quality.model_validate(hardest, from_attributes=True)


def pages(receipt: model.Receipt) -> list[PageSize]:
    """Return the sizes of the pages to which boxes refer."""
    return [PageSize(width=one.width, height=one.height, turns=one.turns) for one in receipt.pages]


def page_texts(receipt: model.Receipt) -> tuple[str, ...]:
    """Return the text of each page without control characters."""
    return tuple(_clean(text) for text in receipt.texts)


def _line_item(item: model.LineItem, amount: Callable[[Decimal], str]) -> LineItem:
    return LineItem(
        name=_clean(item.name),
        qty=_printed(item.qty),
        unit_price=_printed(item.unit_price),
        total=None if item.total is None else amount(item.total),
        code=_text(item.code),
        unit=_text(item.unit),
        tax_rate=_printed(item.tax_rate),
        discount=None if item.discount is None else amount(item.discount),
    )


def _tax_line(tax: model.TaxLine, amount: Callable[[Decimal], str]) -> TaxLine:
    return TaxLine(
        name=_text(tax.name),
        rate=_printed(tax.rate),
        base=None if tax.base is None else amount(tax.base),
        amount=None if tax.amount is None else amount(tax.amount),
        informational=tax.is_informational,
    )


def _payment(payment: model.Payment, amount: Callable[[Decimal], str]) -> Payment:
    return Payment(
        method=payment.method,
        amount=None if payment.amount is None else amount(payment.amount),
        tendered=None if payment.tendered is None else amount(payment.tendered),
        last4=payment.last4,
    )


def _printed(figure: Decimal | None) -> str | None:
    return None if figure is None else money.as_printed(figure)


def _text(text: str | None) -> str | None:
    return _clean(text) or None if text else None


def _value(found: Extracted[T] | None, spell: Callable[[T], str]) -> str | None:
    # A text of nothing but removed characters counts as not found.
    return None if found is None else spell(found.value) or None


def _amount_in(currency: str | None) -> Callable[[Decimal], str]:
    return lambda value: money.in_minor_digits(value, currency)


def _evidence(
    found: Extracted[T] | None, spell: Callable[[T], str] | None = None
) -> FieldEvidence | None:
    return None if found is None else _field_evidence(found, spell)


def _field_evidence(found: Extracted[T], spell: Callable[[T], str] | None = None) -> FieldEvidence:
    box = found.whole_box or found.box
    is_doubtful = found.confidence < DOUBTFUL or found.source is Source.EMBEDDED
    others = found.alternatives if spell and is_doubtful else ()
    return FieldEvidence(
        confidence=_share(found.confidence),
        page=found.page,
        box=box and (round(box.x0), round(box.y0), round(box.x1), round(box.y1)),
        text=_clean(found.text),
        source=found.source,
        alternatives=tuple(
            Alternative(value=text, confidence=_share(one.confidence))
            for one in others
            if spell and (text := spell(one.value))
        ),
    )


def _share(confidence: float) -> float:
    return round(min(max(confidence, 0.0), 1.0), _CONFIDENCE_DIGITS)


def _clean(text: str) -> str:
    return _UNSPEAKABLE.sub("", text).translate(_WIDE_SPACES)
