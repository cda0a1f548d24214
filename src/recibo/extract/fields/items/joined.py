"""Separates what OCR joined: quantity and name, the decimals of two columns, headings.

`FRESCAL0,540 KG X 42,90` is a name and a quantity, `10,4931,47` are a price and a total.
"""

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.fields.items import arithmetic
from recibo.extract.layout import headings
from recibo.extract.model import Line, TextPage, Word
from recibo.extract.text import lexicon

_RUN = re.compile(r"(?<![0-9.,])[0-9][0-9.,]*[.,][0-9]{2,4}(?![0-9.,]*[0-9])")
_PRICE = re.compile(r"(?:[1-9][0-9]{0,2}(?:\.[0-9]{3})+|0|[1-9][0-9]{0,5})[.,][0-9]{2,4}")
_AMOUNT = r"(?:[1-9][0-9]{0,2}(?:\.[0-9]{3})+|0|[1-9][0-9]{0,5})[.,][0-9]{2}"
_TWO_AMOUNTS = re.compile(rf"{_AMOUNT}(?P<right>{_AMOUNT})")
_GROUPED = re.compile(r"[0-9]{1,3}(?:[.,][0-9]{3}){1,2}[.,][0-9]{2}")
_ONE_NUMBER = re.compile(r"[0-9]{1,3}(?:(?:\.[0-9]{3})+,|(?:,[0-9]{3})+\.)[0-9]{2}")
_SEPARATOR = re.compile(r"[.,]")
_NUMBER = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]{2}|[0-9]+(?:[.,][0-9]{1,4})?")
_PRICE_AT_START = re.compile(r"(?P<times>[xX×*]\s?)?(?:R\$\s?)?[0-9]+[.,][0-9]{2}")
_DECIMAL, _COUNT = "[0-9]{1,3}[.,][0-9]{2,3}", "[1-9][0-9]{0,2}"
_CODE_AND_NAME = re.compile(r"[0-9]{5,14}(?=[^\W\d_]{4})")
#: A quantity is one of the last numbers before its price.
_NEAREST = 3
#: The fewest cells of a row of headings that are known, and the most characters of one.
_FEWEST_HEADINGS, _LONGEST_HEADING = 3, 40
#: The words on each side that may have the other numbers of a product.
_NEIGHBORS = 6


def separated(text_pages: Sequence[TextPage], *, has_codes: bool = False) -> list[TextPage]:
    """Return pages whose recognized words contain one cell each; text layers are as they are.

    Args:
        text_pages: The pages.
        has_codes: Whether every name is right of an article code, in a separate column.
    """
    separate = _line_with_code if has_codes else _line
    return [
        text_page
        if text_page.is_exact
        else replace(text_page, lines=tuple(_whole_factors(map(separate, text_page.lines))))
        for text_page in text_pages
    ]


def _line_with_code(line: Line) -> Line:
    """Separate the name of an item from the code before it: `78974118PROTETOR SOLAR`."""
    first, *others = line.words or (None,)
    if first is None or not (match := _CODE_AND_NAME.match(first.text)):
        return _line(line)
    return _line(replace(line, words=(*_parts(first, [match.end()]), *others)))


def _whole_factors(lines: Iterable[Line]) -> list[Line]:
    """Move a quantity at the end of a line to its price in the next one: `NAME 1 UN`, `X 4,99`."""
    whole: list[Line] = []
    for line in lines:
        if whole:
            *_, above = whole
            whole[-1], below = _with_quantity_below(above, line)
            whole.append(below)
        else:
            whole.append(line)
    return whole


def _with_quantity_below(upper: Line, lower: Line) -> tuple[Line, Line]:
    if not (upper.words and lower.words):
        return upper, lower
    *before, last = upper.words
    first, *after = lower.words
    found = _quantity_at_end().search(last.text)
    price = _PRICE_AT_START.match(first.text)
    if not (found and price and bool(found["times"]) != bool(price["times"])):
        return upper, lower
    name, quantity = last.text[: found.start()].rstrip(), last.text[found.start() :].strip()
    if not any(map(str.isalpha, " ".join([*(word.text for word in before), name]))):
        return upper, lower
    kept = [*before, replace(last, text=name)] if name else before
    moved = replace(first, text=f"{quantity} {first.text}")
    return replace(upper, words=tuple(kept)), replace(lower, words=(moved, *after))


def _line(line: Line) -> Line:
    if _is_heading(line):
        parts = [_parts(word, list(_headings(word.text))) for word in line.words]
        return replace(line, words=tuple(itertools.chain(*parts)))
    words: list[Word] = []
    for place, word in enumerate(line.words):
        before = " ".join(each.text for each in words[-_NEIGHBORS:])
        after = " ".join(each.text for each in line.words[place + 1 : place + 1 + _NEIGHBORS])
        cuts = [
            *_quantities(word.text),
            *_proven_quantities(word.text, after),
            *_factors(word.text),
            *_amounts(word.text, before, after),
        ]
        words += _parts(word, cuts)
    return line if len(words) == len(line.words) else replace(line, words=tuple(words))


def _is_heading(line: Line) -> bool:
    """Return whether most cells of a line are headings, joined or not: `QTD`, `UNVALOR UNIT`."""
    if len(line.words) < _FEWEST_HEADINGS or any(map(str.isdigit, line.text)):
        return False
    known = sum(headings.role_of(word.text) is not None for word in line.words)
    return known >= _FEWEST_HEADINGS


def _headings(text: str) -> Iterator[int]:
    """Yield where a heading begins that is joined to the one before it: `VALOR UNITVALOR TOTAL`."""
    start = 0
    while (end := _heading_end(text, start)) is not None:
        is_joined = end < len(text) and text[end].isalpha()
        if is_joined and _heading_end(text, end) is not None:
            yield end
        start = end if is_joined else len(text)


def _heading_end(text: str, start: int) -> int | None:
    """Return the end of the longest heading that begins here; None if there is none."""
    ends = range(min(len(text), start + _LONGEST_HEADING), start + 1, -1)
    return next((end for end in ends if headings.role_of(text[start:end].strip())), None)


def _parts(word: Word, cuts: Sequence[int]) -> Iterator[Word]:
    """Split a word at these positions of its text."""
    step = word.box.width / max(1, len(word.text))
    for start, end in itertools.pairwise(sorted({0, *cuts, len(word.text)})):
        box = replace(word.box, x0=word.box.x0 + step * start, x1=word.box.x0 + step * end)
        yield replace(word, text=word.text[start:end].strip(), box=box)


def _quantities(text: str) -> Iterator[int]:
    """Yield where a quantity with its unit begins that is joined to a name."""
    return (match.start() for match in _joined_quantity().finditer(text))


def _factors(text: str) -> Iterator[int]:
    """Yield where unit, sign and price of a product begin that are joined: `31,850LTX3,899`."""
    for match in _joined_factors().finditer(text):
        starts = match.start("times"), match.start("price")
        yield from (start for start in starts if text[start - 1] != " ")


@functools.cache
def _joined_factors() -> re.Pattern[str]:
    return re.compile(
        rf"[0-9]\s?(?i:{lexicon.units()})\s?(?P<times>[xX×*])\s?(?P<price>[0-9]+[.,][0-9])"
    )


def _proven_quantities(text: str, after: str) -> Iterator[int]:
    """Yield where a quantity begins that is joined to a name with digits: `C/612,00FD 41,40`.

    Only the product of a price and a total in the rest of the line shows which digits it has.
    """
    for match in _joined_to_digits().finditer(text):
        following = f"{text[match.end() :]} {after}"
        amounts = [decimal(number) for number in _NUMBER.findall(following)[:_NEAREST]]
        for place in range(match.start() + 1, match.start("decimals")):
            qty = text[place : match.end("decimals")]
            is_number = qty[0] != "0" or not qty[1].isdigit()
            if is_number and any(
                arithmetic.agrees(decimal(qty), *pair)
                for pair in itertools.combinations(amounts, 2)
            ):
                yield place
                break


@functools.cache
def _joined_to_digits() -> re.Pattern[str]:
    return re.compile(
        r"(?<=[^\W_]|/)[0-9]{2,5}(?P<decimals>[.,][0-9]{2,3})"
        rf"\s?(?i:{lexicon.units()})(?![^\W\d_xX×])"
    )


@functools.cache
def _joined_quantity() -> re.Pattern[str]:
    # A whole number is the content of a pack unless it is multiplied: `AGUA500ML`, `AGUA2UN X`.
    # A unit before a multiplication sign may be misread: `NANICA1,245K6 X 5,49`.
    unit, times = rf"\s?(?i:{lexicon.units()})", r"\s?[xX×*]\s?[0-9]"
    return re.compile(
        rf"(?<=[^\W_][^\W\d_])(?={_DECIMAL}(?:{unit}(?![^\W\d_])|\s?[A-Z][A-Z0-9]?{times})"
        rf"|(?:{_DECIMAL}|{_COUNT}){unit}{times})"
    )


@functools.cache
def _quantity_at_end() -> re.Pattern[str]:
    return re.compile(
        rf"(?:^|\s|(?<=[^\W\d_][^\W\d_]))(?:{_DECIMAL}|{_COUNT})\s?(?i:{lexicon.units()})"
        r"(?P<times>\s?[xX×*])?\s*$"
    )


def _amounts(text: str, before: str, after: str) -> Iterator[int]:
    """Yield where a number begins that is joined to the one before it."""
    for match in _RUN.finditer(text):
        if len(_SEPARATOR.findall(match[0])) > 1:
            counts = _NUMBER.findall(f"{before} {text[: match.start()]}")[-_NEAREST:]
            totals = _NUMBER.findall(f"{text[match.end() :]} {after}")[:1]
            cut = _cut(match[0], [*map(decimal, counts)], [*map(decimal, totals)])
            if cut is not None:
                yield match.start() + cut


def _cut(run: str, counts: Sequence[Decimal], totals: Sequence[Decimal]) -> int | None:
    """Return where a run of digits is cut: a product proves it; else prices have two decimals.

    `15,907,16` may be one number in which OCR misread a separator, and `5.005,00` surely is one
    unless a product proves that it is not.
    """
    is_one = _ONE_NUMBER.fullmatch(run) is not None
    for place in range(1, len(run)):
        if not (_PRICE.fullmatch(run[:place]) and _PRICE.fullmatch(run[place:])):
            continue
        left, right = decimal(run[:place]), decimal(run[place:])
        # With a count of one, only a price with more decimals than its total proves anything.
        is_longer = _decimals(left) > _decimals(right)
        products = [(count, left, right) for count in counts if count != 1 or is_longer]
        # A product of zero proves nothing: `38.500,00` before a discount of `0,00`.
        products += [(left, right, total) for total in totals if left != 1 and right]
        if left == right and not is_one:
            return place
        if any(arithmetic.agrees(*product) for product in products):
            return place
    usual = None if _GROUPED.fullmatch(run) else _TWO_AMOUNTS.fullmatch(run)
    return usual.start("right") if usual else None


def _decimals(value: Decimal) -> int:
    return -int(value.as_tuple().exponent)


def decimal(number: str) -> Decimal:
    """Return the value of a number as printed, whose last separator is that of the decimals."""
    whole, _, decimals = number.replace(",", ".").rpartition(".")
    return Decimal(f"{whole.replace('.', '')}.{decimals}" if whole else decimals)
