"""The types that the stages of extraction exchange.

Coordinates are pixels of the upright page, origin at the top left, x to the right and y down.
For a PDF page with a text layer the pixels are those of the page drawn at `Page.dpi`.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

#: A picture: height x width x 3, RGB, 8 bits a channel.
Picture = npt.NDArray[np.uint8]

#: A gray picture: height x width, 8 bits.
Gray = npt.NDArray[np.uint8]

T = TypeVar("T")


class DocumentType(StrEnum):
    """The types of documents."""

    RECEIPT = "receipt"
    INVOICE = "invoice"
    NFE = "nfe"
    NFCE = "nfce"
    NFSE = "nfse"
    CUPOM_FISCAL = "cupom_fiscal"


class Accuracy(StrEnum):
    """How often a document is read: once, or several times with a vote."""

    STANDARD = "standard"
    HIGH = "high"


class Category(StrEnum):
    """What the money was spent on."""

    GROCERIES = "groceries"
    RESTAURANTS = "restaurants"
    FUEL = "fuel"
    TRANSPORT = "transport"
    LODGING = "lodging"
    HEALTH = "health"
    CLOTHING = "clothing"
    ELECTRONICS = "electronics"
    HOME = "home"
    OFFICE = "office"
    ENTERTAINMENT = "entertainment"
    EDUCATION = "education"
    UTILITIES = "utilities"
    TELECOM = "telecom"
    SERVICES = "services"
    TAXES = "taxes"


class PaymentMethod(StrEnum):
    """How something was paid; `CARD` if the document does not say which kind."""

    CASH = "cash"
    CARD = "card"
    CREDIT_CARD = "credit_card"
    DEBIT_CARD = "debit_card"
    PIX = "pix"
    BANK_TRANSFER = "bank_transfer"
    VOUCHER = "voucher"
    CHECK = "check"
    WALLET = "wallet"
    OTHER = "other"


class Source(StrEnum):
    """Where a value comes from."""

    PAGE = "page"
    #: The e-invoice inside a PDF.
    EMBEDDED = "embedded"


class Edge(StrEnum):
    """The edges of a picture."""

    TOP = "top"
    BOTTOM = "bottom"
    LEFT = "left"
    RIGHT = "right"


class Hint(StrEnum):
    """Why a photo is hard to read."""

    BLURRED = "blurred"
    DARK = "dark"
    GLARE = "glare"
    CUT_OFF = "cut_off"
    LOW_RESOLUTION = "low_resolution"
    #: Most of the text is in a script that the OCR engine does not know.
    UNSUPPORTED_SCRIPT = "unsupported_script"
    #: The pages are documents of their own.
    SEVERAL_DOCUMENTS = "several_documents"


@dataclass(frozen=True, slots=True)
class Quality:
    """How well a page can be read."""

    #: 0 to 1: the steepness of the edges of letters; None without words.
    sharpness: float | None
    #: 0 to 1: of the background.
    brightness: float
    #: The share of the picture in which light is reflected.
    glare: float
    #: The edges that cut words.
    cut_off: tuple[Edge, ...]
    #: Of the file; of a photo an estimate from the height of its lines. None without words.
    resolution_dpi: int | None
    hints: tuple[Hint, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with horizontal and vertical sides; `x1` and `y1` are exclusive."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """The width in pixels."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """The height in pixels."""
        return self.y1 - self.y0

    @property
    def x_center(self) -> float:
        """The middle in x."""
        return (self.x0 + self.x1) / 2

    @property
    def y_center(self) -> float:
        """The middle in y."""
        return (self.y0 + self.y1) / 2

    def union(self, other: Self) -> "Box":
        """Return the smallest box that contains both."""
        return Box(
            min(self.x0, other.x0),
            min(self.y0, other.y0),
            max(self.x1, other.x1),
            max(self.y1, other.y1),
        )


def around(boxes: Sequence[Box]) -> Box:
    """Return the smallest box that contains all boxes; there must be at least one."""
    if len(boxes) == 1:
        return boxes[0]
    return Box(
        min(box.x0 for box in boxes),
        min(box.y0 for box in boxes),
        max(box.x1 for box in boxes),
        max(box.y1 for box in boxes),
    )


@dataclass(frozen=True, slots=True)
class Word:
    """A run of text from OCR or the text layer: one word, or a few with spaces."""

    text: str
    box: Box
    #: 0 to 1; 1 for a text layer.
    confidence: float
    #: Counted from 1.
    page: int = 1
    #: The slope of the text, pixels down per pixel to the right.
    slope: float = 0.0
    #: Whether the text runs up or down the page.
    is_vertical: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """Words next to each other, from left to right."""

    words: tuple[Word, ...]
    box: Box
    page: int = 1

    @property
    def text(self) -> str:
        """The words separated by spaces."""
        return " ".join(word.text for word in self.words)

    @property
    def confidence(self) -> float:
        """The mean of the words' confidences, weighted by their lengths."""
        letters = sum(len(word.text) for word in self.words) or 1
        return sum(word.confidence * len(word.text) for word in self.words) / letters


@dataclass(frozen=True, slots=True)
class Page:
    """One page, drawn only when its pixels are needed."""

    #: Counted from 1.
    number: int
    #: Pixels of the page at scale 1.
    width: int
    height: int
    #: Draws the page at a scale, relative to `width` and `height`; a huge page is drawn smaller
    #: than requested.
    draw: Callable[[float], Picture]
    #: Draws it in gray; None if that is not faster than drawing it in color.
    draw_gray: Callable[[float], Gray] | None = None
    #: Words of a PDF's text layer in pixels at scale 1; empty if the page is only a picture.
    layer: tuple[Word, ...] = ()
    #: Pixels per inch at scale 1; None if the file does not contain it.
    dpi: float | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """A barcode or QR code and its text."""

    #: zxing's name of the symbology: `QRCode`, `Code128`, `EAN13` …
    symbology: str
    text: str
    box: Box
    page: int = 1


@dataclass(frozen=True, slots=True)
class TextPage:
    """One page as text: its lines from top to bottom, and the codes on it."""

    #: Counted from 1.
    number: int
    #: Pixels of the upright page.
    width: int
    height: int
    #: A line has all words of a visual row, however far apart they are.
    lines: tuple[Line, ...]
    codes: tuple[Code, ...] = ()
    #: Whether the lines come from a text layer, without OCR errors.
    is_exact: bool = False
    #: The quarter turns clockwise that set the page of the file upright.
    turns: int = 0
    #: The perceptual hash of its picture; None for a page with a text layer.
    picture_hash: str | None = None
    #: None for a page with a text layer.
    quality: Quality | None = None


@dataclass(frozen=True, slots=True)
class Alternative(Generic[T]):
    """Another value that was considered for a field."""

    value: T
    #: 0 to 1.
    confidence: float


@dataclass(frozen=True, slots=True)
class Extracted(Generic[T]):
    """A value with its evidence."""

    value: T
    #: 0 to 1.
    confidence: float
    #: The text from which it was read: as printed, or of a code on the page.
    text: str
    page: int = 1
    box: Box | None = None
    #: The next best candidates, of the chosen values.
    alternatives: tuple[Alternative[T], ...] = ()
    source: Source = Source.PAGE
    #: The box of all rows of a line item, if it has several; `box` is that of its amount.
    whole_box: Box | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """A date as printed, with its time and UTC offset if known."""

    date: dt.date
    time: dt.time | None = None
    #: As printed or in a code, else of the place of issue; None if the place is unknown.
    offset: dt.timedelta | None = None

    def isoformat(self) -> str:
        """Return the ISO 8601 timestamp: midnight without a time, `+00:00` without a place."""
        zone = dt.timezone(self.offset or dt.timedelta(0))
        return dt.datetime.combine(self.date, self.time or dt.time(0), zone).isoformat()


@dataclass(frozen=True, slots=True)
class LineItem:
    """A line item; numbers as printed, None if not printed."""

    name: str
    qty: Decimal | None = None
    unit_price: Decimal | None = None
    total: Decimal | None = None
    #: The seller's number of the article.
    code: str | None = None
    #: As printed: `UN`, `kg`.
    unit: str | None = None
    #: In percent.
    tax_rate: Decimal | None = None
    #: Positive.
    discount: Decimal | None = None


@dataclass(frozen=True, slots=True)
class TaxLine:
    """A tax at one rate; None for what is not printed."""

    #: As printed: `MwSt`, `CGST`.
    name: str | None = None
    #: In percent.
    rate: Decimal | None = None
    #: The amount that is taxed, without the tax.
    base: Decimal | None = None
    amount: Decimal | None = None
    #: Whether it is only printed for information and not charged.
    is_informational: bool = False


@dataclass(frozen=True, slots=True)
class Payment:
    """One payment; None for what is not printed."""

    method: PaymentMethod
    #: What went toward the total.
    amount: Decimal | None = None
    #: The cash handed over.
    tendered: Decimal | None = None
    #: The last four digits of a card.
    last4: str | None = None


@dataclass(frozen=True, slots=True)
class Details:
    """What bookkeeping needs besides the header. None means that a field is not on the page."""

    #: On one line, its parts joined by `, `.
    merchant_address: Extracted[str] | None = None
    customer_name: Extracted[str] | None = None
    #: Letters and digits only.
    customer_tax_id: Extracted[str] | None = None
    due_date: Extracted[dt.date] | None = None
    #: Positive.
    discount: Extracted[Decimal] | None = None
    tip: Extracted[Decimal] | None = None
    service_charge: Extracted[Decimal] | None = None
    #: Signed.
    rounding: Extracted[Decimal] | None = None
    taxes: tuple[Extracted[TaxLine], ...] = ()
    payments: tuple[Extracted[Payment], ...] = ()


@dataclass(frozen=True, slots=True)
class SeenPage:
    """The upright page to which boxes refer."""

    #: Pixels.
    width: int
    height: int
    #: The quarter turns clockwise that set the page of the file upright.
    turns: int = 0
    #: None for a page with a text layer.
    quality: Quality | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """The header fields of a document. None means that a field is not on the page."""

    type: Extracted[DocumentType]
    merchant_name: Extracted[str] | None = None
    #: Letters and digits only.
    merchant_tax_id: Extracted[str] | None = None
    issued_at: Extracted[Moment] | None = None
    total: Extracted[Decimal] | None = None
    subtotal: Extracted[Decimal] | None = None
    tax: Extracted[Decimal] | None = None
    #: ISO 4217.
    currency: Extracted[str] | None = None
    #: On Brazilian fiscal documents without separators and leading zeros, else as printed.
    document_number: Extracted[str] | None = None
    #: 44 or 50 letters and digits.
    document_key: Extracted[str] | None = None


@dataclass(frozen=True, slots=True)
class Receipt(Header):
    """Everything read from one document."""

    line_items: tuple[Extracted[LineItem], ...] = ()
    details: Details = field(default_factory=Details)
    category: Category | None = None
    #: 0 to 1: the probability that the whole receipt is right.
    confidence: float = 0.0
    #: The text of each page in reading order.
    texts: tuple[str, ...] = field(default=())
    #: How each page was seen.
    pages: tuple[SeenPage, ...] = ()
    #: The perceptual hash of the first page, 16 hex digits; None for a page with a text layer.
    picture_hash: str | None = None
