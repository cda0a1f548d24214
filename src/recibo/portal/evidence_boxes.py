"""The boxes of a receipt's values on the pictures of its pages."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from recibo.portal import list_changes
from recibo.schemas.receipts import DOUBTFUL, Evidence, FieldEvidence
from recibo.services.reading.receipt_details import ReceiptDetails

#: A value that is at least so likely right is sure.
SURE = 0.9
#: So many pages are drawn; a reader of more opens the file.
MOST_PAGES = 10
# The widths of excerpts in heights of a line of their text: next to a field, and across the column,
# where a line is legible on phones, too. A longer line is shown in several rows.
_NARROW, _WIDE = 11.8, 17.0
# A letter may be cut at the end of a row, so the next row repeats so many heights of the line.
_REPEATED = 1.5
# The space around the value, in heights of a line.
_MARGIN = 0.45

# The prefixes of the names of their lines.
_LISTS = {"line_items": "item", "taxes": "tax", "payments": "payment"}
_FIELDS = tuple(name for name in Evidence.model_fields if name not in ("type", "quality", *_LISTS))


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels of the upright page."""

    x: int
    y: int
    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.x} {self.y} {self.width} {self.height}"


@dataclass(frozen=True, slots=True)
class EvidenceBox:
    """The location of a field or a line item."""

    #: The field, or `item-0`.
    name: str
    #: `sure`, `fair`, `doubtful`, or `edited` by a person.
    level: str
    box: Box


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page with the boxes on it."""

    number: int
    width: int
    height: int
    turns: int
    boxes: tuple[EvidenceBox, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A part of an excerpt."""

    view: Box
    #: What the row above shows, too.
    repeated: Box | None = None
    #: Its side of a wider place, where the page goes on at the other: `xMin`, `xMid` or `xMax`.
    align: str = "xMid"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The part of a page around a value."""

    sheet: Sheet
    box: Box
    #: Whether it is legible only across the column of fields.
    is_wide: bool
    #: One, unless the value is a long line.
    rows: tuple[Row, ...]


def level(confidence: float, *, is_edited: bool = False) -> str:
    """Return how sure a value is: `sure`, `fair` or `doubtful`; or that it is `edited`."""
    if is_edited:
        return "edited"
    if confidence >= SURE:
        return "sure"
    return "fair" if confidence >= DOUBTFUL else "doubtful"


def sheets(details: ReceiptDetails) -> list[Sheet]:
    """Return the pages with their boxes; none if their sizes are unknown."""
    found = list(_located(details))
    return [
        Sheet(
            number, page.width, page.height, page.turns,
            tuple(sorted((box for at, box in found if at == number), key=_from_back)),
        )
        for number, page in enumerate(details.pages[:MOST_PAGES], start=1)
    ]  # fmt: skip


def excerpt(drawn: list[Sheet], found: FieldEvidence | None) -> Excerpt | None:
    """Return the part of a page that shows a value."""
    box = _box(found)
    if found is None or box is None or found.page > len(drawn):
        return None
    sheet, lines = drawn[found.page - 1], found.text.count("\n") + 1
    line = box.height / lines
    margin = round(line * _MARGIN)
    is_wide = lines > 1 or box.width + 2 * margin > line * _NARROW
    width = max(box.width + 2 * margin, round(line * (_WIDE if is_wide else _NARROW)))
    width = min(width, sheet.width)
    x = box.x + box.width // 2 - width // 2
    view = Box(max(0, min(x, sheet.width - width)), box.y - margin, width, box.height + 2 * margin)
    align = _align(view, sheet)
    rows = tuple(replace(one, align=align) for one in _rows(view, lines=lines, line=line))
    return Excerpt(sheet, box, is_wide, rows)


def _align(view: Box, sheet: Sheet) -> str:
    """Return the side of a view that stays at that of a wider place."""
    left, right = view.x, sheet.width - view.x - view.width
    if min(left, right) >= view.width // 2:
        return "xMid"
    return "xMax" if left > right else "xMin"


def _rows(view: Box, *, lines: int, line: float) -> Iterator[Row]:
    """Yield a view, or the parts of its lines, each with some of the one before."""
    most, repeated = round(line * _WIDE), round(line * _REPEATED)
    if view.width <= most:
        yield Row(view)
        return
    height = round(view.height - line * (lines - 1))
    count = math.ceil((view.width - repeated) / (most - repeated))
    for y in (round(view.y + number * line) for number in range(lines)):
        for number in range(count):
            part = Box(view.x + number * (most - repeated), y, most, height)
            yield Row(part, replace(part, width=repeated) if number else None)


def _located(details: ReceiptDetails) -> Iterator[tuple[int, EvidenceBox]]:
    if details.evidence is None:
        return
    edited = details.receipt.corrected_fields
    found = [(name, getattr(details.evidence, name), name in edited) for name in _FIELDS]
    for field, part in _LISTS.items():
        lines = _lines(details, field)
        found += [(f"{part}-{number}", one, is_edited) for number, one, is_edited in lines]
    for name, one, is_edited in found:
        if box := _box(one):
            yield one.page, EvidenceBox(name, level(one.confidence, is_edited=is_edited), box)


def _lines(details: ReceiptDetails, field: str) -> Iterator[tuple[int, FieldEvidence, bool]]:
    """Yield the number of each line that was read, its evidence, and whether it was edited."""
    evidence = getattr(details.evidence, field)
    if details.machine is None or field not in details.receipt.corrected_fields:
        yield from ((number, one, False) for number, one in enumerate(evidence))
        return
    read, now = (
        [one.model_dump(mode="json") for one in getattr(version, field)]
        for version in (details.machine, details.receipt)
    )
    for old, new, is_same in list_changes.kept(read, now):
        yield new, evidence[old], not is_same


def _from_back(found: EvidenceBox) -> tuple[int, bool, bool]:
    """Return a key by which no box is covered by another one that could be clicked around it."""
    is_line = found.name.rpartition("-")[0] in _LISTS.values()
    return -found.box.width * found.box.height, found.level == "doubtful", not is_line


def _box(found: FieldEvidence | None) -> Box | None:
    if found is None or found.box is None:
        return None
    x0, y0, x1, y1 = found.box
    return Box(x0, y0, max(1, x1 - x0), max(1, y1 - y0))
