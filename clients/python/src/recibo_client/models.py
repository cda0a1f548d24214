"""The JSON of the API, generated from its OpenAPI document: see clients/generate.py."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Dict, List, Literal, Optional, Tuple, Union

from pydantic import AwareDatetime, BaseModel, Field
from typing_extensions import TypeAliasType

Accuracy = TypeAliasType("Accuracy", Literal["standard", "high"])
"""
How often a document is read: once, or several times with a vote.
"""


class Alternative(BaseModel):
    """
    Another value that was considered.
    """

    value: str
    confidence: Annotated[float, Field(ge=0.0, le=1.0)]


Box = TypeAliasType("Box", Annotated[Tuple[int, int, int, int], Field(max_length=4, min_length=4)])
"""
`[x0, y0, x1, y1]`, pixels of the upright page, origin at the top left; `null` if the value has no single location.
"""


Category = TypeAliasType(
    "Category",
    Literal[
        "groceries",
        "restaurants",
        "fuel",
        "transport",
        "lodging",
        "health",
        "clothing",
        "electronics",
        "home",
        "office",
        "entertainment",
        "education",
        "utilities",
        "telecom",
        "services",
        "taxes",
    ],
)
"""
What the money was spent on.
"""


class Changes(BaseModel):
    before: Any
    after: Any


Confidence = TypeAliasType("Confidence", Annotated[float, Field(ge=0.0, le=1.0)])
"""
How likely the answer as a whole is right.
"""


DocumentType = TypeAliasType(
    "DocumentType", Literal["receipt", "invoice", "nfe", "nfce", "nfse", "cupom_fiscal"]
)
"""
The types of documents.
"""


Edge = TypeAliasType("Edge", Literal["top", "bottom", "left", "right"])
"""
The edges of a picture.
"""


class ErrorAnswer(BaseModel):
    """
    The body of every answer that is not a success.
    """

    error: ErrorBody


class ErrorBody(BaseModel):
    """
    What went wrong.
    """

    code: str
    message: str
    request_id: str
    details: Optional[List[FieldDetail]] = None
    """
    For validation errors.
    """
    retry_after: Optional[int] = None
    """
    Seconds; for 429 and 503.
    """
    receipt_id: Optional[str] = None
    """
    The failed receipt that was kept.
    """


class EventData(BaseModel):
    """
    What happened, by the type of the event; the rest is None.
    """

    receipt: Optional[Receipt] = None
    changes: Optional[Dict[str, Changes]] = None
    threshold: Optional[Literal[80, 100]] = None
    used: Optional[int] = None
    quota: Optional[int] = None


class EventList(BaseModel):
    """
    One page of events.
    """

    data: Annotated[List[WebhookEvent], Field(validate_default=True)] = []
    has_more: bool
    next_cursor: Optional[str] = None


EventType = TypeAliasType(
    "EventType",
    Literal[
        "receipt.completed",
        "receipt.failed",
        "receipt.corrected",
        "receipt.approved",
        "receipt.deleted",
        "usage.threshold_reached",
        "webhook.test",
    ],
)
"""
The types of webhook events.
"""


class Evidence(BaseModel):
    """
    For each field that reading gave, where it comes from; `null` for a field that is `null`.
    """

    type: FieldEvidence
    merchant_name: Optional[FieldEvidence] = None
    merchant_tax_id: Optional[FieldEvidence] = None
    issued_at: Optional[FieldEvidence] = None
    total: Optional[FieldEvidence] = None
    subtotal: Optional[FieldEvidence] = None
    tax: Optional[FieldEvidence] = None
    currency: Optional[FieldEvidence] = None
    document_number: Optional[FieldEvidence] = None
    document_key: Optional[FieldEvidence] = None
    line_items: Annotated[List[FieldEvidence], Field(validate_default=True)] = []
    """
    One each, in their order.
    """
    merchant_address: Optional[FieldEvidence] = None
    customer_name: Optional[FieldEvidence] = None
    customer_tax_id: Optional[FieldEvidence] = None
    due_date: Optional[FieldEvidence] = None
    discount: Optional[FieldEvidence] = None
    tip: Optional[FieldEvidence] = None
    service_charge: Optional[FieldEvidence] = None
    rounding: Optional[FieldEvidence] = None
    taxes: Annotated[List[FieldEvidence], Field(validate_default=True)] = []
    """
    One each, in their order.
    """
    payments: Annotated[List[FieldEvidence], Field(validate_default=True)] = []
    """
    One each, in their order.
    """
    quality: Optional[Quality] = None
    """
    Of photos and scans; `null` for a PDF with text.
    """


class Failure(BaseModel):
    """
    Why a receipt is `failed`.
    """

    code: Union[FailureCode, str]
    message: str


FailureCode = TypeAliasType(
    "FailureCode",
    Literal["validation_error", "unsupported_format", "low_confidence", "server_error"],
)
"""
Why a receipt is `failed`; the codes of the errors that the upload would have got.
"""


class FieldDetail(BaseModel):
    """
    An invalid field, and why.
    """

    field: str
    message: str


class FieldEvidence(BaseModel):
    """
    The location of one value.
    """

    confidence: Annotated[float, Field(ge=0.0, le=1.0)]
    page: Annotated[int, Field(ge=1)]
    """
    Counted from 1.
    """
    box: Optional[Box] = None
    """
    `[x0, y0, x1, y1]`, pixels of the upright page, origin at the top left; `null` if the value has no single location.
    """
    text: str
    """
    The text that it was read from.
    """
    source: Union[Source, str] = "page"
    """
    `embedded` if it comes from the e-invoice inside the PDF.
    """
    alternatives: Annotated[List[Alternative], Field(validate_default=True)] = []
    """
    Of a doubtful field: up to three other values, the likeliest first. Of an embedded value that the page contradicts: what the page says.
    """


Format = TypeAliasType("Format", Literal["csv", "xlsx", "jsonl", "zip"])
"""
The file formats.
"""


Hint = TypeAliasType(
    "Hint",
    Literal[
        "blurred",
        "dark",
        "glare",
        "cut_off",
        "low_resolution",
        "unsupported_script",
        "several_documents",
    ],
)
"""
Why a photo is hard to read.
"""


KeyKind = TypeAliasType("KeyKind", Literal["secret", "publishable"])
"""
Secret keys are for servers, publishable ones for browsers.
"""


class LineItem(BaseModel):
    """
    One line of what was bought.
    """

    name: str
    qty: Optional[Decimal] = None
    """
    As printed.
    """
    unit_price: Optional[Decimal] = None
    """
    As printed.
    """
    total: Optional[Decimal] = None
    """
    With the currency's minor digits where it is known.
    """
    code: Optional[str] = None
    """
    The seller's article number.
    """
    unit: Optional[str] = None
    """
    As printed.
    """
    tax_rate: Optional[Decimal] = None
    """
    In percent.
    """
    discount: Optional[Decimal] = None
    """
    Positive.
    """


class OwnKey(BaseModel):
    """
    An API key with its org's plan and use.
    """

    id: str
    org_id: str
    name: str
    kind: Union[KeyKind, str]
    prefix: str
    last4: str
    scopes: List[Union[Scope, str]] = []
    is_live: bool
    expires_at: Optional[AwareDatetime] = None
    revoked_at: Optional[AwareDatetime] = None
    created_at: AwareDatetime
    created_by: Optional[str] = None
    last_used_at: Optional[AwareDatetime] = None
    plan: Union[PlanName, str]
    quota_receipts_month: Optional[int] = None
    """
    `null` where there is no quota.
    """
    usage_this_month: int
    """
    Receipts completed this calendar month, UTC.
    """
    credits_used_this_month: int


class PageSize(BaseModel):
    """
    The upright page to which boxes refer.
    """

    width: int
    """
    Pixels.
    """
    height: int
    turns: int
    """
    The quarter turns clockwise that set the page of the file upright.
    """


class Payment(BaseModel):
    """
    One payment. `null` means that it is not printed.
    """

    method: Union[PaymentMethod, str]
    """
    `card` where the document does not say which kind.
    """
    amount: Optional[Decimal] = None
    """
    What went toward the total.
    """
    tendered: Optional[Decimal] = None
    """
    The cash that was given.
    """
    last4: Optional[str] = None
    """
    The last digits of the card.
    """


PaymentMethod = TypeAliasType(
    "PaymentMethod",
    Literal[
        "cash",
        "card",
        "credit_card",
        "debit_card",
        "pix",
        "bank_transfer",
        "voucher",
        "check",
        "wallet",
        "other",
    ],
)
"""
How something was paid; `CARD` if the document does not say which kind.
"""


PlanName = TypeAliasType("PlanName", Literal["free", "indie", "startup", "scale", "enterprise"])
"""
The plans that an org can be on.
"""


class Quality(BaseModel):
    """
    How well the hardest page can be read.
    """

    sharpness: Optional[Sharpness] = None
    """
    `null` if no words were found.
    """
    brightness: Annotated[float, Field(ge=0.0, le=1.0)]
    """
    Of the background.
    """
    glare: Annotated[float, Field(ge=0.0, le=1.0)]
    """
    The share of the picture in reflections.
    """
    cut_off: List[Union[Edge, str]] = []
    """
    The edges that cut words.
    """
    resolution_dpi: Optional[ResolutionDpi] = None
    """
    Of a photo an estimate from the height of its lines.
    """
    hints: List[Union[Hint, str]] = []
    """
    What makes it hard to read. The list grows.
    """


class Reading(BaseModel):
    """
    The fields of a receipt that reading gives. `null` means that it is not on the page.
    """

    type: Union[DocumentType, str]
    merchant_name: Optional[str] = None
    merchant_tax_id: Optional[str] = None
    """
    Letters and digits only.
    """
    issued_at: Optional[AwareDatetime] = None
    """
    ISO 8601 with the UTC offset of the place of issue; midnight when no time is printed, `+00:00` when no place is known.
    """
    total: Optional[Decimal] = None
    """
    A decimal with the currency's minor digits; as printed when the currency is unknown.
    """
    subtotal: Optional[Decimal] = None
    """
    A decimal like `total`.
    """
    tax: Optional[Decimal] = None
    """
    A decimal like `total`.
    """
    currency: Optional[str] = None
    """
    ISO 4217.
    """
    document_number: Optional[str] = None
    document_key: Optional[str] = None
    """
    The access key of a Brazilian fiscal document: 44 or 50 letters and digits.
    """
    line_items: Annotated[List[LineItem], Field(validate_default=True)] = []
    merchant_address: Optional[str] = None
    """
    One line, its parts joined by `, `.
    """
    customer_name: Optional[str] = None
    customer_tax_id: Optional[str] = None
    """
    Letters and digits only.
    """
    due_date: Optional[date] = None
    """
    `YYYY-MM-DD`.
    """
    discount: Optional[Decimal] = None
    """
    A positive decimal like `total`.
    """
    tip: Optional[Decimal] = None
    """
    A decimal like `total`.
    """
    service_charge: Optional[Decimal] = None
    """
    A decimal like `total`.
    """
    rounding: Optional[Decimal] = None
    """
    A decimal like `total`, with its sign.
    """
    taxes: Annotated[List[TaxLine], Field(validate_default=True)] = []
    """
    One for each rate or tax that is printed.
    """
    payments: Annotated[List[Payment], Field(validate_default=True)] = []
    confidence: Annotated[float, Field(ge=0.0, le=1.0)]
    """
    How likely the answer as a whole is right.
    """
    category: Optional[Union[Category, str]] = None


class Receipt(BaseModel):
    """
    A stored receipt. What reading gives is `null` until it is `completed`.
    """

    id: str
    org_id: str
    status: Union[ReceiptStatus, str]
    type: Optional[Union[DocumentType, str]] = None
    merchant_name: Optional[str] = None
    merchant_tax_id: Optional[str] = None
    """
    Letters and digits only.
    """
    issued_at: Optional[AwareDatetime] = None
    """
    ISO 8601 with the UTC offset of the place of issue; midnight when no time is printed, `+00:00` when no place is known.
    """
    total: Optional[Decimal] = None
    """
    A decimal with the currency's minor digits; as printed when the currency is unknown.
    """
    subtotal: Optional[Decimal] = None
    """
    A decimal like `total`.
    """
    tax: Optional[Decimal] = None
    """
    A decimal like `total`.
    """
    currency: Optional[str] = None
    """
    ISO 4217.
    """
    document_number: Optional[str] = None
    document_key: Optional[str] = None
    """
    The access key of a Brazilian fiscal document: 44 or 50 letters and digits.
    """
    line_items: Annotated[List[LineItem], Field(validate_default=True)] = []
    merchant_address: Optional[str] = None
    """
    One line, its parts joined by `, `.
    """
    customer_name: Optional[str] = None
    customer_tax_id: Optional[str] = None
    """
    Letters and digits only.
    """
    due_date: Optional[date] = None
    """
    `YYYY-MM-DD`.
    """
    discount: Optional[Decimal] = None
    """
    A positive decimal like `total`.
    """
    tip: Optional[Decimal] = None
    """
    A decimal like `total`.
    """
    service_charge: Optional[Decimal] = None
    """
    A decimal like `total`.
    """
    rounding: Optional[Decimal] = None
    """
    A decimal like `total`, with its sign.
    """
    taxes: Annotated[List[TaxLine], Field(validate_default=True)] = []
    """
    One for each rate or tax that is printed.
    """
    payments: Annotated[List[Payment], Field(validate_default=True)] = []
    confidence: Optional[Confidence] = None
    """
    How likely the answer as a whole is right.
    """
    category: Optional[Union[Category, str]] = None
    metadata: Dict[str, str]
    created_by: str
    """
    The id of the API key that uploaded it.
    """
    accuracy: Union[Accuracy, str]
    failure: Optional[Failure] = None
    version: int
    """
    Grows with every change of a completed receipt.
    """
    review: Optional[Review] = None
    """
    `null` until it is `completed`.
    """
    corrected_fields: List[str] = []
    """
    The fields that a person changed.
    """
    duplicates: List[str] = []
    """
    The ids of other receipts that look like the same document.
    """
    created_at: AwareDatetime
    updated_at: AwareDatetime
    evidence: Optional[Evidence] = None
    """
    With `include=evidence`.
    """
    text: Optional[List[str]] = None
    """
    With `include=text`: the text of each page.
    """
    reading: Optional[Reading] = None
    """
    With `include=reading`: what the machine read, uncorrected.
    """
    pages: Optional[List[PageSize]] = None
    """
    With `include=pages`: the pages to which boxes refer; `null` for a receipt that an older release read.
    """


class ReceiptList(BaseModel):
    """
    One page of receipts.
    """

    data: Annotated[List[Receipt], Field(validate_default=True)] = []
    has_more: bool
    next_cursor: Optional[str] = None


ReceiptStatus = TypeAliasType("ReceiptStatus", Literal["pending", "completed", "failed"])
"""
`pending` becomes `completed` or `failed`.
"""


ResolutionDpi = TypeAliasType("ResolutionDpi", Annotated[int, Field(ge=0)])
"""
Of a photo an estimate from the height of its lines.
"""


class Review(BaseModel):
    """
    Whether a person should look at a receipt, or has approved it.
    """

    status: Union[ReviewStatus, str]
    reasons: Annotated[List[ReviewReason], Field(validate_default=True)] = []
    """
    Judged again after each change; they stay when it is approved.
    """
    by: Optional[str] = None
    """
    The id of the user or API key that approved it.
    """
    at: Optional[AwareDatetime] = None
    """
    When it was approved.
    """


ReviewCode = TypeAliasType(
    "ReviewCode",
    Literal[
        "low_confidence", "missing", "amounts_disagree", "possible_duplicate", "embedded_differs"
    ],
)
"""
Why a person should look at a receipt.
"""


class ReviewReason(BaseModel):
    """
    Why a person should look at a receipt.
    """

    code: Union[ReviewCode, str]
    """
    The list grows.
    """
    field: Optional[str] = None
    """
    The field in doubt; `null` for the receipt as a whole.
    """


ReviewStatus = TypeAliasType("ReviewStatus", Literal["needs_review", "ready", "approved"])
"""
Whether a person should look at a completed receipt, or has approved it.
"""


Rows = TypeAliasType("Rows", Literal["receipts", "items"])
"""
What a row of a table is.
"""


Scope = TypeAliasType("Scope", Literal["read", "write", "extract:write"])
"""
The scopes of an API key; `write` does not include `read`.
"""


Sharpness = TypeAliasType("Sharpness", Annotated[float, Field(ge=0.0, le=1.0)])
"""
`null` if no words were found.
"""


Source = TypeAliasType("Source", Literal["page", "embedded"])
"""
Where a value comes from.
"""


class TaxLine(BaseModel):
    """
    One tax at one rate. `null` means that it is not printed.
    """

    name: Optional[str] = None
    """
    As printed.
    """
    rate: Optional[Decimal] = None
    """
    In percent.
    """
    base: Optional[Decimal] = None
    """
    The taxed amount without the tax.
    """
    amount: Optional[Decimal] = None
    informational: bool
    """
    `true` for a tax that is printed for information and not charged: the approximate taxes of Brazil's Lei 12.741.
    """


class WebhookEvent(BaseModel):
    """
    The body of a webhook.
    """

    id: str
    type: Union[EventType, str]
    """
    The list grows.
    """
    org_id: str
    created_at: AwareDatetime
    data: EventData
