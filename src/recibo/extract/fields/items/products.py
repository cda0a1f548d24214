"""Completes the products of Brazilian thermal receipts: `2 UN X 3,50` without its total.

The total may be in the next row, or OCR misses it. Then it is the product, if other rows have both.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal

from recibo.extract.fields.items import arithmetic, joined
from recibo.extract.model import Box, Extracted, Line, LineItem, TextPage, Word
from recibo.extract.text.numbers import CENTS

_AMOUNT = r"(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]{1,6})[.,][0-9]{2}"
# A quantity and its unit.
_QUANTITY = (
    r"(?<![0-9.,])(?P<qty>[1-9][0-9]{0,4}(?:[.,][0-9]{1,4})?|0[.,][0-9]{1,4})"
    r"\s?[-.]?\s?(?:[^\W\d_]{1,4}[0-9]?\.?)?\s?"
)
_QUANTITY_AT_END = re.compile(rf"{_QUANTITY}$")
_PRICE_AT_START = re.compile(r"\s*[xX×]\s?[0-9]")
_PRODUCT = re.compile(
    rf"{_QUANTITY}[xX×]\s?(?:R\$\s?)?(?P<price>{_AMOUNT}[0-9]{{0,2}})"
    # The taxes of the product, and its tax code.
    r"(?:\s?\([0-9.,]+\))?(?:\s?[A-Z]{1,2}[0-9O]{0,2}[.,]?)?"
    rf"(?:\s+(?P<total>{_AMOUNT})\s?[A-Z]?)?\s*$"
)
_ALONE = re.compile(rf"\s*(?:R\$\s?)?(?P<total>{_AMOUNT})\s?[A-Z]?\s*")
_ANY_AMOUNT = re.compile(_AMOUNT)
#: The confidence of a total that is not printed.
_INFERRED = 0.5
_CENT = Decimal(1).scaleb(-CENTS)


@dataclass
class Completed:
    """Pages whose products have totals."""

    text_pages: list[TextPage] = field(default_factory=list)
    #: The text of each completed line, and what is printed.
    printed: dict[str, str] = field(default_factory=dict)

    def as_printed(self, items: Sequence[Extracted[LineItem]]) -> tuple[Extracted[LineItem], ...]:
        """Return items whose evidence is only what is printed."""
        return tuple(
            replace(item, text=self.printed[item.text]) if item.text in self.printed else item
            for item in items
        )


def completed(text_pages: Sequence[TextPage], end: int) -> Completed:
    """Return the pages with complete products.

    Args:
        text_pages: The pages, whose words contain one cell each.
        end: The line, counted on all pages, at which the sums begin: below it, `3 X 50,00` is a
            payment in three parts.
    """
    result = Completed()
    lines = [line for text_page in text_pages for line in text_page.lines]
    below = [each for line in lines[end:] for each in _ANY_AMOUNT.findall(line.text)]
    most = max(map(joined.decimal, below), default=Decimal(0))
    first = 0
    for text_page in text_pages:
        count = max(0, end - first)
        inner = _completed(text_page.lines[:count], most, result.printed)
        whole = replace(text_page, lines=(*inner, *text_page.lines[count:]))
        result.text_pages.append(whole)
        first += len(text_page.lines)
    return result


def _completed(lines: Sequence[Line], most: Decimal, printed: dict[str, str]) -> list[Line]:
    lines = _with_whole_factors(lines)
    texts = [line.text for line in lines]
    found = [_PRODUCT.search(text) for text in texts]
    rights = [
        line.words[-1].box.x1
        for line, match in zip(lines, found, strict=True)
        if match and match["total"]
    ]
    taken = _totals_of(texts, found)
    totals = frozenset(taken.values())
    whole: list[Line] = []
    for index, (line, match) in enumerate(zip(lines, found, strict=True)):
        if index in totals:
            continue
        if index in taken:
            whole.append(_joined(line, lines[taken[index]]))
        elif match and rights and _is_open(index, texts, match) and _product(match) <= most:
            whole.append(_with_total(line, _product(match), max(rights)))
            printed[whole[-1].text] = line.text
        else:
            whole.append(line)
    return whole


def _with_whole_factors(lines: Sequence[Line]) -> list[Line]:
    """Join a line that ends with a quantity to its price in the next: `NAME 3LA`, `x 389,90`.

    Only a total shows that both belong together.
    """
    whole: list[Line] = []
    for index, line in enumerate(lines):
        following = lines[index + 1].text if index + 1 < len(lines) else ""
        is_split = whole and _PRICE_AT_START.match(line.text)
        if is_split and _QUANTITY_AT_END.search(whole[-1].text):
            line_and_price = _joined(whole[-1], line)
            match, alone = _PRODUCT.search(line_and_price.text), _ALONE.fullmatch(following)
            total = (match and match["total"]) or (alone and alone["total"])
            if match and total and _agrees(match, joined.decimal(total)):
                whole[-1] = line_and_price
                continue
        whole.append(line)
    return whole


def _totals_of(texts: Sequence[str], found: Sequence[re.Match[str] | None]) -> Mapping[int, int]:
    """Return the lines of products without a total, each with the line of its total alone."""
    taken: dict[int, int] = {}
    for index, match in enumerate(found):
        if match is None or match["total"]:
            continue
        for other in (index + 1, index - 1):
            alone = _ALONE.fullmatch(texts[other]) if 0 <= other < len(texts) else None
            is_free = taken.get(index - 2) != other
            if alone and is_free and _agrees(match, joined.decimal(alone["total"])):
                taken[index] = other
                break
    return taken


def _is_open(index: int, texts: Sequence[str], match: re.Match[str]) -> bool:
    """Return whether the total of a product is nowhere near: neither above nor below.

    A name may end with a dimension, `2,00X1,20M`, so the product must be the whole row, and no
    other product may follow.
    """
    if match["total"] or match.start():
        return False
    above, below = texts[max(0, index - 1) : index], texts[index + 1 : index + 2]
    is_above = any(_ANY_AMOUNT.search(text) and not _PRODUCT.search(text) for text in above)
    return not is_above and not any(
        _ALONE.fullmatch(text) or _PRODUCT.search(text) for text in below
    )


def _agrees(match: re.Match[str], total: Decimal) -> bool:
    return arithmetic.agrees(_quantity(match["qty"]), joined.decimal(match["price"]), total)


def _product(match: re.Match[str]) -> Decimal:
    product = _quantity(match["qty"]) * joined.decimal(match["price"])
    return product.quantize(_CENT, ROUND_HALF_UP)


def _quantity(text: str) -> Decimal:
    return Decimal(text.replace(",", "."))


def _joined(line: Line, total: Line) -> Line:
    return replace(line, words=(*line.words, *total.words), box=line.box.union(total.box))


def _with_total(line: Line, total: Decimal, right: float) -> Line:
    """Return a line with its total, which ends where those of other lines do."""
    last = line.words[-1]
    text = f"{total}".replace(".", ",")
    step = last.box.width / max(1, len(last.text))
    left = max(right - step * len(text), last.box.x1 + step)
    box = Box(left, last.box.y0, left + step * len(text), last.box.y1)
    word = Word(text, box, min(_INFERRED, last.confidence), last.page)
    return replace(line, words=(*line.words, word), box=line.box.union(box))
