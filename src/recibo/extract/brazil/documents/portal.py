"""Reads the line items of an NFC-e printed from a tax office's web page.

There each item has two rows: `LEITE INTEGRAL 1L (Código: 10)   Vl. Total` above
`Qtde.: 2 UN: L Vl. Unit.: 4,5   9,00`.
"""

import re
from collections.abc import Iterator, Sequence

from recibo.extract.brazil.documents import names
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument
from recibo.extract.layout.rows import Cell
from recibo.extract.model import Extracted, Line, LineItem
from recibo.extract.text import numbers

_CODE = re.compile(r"\(\s*C[oó]d[il1|]go\b", re.IGNORECASE)
_FIGURES = re.compile(
    r"[QO]t[dt]?de?\W*+(?P<qty>[0-9][0-9.,]*+)\W*+UN\W{0,20}\S{1,30}\W*+V[li1|]\W*Unit\W*(?P<price>[0-9][0-9.,]*)"
    r"\s+(?:V[li1|]\W*Total\W*)?(?P<total>[0-9][0-9.]*,[0-9]{2})\s*$",
    re.IGNORECASE,
)
#: Quantities and unit prices have three decimals or more.
_MEASURED = 3
#: A long name takes at most this many rows.
_MOST_ROWS = 3


def line_items(document: FiscalDocument) -> tuple[Extracted[LineItem], ...]:
    """Return the line items of such a page; none on other documents."""
    lines = list(document.lines)
    return tuple(_line_items(lines))


def _line_items(lines: Sequence[Line]) -> Iterator[Extracted[LineItem]]:
    first = None
    for index, line in enumerate(lines):
        match = _FIGURES.search(line.text)
        if match is None:
            continue
        # Above the first item is the seller, so only one row above it may be the name.
        above = lines[index - 1 : index] if first is None else lines[first:index]
        first = index + 1
        if name := _name(above[-_MOST_ROWS:]):
            item = LineItem(
                name,
                numbers.parse(match["qty"], minor=_MEASURED),
                numbers.parse(match["price"], minor=_MEASURED),
                numbers.parse(match["total"]),
            )
            yield Cell(line.words).found(item, confidence=0.95)


def _name(above: Sequence[Line]) -> str:
    """Return the text before the code, in its row and in those above it."""
    text = " ".join(line.text for line in above)
    code = _CODE.search(text)
    name = names.cleaned(text[: code.start()]) if code else ""
    return name if names.has_letters(name) else ""
