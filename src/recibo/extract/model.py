"""What the stages of reading hand to one another.

Coordinates are pixels of the upright page, origin at the top left, x to the right and y down.
For a PDF page with a text layer the pixels are those of the page drawn at `Page.dpi`.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

#: A picture: height x width x 3, RGB, 8 bits a channel.
Picture = npt.NDArray[np.uint8]

#: The same without colours: height x width.
Grey = npt.NDArray[np.uint8]

T = TypeVar("T")


class DocumentType(StrEnum):
    """The kinds of document the library tells apart."""

    RECEIPT = "receipt"
    INVOICE = "invoice"
    NFE = "nfe"
    NFCE = "nfce"
    NFSE = "nfse"
    CUPOM_FISCAL = "cupom_fiscal"


class Accuracy(StrEnum):
    """How much work a reading may cost: one pass, or several with a vote."""

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


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle; `x1` and `y1` lie outside it."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """The extent in x, pixels."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """The extent in y, pixels."""
        return self.y1 - self.y0

    @property
    def x_centre(self) -> float:
        """The middle in x."""
        return (self.x0 + self.x1) / 2

    @property
    def y_centre(self) -> float:
        """The middle in y."""
        return (self.y0 + self.y1) / 2

    def union(self, other: Self) -> "Box":
        """Return the smallest box that holds both."""
        return Box(
            min(self.x0, other.x0),
            min(self.y0, other.y0),
            max(self.x1, other.x1),
            max(self.y1, other.y1),
        )


def around(boxes: Sequence[Box]) -> Box:
    """Return the smallest box that holds all of them; there must be one."""
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
    """A run of text as the engine or the text layer gave it: one word, or a few with blanks."""

    text: str
    box: Box
    #: 0 to 1; 1 for a text layer.
    confidence: float
    #: Counted from 1.
    page: int = 1
    #: How much the writing falls, pixels down for each pixel to the right.
    slope: float = 0.0
    #: Whether the writing runs up or down the page.
    is_upended: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """Words that stand side by side, left to right."""

    words: tuple[Word, ...]
    box: Box
    page: int = 1

    @property
    def text(self) -> str:
        """The words with one blank between each two."""
        return " ".join(word.text for word in self.words)

    @property
    def confidence(self) -> float:
        """The mean of the words' confidences, weighted by their lengths."""
        letters = sum(len(word.text) for word in self.words) or 1
        return sum(word.confidence * len(word.text) for word in self.words) / letters


@dataclass(frozen=True, slots=True)
class Page:
    """One page, which is drawn only when its pixels are asked for."""

    #: Counted from 1.
    number: int
    #: Pixels of the page at scale 1.
    width: int
    height: int
    #: Draws the page at a scale, about `width` and `height` times as large; a huge page comes
    #: out smaller than asked for.
    draw: Callable[[float], Picture]
    #: Draws it in grey; None where that costs as much as to draw it in colours.
    draw_grey: Callable[[float], Grey] | None = None
    #: Words of a PDF's text layer in pixels at scale 1; empty when the page is a mere picture.
    layer: tuple[Word, ...] = ()
    #: Pixels an inch at scale 1 where the file tells, else None.
    dpi: float | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """A bar code or QR code and what it says."""

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
    #: Words that stand in one visual row make one line, however far apart they are.
    lines: tuple[Line, ...]
    codes: tuple[Code, ...] = ()
    #: Whether the lines come from a text layer and so are exact.
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class Extracted(Generic[T]):
    """A value with its evidence."""

    value: T
    #: 0 to 1.
    confidence: float
    #: The text it was read from, as printed (or what a code on the page said).
    text: str
    page: int = 1
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """A date as printed, with the time and the offset where the paper or the place gives them."""

    date: dt.date
    time: dt.time | None = None
    #: As printed or as a code says, else of the place of issue; None when no place is known.
    offset: dt.timedelta | None = None

    def isoformat(self) -> str:
        """Return the ISO 8601 timestamp: midnight without a time, `+00:00` without a place."""
        zone = dt.timezone(self.offset or dt.timedelta(0))
        return dt.datetime.combine(self.date, self.time or dt.time(0), zone).isoformat()


@dataclass(frozen=True, slots=True)
class LineItem:
    """One line of what was bought; figures as printed, None where not printed."""

    name: str
    qty: Decimal | None = None
    unit_price: Decimal | None = None
    total: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Split:
    """A total as a table of taxes splits it."""

    gross: Decimal
    #: None where only tax and gross are printed.
    net: Extracted[Decimal] | None
    tax: Extracted[Decimal]


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the finders found: for each field its candidates, best first."""

    types: tuple[Extracted[DocumentType], ...] = ()
    merchant_names: tuple[Extracted[str], ...] = ()
    merchant_tax_ids: tuple[Extracted[str], ...] = ()
    moments: tuple[Extracted[Moment], ...] = ()
    totals: tuple[Extracted[Decimal], ...] = ()
    #: The features of each total by its value, from which weights are fitted.
    total_features: Mapping[Decimal, Mapping[str, float]] = field(default_factory=dict)
    subtotals: tuple[Extracted[Decimal], ...] = ()
    taxes: tuple[Extracted[Decimal], ...] = ()
    #: What tables of taxes make of likely totals.
    splits: tuple[Split, ...] = ()
    #: What the whole tax may be where no sum tells.
    levies: tuple[Extracted[Decimal], ...] = ()
    #: What leads from the subtotal to the total, and from the total to the change.
    charges: tuple[Extracted[Decimal], ...] = ()
    discounts: tuple[Extracted[Decimal], ...] = ()
    roundings: tuple[Extracted[Decimal], ...] = ()
    cash: tuple[Extracted[Decimal], ...] = ()
    change: tuple[Extracted[Decimal], ...] = ()
    #: What was paid by card.
    cards: tuple[Extracted[Decimal], ...] = ()
    currencies: tuple[Extracted[str], ...] = ()
    document_numbers: tuple[Extracted[str], ...] = ()
    document_keys: tuple[Extracted[str], ...] = ()
    line_items: tuple[Extracted[LineItem], ...] = ()
    categories: tuple[Category, ...] = ()
    #: The text of each page in reading order.
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Header:
    """What a document says once. None means that it is not on the page."""

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
    #: Of a Brazilian fiscal paper without separators and leading zeros, else as printed.
    document_number: Extracted[str] | None = None
    #: 44 or 50 letters and digits.
    document_key: Extracted[str] | None = None


@dataclass(frozen=True, slots=True)
class Receipt(Header):
    """Everything read from one document."""

    line_items: tuple[Extracted[LineItem], ...] = ()
    category: Category | None = None
    #: 0 to 1: how likely the answer as a whole is right.
    confidence: float = 0.0
    #: The text of each page in reading order.
    texts: tuple[str, ...] = field(default=())
