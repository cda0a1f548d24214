"""The truth of a document of which only a part can be seen."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from training.receipts.brazil import ids, sales
from training.receipts.brazil.rows import rows, signs
from training.receipts.truth import Document, Truth

#: The fields that are in another one: the key contains them.
_IN_KEY = ("merchant_tax_id", "document_number")


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is printed on a page."""

    words: str
    codes: Sequence[str]

    def name(self, value: str) -> bool:
        return signs(value) in signs(self.words)

    def tax_id(self, value: str) -> bool:
        # A key contains the digits, but not as a word.
        return bool(re.search(rf"\b{value}\b|{re.escape(ids.printed(value))}", self.words))

    def moment(self, value: str) -> bool:
        year, month, day = value[:10].split("-")
        return f"{day}/{month}/{year} {value[11:19]}" in self.words

    def number(self, value: str) -> bool:
        return bool(re.search(rf"[ºo.:] ?0*{value}\b", self.words, re.IGNORECASE))

    def key(self, value: str) -> bool:
        return value in signs(self.words) or any(value in code for code in self.codes)

    def tax(self, value: str) -> bool:
        return sales.brazilian(Decimal(value)) in self.words or "Federal" in self.words


def remaining(document: Document) -> Document:
    """Return the document without the values that are not on its page."""
    shown = _shown(document)
    checks = {
        "merchant_name": shown.name,
        "merchant_tax_id": shown.tax_id,
        "issued_at": shown.moment,
        "document_number": shown.number,
        "document_key": shown.key,
        "tax": shown.tax,
    }
    lost = {
        field: value
        for field, is_shown in checks.items()
        if (value := getattr(document.truth, field)) is not None and not is_shown(value)
    }
    return replace(
        document,
        truth=_without(document.truth, lost),
        alternatives=_alternatives(document, lost),
    )


def _without(truth: Truth, lost: Mapping[str, str]) -> Truth:
    def left(field: str) -> str | None:
        return None if field in lost else getattr(truth, field)

    return replace(
        truth,
        merchant_name=left("merchant_name"),
        merchant_tax_id=left("merchant_tax_id"),
        issued_at=left("issued_at"),
        document_number=left("document_number"),
        document_key=left("document_key"),
        tax=left("tax"),
    )


def _alternatives(
    document: Document, lost: Mapping[str, str]
) -> Mapping[str, tuple[str | None, ...]]:
    """Return the alternatives of what is left; what the key contains may be read from it."""
    left = {name: values for name, values in document.alternatives.items() if name not in lost}
    if document.truth.document_key is not None and "document_key" not in lost:
        left |= {field: (lost[field],) for field in _IN_KEY if field in lost}
    return left


def _shown(document: Document) -> _Shown:
    printed = document.print
    words = " ".join(row.text for page in printed.pages for row in rows(page))
    return _Shown(words, [code.text for code in printed.codes()])
