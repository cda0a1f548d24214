"""Scores readings with the scorers of a data folder, and collects the results."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import cast

from benchmarks import scorers
from benchmarks.reliability import SURE, Verdict, percent
from recibo.extract.model import Extracted, LineItem, Receipt
from training.documents import SROIE, Document

#: The fields of a receipt that are scored, except its line items.
FIELDS = (
    *("total", "issued_at", "merchant_name", "merchant_tax_id", "subtotal", "tax", "currency"),
    *("document_number", "document_key", "type"),
)
ITEMS = "line_items"
#: All fields of a document except its items, and all three fields of a scanned receipt.
HEADER, ALL_THREE = "header", "all three"

_BRAZILIAN = ("nfe", "nfce", "nfse", "cupom_fiscal")

#: The fields of a reading by name, for the scorers; empty if it could not be read.
Reading = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Mark:
    """The result of a field of a file; a list of items counts each of them."""

    document: Document
    field: str
    right: int
    asked: int
    given: int
    is_invented: bool
    #: The confidence of the value.
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a measurement."""

    marks: Sequence[Mark]
    #: The confidence of each receipt, and whether its total is right.
    verdicts: Sequence[Verdict]

    @property
    def rows(self) -> Mapping[str, Mapping[str, float]]:
        """Right values in percent by set and field; for scanned receipts F1, as published."""
        by_set: defaultdict[str, list[Mark]] = defaultdict(list)
        for mark in self.marks:
            by_set[set_name(mark.document)].append(mark)
        return {name: _figures(marks) for name, marks in sorted(by_set.items())}

    @property
    def invented(self) -> int:
        """The number of values given for fields that are not printed."""
        return sum(mark.is_invented for mark in self.marks)

    @property
    def absent(self) -> int:
        """The number of fields that are not printed."""
        return sum(_is_absent(mark.document, mark.field) for mark in self.marks)

    @property
    def sure(self) -> float:
        """The share of receipts with a high confidence."""
        sure = sum(verdict.confidence >= SURE for verdict in self.verdicts)
        return percent(sure, len(self.verdicts))

    @property
    def right_when_sure(self) -> float:
        """The share of those with a right total."""
        claims = [verdict for verdict in self.verdicts if verdict.confidence >= SURE]
        return percent(sum(verdict.is_right for verdict in claims), len(claims))

    @property
    def by_field(self) -> Mapping[str, Sequence[Verdict]]:
        """The verdicts by field."""
        verdicts: defaultdict[str, list[Verdict]] = defaultdict(list)
        for mark in self.marks:
            if mark.confidence is not None:
                verdicts[mark.field].append(Verdict(mark.confidence, is_right=mark.right > 0))
        return verdicts


def report(documents: Sequence[Document], readings: Sequence[Reading]) -> Report:
    """Return the results of all documents."""
    marks = [
        mark
        for document, reading in zip(documents, readings, strict=True)
        for mark in judge(document, reading)
    ]
    sure = {
        document.key: float(str(reading["confidence"]))
        for document, reading in zip(documents, readings, strict=True)
        if reading
    }
    verdicts = [
        Verdict(sure[mark.document.key], is_right=mark.right > 0)
        for mark in marks
        if mark.field == "total" and mark.document.key in sure
    ]
    return Report(marks, verdicts)


def judge(document: Document, reading: Reading) -> Iterator[Mark]:
    """Yield the result of each scored field."""
    sure = cast("Mapping[str, float]", reading.get("confidences") or {})
    for field in FIELDS:
        if field not in document.asked:
            continue
        value = reading.get(field)
        is_right = document.is_right(field, value)
        is_invented = _is_absent(document, field) and value is not None and not is_right
        given = value is not None
        yield Mark(document, field, is_right, 1, given, is_invented, sure.get(field))
    if ITEMS in document.asked and document.truth[ITEMS]:
        scorer = scorers.load(document.scorer)
        read = reading.get(ITEMS)
        right, asked, _ = scorer.items(document.truth[ITEMS], read, document.alternatives)
        count = len(cast("Sequence[object]", read or ()))
        yield Mark(
            document, ITEMS, right["all"], asked["all"], count, is_invented=False, confidence=None
        )


def set_name(document: Document) -> str:
    """Return the row of the tables for a document."""
    if document.data_set == SROIE:
        return "scanned receipts"
    name = document.data_set.replace("-", " ")
    if document.kind == "pdf":
        return f"{name}: text PDFs"
    is_brazilian = document.truth["type"] in _BRAZILIAN
    return f"{name}: {'Brazil' if is_brazilian else 'foreign'}, images"


def spelled(receipt: Receipt) -> Reading:
    """Return a receipt in the format of the scorers."""
    return {
        "type": receipt.type.value.value,
        "merchant_name": _text(receipt.merchant_name),
        "merchant_tax_id": _text(receipt.merchant_tax_id),
        "issued_at": receipt.issued_at.value.isoformat() if receipt.issued_at else None,
        "total": _text(receipt.total),
        "subtotal": _text(receipt.subtotal),
        "tax": _text(receipt.tax),
        "currency": _text(receipt.currency),
        "document_number": _text(receipt.document_number),
        "document_key": _text(receipt.document_key),
        "line_items": [_item(found.value) for found in receipt.line_items],
        "confidence": receipt.confidence,
        "confidences": {
            field: getattr(receipt, field).confidence for field in FIELDS if getattr(receipt, field)
        },
    }


def _text(found: Extracted[str] | Extracted[Decimal] | None) -> str | None:
    return str(found.value) if found else None


def _item(item: LineItem) -> dict[str, str | None]:
    figures = {"qty": item.qty, "unit_price": item.unit_price, "total": item.total}
    return {"name": item.name} | {
        name: None if figure is None else str(figure) for name, figure in figures.items()
    }


def _is_absent(document: Document, field: str) -> bool:
    return document.truth[field] is None


def _figures(marks: Sequence[Mark]) -> dict[str, float]:
    """Return the numbers of one row: of the headers and of each field."""
    by_field: defaultdict[str, list[Mark]] = defaultdict(list)
    for mark in marks:
        by_field[mark.field].append(mark)
        if mark.field != ITEMS:
            by_field[HEADER].append(mark)
    is_scanned = marks[0].document.data_set == SROIE
    share = _f1 if is_scanned else _share
    figures = {field: share(own) for field, own in by_field.items()}
    if is_scanned:
        wrong = Counter(mark.document.key for mark in marks if not mark.right)
        keys = {mark.document.key for mark in marks}
        figures[ALL_THREE] = percent(len(keys - wrong.keys()), len(keys))
    return figures


def _share(marks: Sequence[Mark]) -> float:
    return percent(sum(mark.right for mark in marks), sum(mark.asked for mark in marks))


def _f1(marks: Sequence[Mark]) -> float:
    """Return the harmonic mean of precision and recall."""
    given, asked = sum(mark.given for mark in marks), sum(mark.asked for mark in marks)
    return percent(2 * sum(mark.right for mark in marks), given + asked)
