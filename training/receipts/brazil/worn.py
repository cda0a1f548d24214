"""NFC-e and coupons of printers as people keep them: cut off, blotted out, worn at folds.

What a page no longer shows is null in its truth, as in that of real pictures.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from training.receipts.brazil import consumer_notes, headless, printers, remains, rows
from training.receipts.brazil.rows import Row
from training.receipts.faces import Case
from training.receipts.prints import Code, Page, Print
from training.receipts.truth import Document

# How often the head is cut off or blotted out, and the foot with the code is not in the picture.
_CUT_HEAD, _BLOTTED, _CUT_FOOT = 0.04, 0.08, 0.55
# How often the cut goes through the rows between the payment and the code.
_HIGHER = 0.1
# How often an NFC-e has the name of its kind as a logo at the left of its head.
_WITH_LOGO = 0.25
# How often a fold rubs these rows off in part, and how many of them.
_RUBBED = {"name": 0.1, "tax id": 0.4, "sum": 0.37, "key": 0.55}
_ROWS = {"name": (1.0, 3.0), "tax id": (1.0, 2.5), "sum": (0.8, 1.6), "key": (0.8, 2.0)}


def consumer_note(rng: random.Random, language: str, case: Case) -> Document:
    """Return an NFC-e as it is kept."""
    return _worn(rng, consumer_notes.consumer_note(rng, language, case))


def printed_coupon(rng: random.Random, language: str, case: Case) -> Document:
    """Return the coupon of a fiscal printer as it is kept."""
    return _worn(rng, printers.printed_coupon(rng, language, case))


def _worn(rng: random.Random, document: Document) -> Document:
    page = document.print.pages[0]
    unassessed = document.unassessed
    fate = rng.random()
    if fate < _CUT_HEAD:
        page = headless.cut(rng, page, document.truth)
    elif fate < _CUT_HEAD + _BLOTTED:
        page = headless.blotted(rng, page, document.truth)
        unassessed = unassessed if page.has_name_first else (*unassessed, "merchant_name")
    elif document.kind == "nfce" and rng.random() < _WITH_LOGO:
        page = headless.next_to_logo(page)
    if rng.random() < _CUT_FOOT:
        page = _without_foot(rng, page)
    page = replace(page, rubbed=tuple(_rubbed(rng, page, document)))
    return remains.remaining(
        replace(document, kind=f"worn {document.kind}", print=Print((page,)), unassessed=unassessed)
    )


def _without_foot(rng: random.Random, page: Page) -> Page:
    """Return the page up to its code, or less; the payment is always on it."""
    printed = rows.rows(page)
    paid = rows.paid(printed)
    code = next((mark for mark in page.marks if isinstance(mark, Code)), None)
    end = code.y if code else page.height
    below = [row for row in printed[paid + 1 :] if row.y < end]
    if not below:
        return page
    last = rng.choice(below) if rng.random() < _HIGHER or not code else below[-1]
    return page.part(0, last.bottom + rng.uniform(0, 0.3) * last.size)


def _rubbed(rng: random.Random, page: Page, document: Document) -> Iterator[tuple[float, float]]:
    """Yield the upper and the lower end of each part of the page that a fold rubbed off."""
    for name, among in _places(rows.rows(page), document).items():
        chosen, tall = rng.random() < _RUBBED[name], rng.uniform(*_ROWS[name])
        if among and chosen:
            row = rng.choice(among)
            middle = row.y - row.size * rng.uniform(0.1, 0.6)
            yield middle - tall * row.size / 2, middle + tall * row.size / 2


def _places(printed: Sequence[Row], document: Document) -> Mapping[str, Sequence[Row]]:
    """Return the rows that a fold may go through.

    Through the items it does not: illegible items of real pictures are not assessed.
    """
    key, head = document.truth.document_key, rows.head(printed)
    tax_id = document.truth.merchant_tax_id or ""
    return {
        "name": head[:1],
        "tax id": [row for row in head if tax_id in rows.signs(row.text)],
        "sum": [row for row in printed if rows.is_sum(row)][:1],
        "key": [row for row in printed if rows.is_of_key(row, key)],
    }
