"""Heads of receipts as people leave them: cut off, blotted out, or next to a logo."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from training.receipts import faces
from training.receipts.brazil.rows import Row, head, rows, signs
from training.receipts.prints import Mark, Page, Rule, Text
from training.receipts.truth import Truth

# How often only the names are cut off, and not the whole head.
_NAMES_ONLY = 0.5
# How often the owner blots out the whole head, and how often by erasing it, not with a pen.
_WHOLE_HEAD, _ERASED = 0.5, 0.4
# Strokes of a pen in a blotted row, for each letter of it.
_STROKES = 3.0
# The shares of the width that a logo and the space after it have.
_LOGO, _GAP = 0.24, 0.03
#: The rows next to a logo.
_NEXT = 4


def cut(rng: random.Random, page: Page, truth: Truth) -> Page:
    """Return the page without its names, or without its head."""
    printed = rows(page)
    below = _after_name(printed, truth) if rng.random() < _NAMES_ONLY else len(head(printed))
    top = printed[below].y - 1.05 * printed[below].size
    return replace(page.part(top, page.height), has_name_first=False)


def blotted(rng: random.Random, page: Page, truth: Truth) -> Page:
    """Return the page with its head, or with the row of the tax id, made illegible."""
    printed = rows(page)
    if rng.random() < _WHOLE_HEAD:
        hidden = head(printed)
    else:
        tax_id = truth.merchant_tax_id or ""
        hidden = [row for row in head(printed) if tax_id in signs(row.text)]
    gone = {mark for row in hidden for mark in row.marks}
    strokes = [] if rng.random() < _ERASED else [one for row in hidden for one in _pen(rng, row)]
    left = tuple(mark for mark in page.marks if mark not in gone)
    is_name_left = printed[0] not in hidden
    return replace(page, marks=(*left, *strokes), has_name_first=is_name_left)


def next_to_logo(page: Page) -> Page:
    """Return the page with the first rows at the right of the letters NFC-e."""
    printed = rows(page)[:_NEXT]
    moved = {mark: _right(mark, page.width) for row in printed for mark in row.marks}
    middle = printed[len(printed) // 2]
    face = faces.DEJAVU_SANS
    wide = face.width("NFC-e", 1, is_bold=True)
    logo = Text(
        "NFC-e",
        0.05 * page.width,
        middle.y,
        size=_LOGO * page.width / wide * 0.9,
        face=face,
        is_bold=True,
    )
    marks = tuple(
        moved[mark] if isinstance(mark, Text) and mark in moved else mark for mark in page.marks
    )
    return replace(page, marks=(*marks, logo), has_name_first=False)


def _right(mark: Text, width: float) -> Text:
    """Return a text at the right of a logo, narrower if it has no room."""
    text = " ".join(mark.text.split())
    plain = replace(mark, text=text, x=(_LOGO + 2 * _GAP) * width, anchor="left")
    room = width * (1 - _LOGO - 3 * _GAP)
    return replace(plain, stretch=plain.stretch * min(1.0, room / plain.width))


def _after_name(printed: Sequence[Row], truth: Truth) -> int:
    """Return the place of the row below the name."""
    name, read = signs(truth.merchant_name or ""), ""
    for place, row in enumerate(printed):
        read += signs(row.text)
        if name in read:
            return place + 1
    return 0


def _pen(rng: random.Random, row: Row) -> Iterator[Mark]:
    """Yield the strokes of a pen over a row."""
    left = min(mark.left for mark in row.marks)
    right = max(mark.left + mark.width for mark in row.marks)
    tone, thick = rng.uniform(0, 0.4), rng.uniform(0.4, 1.2)
    for _ in range(int(_STROKES * len(row.text))):
        x, y = rng.uniform(left, right), row.y - row.size * rng.uniform(0, 0.7)
        dx, dy = (row.size * rng.uniform(-0.5, 0.5) for _ in range(2))
        yield Rule(x - dx, y - dy, x + dx, y + dy, thickness=thick, tone=tone)
