"""Decides between receipt and invoice."""

from collections.abc import Mapping, Sequence
from statistics import median

from recibo.extract.layout.rows import Row
from recibo.extract.model import DocumentType, Extracted, Line, TextPage
from recibo.extract.probabilities import probability
from recibo.extract.text import lexicon
from recibo.extract.weights import weights

FIELD = "type"

# More words of one kind say no more.
_MOST_BILLING, _MOST_RECEIPT_WORDS = 3, 2
# The height of a line as a share of the width: receipts of 30 to 48 characters per line have 0.04
# or more, full pages of twice as many at most 0.025.
_PAGE_PRINT = 0.028
# Sentences mention invoices, too.
_PROSE = 60
_TILL_KINDS = ("cash", "change", "card", "rounding")


def types(
    text_pages: Sequence[TextPage], rows: Sequence[Row], hint: DocumentType | None
) -> tuple[Extracted[DocumentType], ...]:
    """Return receipt and invoice, the likelier first; `hint` only breaks ties."""
    title = None if _is_named_receipt(rows) else _title(rows)
    known = weights(FIELD)["invoice"]
    found = features(text_pages, rows, hint)
    invoice = probability(sum(known.get(name, 0.0) * value for name, value in found.items()))
    kinds = [
        _found(DocumentType.INVOICE, invoice, title),
        _found(DocumentType.RECEIPT, 1 - invoice, title),
    ]
    return tuple(sorted(kinds, key=lambda kind: -kind.confidence))


def features(
    text_pages: Sequence[TextPage], rows: Sequence[Row], hint: DocumentType | None = None
) -> Mapping[str, float]:
    """Return what distinguishes an invoice.

    A receipt is narrow and was paid at the till; a document with a customer and a due date was not.
    """
    is_receipt = _is_named_receipt(rows)
    lines = text_pages[0].lines if text_pages else ()
    hinted = {DocumentType.INVOICE: 1.0, DocumentType.RECEIPT: -1.0}
    return {
        "always": 1,
        "title": not is_receipt and _title(rows) is not None,
        "receipt_title": is_receipt,
        "billing": min(_words(rows, "billing"), _MOST_BILLING),
        "receipt_words": min(_words(rows, "receipt_title"), _MOST_RECEIPT_WORDS),
        "till": any(
            label.kind in _TILL_KINDS and row.amounts for row in rows for label in row.labels
        ),
        "page": bool(lines) and _is_small_print(lines),
        "slip": bool(lines) and not _is_small_print(lines),
        "hint": hinted.get(hint, 0.0) if hint else 0.0,
    }


def _words(rows: Sequence[Row], kind: str) -> int:
    """Return the number of different words of a kind."""
    book = lexicon.wordbook(kind)
    return len(
        {
            row.text[phrase.start : phrase.end].lower()
            for row in rows
            for phrase in book.find(row.text)
        }
    )


def _is_named_receipt(rows: Sequence[Row]) -> bool:
    """Return whether the first cell with only a title is the title of a receipt."""
    for row in rows:
        if any(amount.is_money for amount in row.amounts):
            return False
        for cell in row.cells():
            if lexicon.wordbook("invoice_title").is_all(cell.text):
                return False
            if lexicon.wordbook("receipt_title").is_all(cell.text):
                return True
    return False


def _is_small_print(lines: Sequence[Line]) -> bool:
    width = max(line.box.x1 for line in lines) - min(line.box.x0 for line in lines)
    return median(line.box.height for line in lines) < _PAGE_PRINT * width


def _title(rows: Sequence[Row]) -> Row | None:
    book = lexicon.wordbook("invoice_title")
    return next((row for row in rows if row.letters <= _PROSE and book.find(row.text)), None)


def _found(kind: DocumentType, confidence: float, title: Row | None) -> Extracted[DocumentType]:
    if title is None:
        return Extracted(kind, confidence, "")
    return Extracted(kind, confidence, title.text, title.line.page, title.line.box)
