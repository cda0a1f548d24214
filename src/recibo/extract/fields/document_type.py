"""Decides between receipt and invoice."""

from collections.abc import Sequence
from statistics import median

from recibo.extract.fields.total import probability
from recibo.extract.layout.columns import cells
from recibo.extract.layout.rows import Row
from recibo.extract.model import DocumentType, Extracted, TextPage
from recibo.extract.text import lexicon

# Log-odds of an invoice. A receipt is narrow and was paid at the till; a document with
# a customer and a due date was not.
_BIAS = -1.5
_TITLE, _BILLING, _MOST_BILLING = 1.5, 1.2, 3
_RECEIPT_WORD, _MOST_RECEIPT_WORDS, _TILL, _PAGE, _SLIP = -1.0, 2, -1.2, 1.5, -1.0
_HINTED, _NAMED_RECEIPT = 0.8, -1.5
# The height of a line as a share of the width: receipts of 30 to 48 characters per line have 0.04
# or more, full pages of twice as many at most 0.025.
_PAGE_PRINT = 0.028
_TILL_KINDS = ("cash", "change", "card", "rounding")


def types(
    text_pages: Sequence[TextPage], rows: Sequence[Row], hint: DocumentType | None
) -> tuple[Extracted[DocumentType], ...]:
    """Return receipt and invoice, the likelier first; `hint` only breaks ties."""
    title = None if _is_named_receipt(rows) else _title(rows)
    by_title = _TITLE if title else 0
    by_name = _NAMED_RECEIPT if _is_named_receipt(rows) else 0
    score = _BIAS + by_title + by_name + _by_words(rows) + _by_shape(text_pages) + _by_hint(hint)
    invoice = probability(score)
    found = [
        _found(DocumentType.INVOICE, invoice, title),
        _found(DocumentType.RECEIPT, 1 - invoice, title),
    ]
    return tuple(sorted(found, key=lambda kind: -kind.confidence))


def _by_words(rows: Sequence[Row]) -> float:
    billing = {
        row.text[phrase.start : phrase.end].lower()
        for row in rows
        for phrase in lexicon.wordbook("billing").find(row.text)
    }
    receipt = {
        row.text[phrase.start : phrase.end].lower()
        for row in rows
        for phrase in lexicon.wordbook("receipt_title").find(row.text)
    }
    till = any(label.kind in _TILL_KINDS and row.amounts for row in rows for label in row.labels)
    return (
        _BILLING * min(len(billing), _MOST_BILLING)
        + _RECEIPT_WORD * min(len(receipt), _MOST_RECEIPT_WORDS)
        + (_TILL if till else 0)
    )


def _is_named_receipt(rows: Sequence[Row]) -> bool:
    """Return whether the first cell with only a title is the title of a receipt."""
    for row in rows:
        if any(amount.is_money for amount in row.amounts):
            return False
        for text in cells(row):
            if lexicon.wordbook("invoice_title").is_all(text):
                return False
            if lexicon.wordbook("receipt_title").is_all(text):
                return True
    return False


def _by_shape(text_pages: Sequence[TextPage]) -> float:
    lines = text_pages[0].lines if text_pages else ()
    if not lines:
        return 0
    width = max(line.box.x1 for line in lines) - min(line.box.x0 for line in lines)
    return _PAGE if median(line.box.height for line in lines) < _PAGE_PRINT * width else _SLIP


def _by_hint(hint: DocumentType | None) -> float:
    weights = {DocumentType.INVOICE: _HINTED, DocumentType.RECEIPT: -_HINTED}
    return weights.get(hint, 0) if hint else 0


def _title(rows: Sequence[Row]) -> Row | None:
    book = lexicon.wordbook("invoice_title")
    return next((row for row in rows if book.find(row.text)), None)


def _found(kind: DocumentType, confidence: float, title: Row | None) -> Extracted[DocumentType]:
    if title is None:
        return Extracted(kind, confidence, "")
    return Extracted(kind, confidence, title.text, title.line.page, title.line.box)
