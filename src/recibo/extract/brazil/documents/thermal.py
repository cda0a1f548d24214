"""Reads thermal receipts: labels on the left, amounts at the right edge, the issuer on top."""

import bisect
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.brazil.documents import fiscal_document, names
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument, Issuer
from recibo.extract.layout.forms import Label
from recibo.extract.model import Extracted, LineItem, Moment
from recibo.extract.text import numbers, timestamps
from recibo.extract.text.normalized_lines import normalize_label

LABELS = "thermal"

# On narrow receipts the time may be in the line below its date.
_ENDS_WITH_DATE = re.compile(r"[0-9]{2}[/.-][0-9]{2}[/.-][0-9]{2,4}\s*[-,]?\s*$")
_BEGINS_WITH_TIME = re.compile(r"\s*[-,]?\s*[0-9]{2}:[0-9]{2}")

# Labels below the items, which are never in a name.
_SUMS = ("items_count", "payable", "gross", "protocol")

# Labels of rows with an amount that are not items. Other words may follow the first ones.
_CHANGES = ("discount", "surcharge", "taxes")
_WHOLES = ("payable", "total", "gross", "subtotal", "change")
_WORD = re.compile(r"[^\W\d_]{3}")
_ITEM_NUMBER = re.compile(r"(?<![0-9.,])[0-9]{1,4}(?![0-9.,])")

#: The most timestamps near one series.
_MOST_STAMPS = 10
_DAY = re.compile(r"\d\d/\d\d/\d{2,4}")
_SERIES_LINE = re.compile(r"S[eé]rie", re.IGNORECASE)
_CONSUMER = re.compile(r"CONSUM|CLIENTE|CPF\s*/?\s*CNPJ|CNPJ\s*/\s*CPF|DESTINAT", re.IGNORECASE)


def name(document: FiscalDocument) -> Extracted[str] | None:
    """Return the issuer's name; None if the head is torn off and nothing is above the sums."""
    sums = (label.line for kind in _SUMS for label in document.form.every(kind) if not label.start)
    return names.in_receipt_head(list(itertools.islice(document.lines, min(sums, default=None))))


def end_of_items(document: FiscalDocument) -> int:
    """Return the first line below the items: the first that begins with the label of a sum."""
    kinds = (*_WHOLES, "items_count")
    starts = {
        label.line for kind in kinds for label in document.form.every(kind) if not label.start
    }
    return min(starts, default=len(document.form.lines))


def issuers(document: FiscalDocument) -> Iterator[Issuer]:
    """Yield the tax ids on lines that do not mention the consumer."""
    for issuer in fiscal_document.printed_ids(document):
        if not _CONSUMER.search(document.form.lines[issuer.line].line.text):
            yield issuer


def amount(document: FiscalDocument, kind: str) -> Extracted[Decimal] | None:
    """Return the last amount on the line of the first label of a kind that has one.

    Amounts are at the right edge; one is below its label only where the line was too long.
    """
    return next(amounts(document, kind), None)


def amounts(document: FiscalDocument, kind: str) -> Iterator[Extracted[Decimal]]:
    """Yield the amounts next to the labels of a kind."""
    for label in document.form.every(kind):
        if found := _amount_right_of(document, label):
            yield found


def changes_below(document: FiscalDocument, amount: Extracted[Decimal]) -> Decimal:
    """Return the sum of the surcharges less the discounts printed below an amount."""
    signs = {"discount": -1, "surcharge": 1}
    return sum(
        (
            sign * abs(change.value)
            for kind, sign in signs.items()
            for change in amounts(document, kind)
            if amount.box
            and change.box
            and (change.page, change.box.y0) > (amount.page, amount.box.y1)
        ),
        Decimal(0),
    )


def without_sum_rows(
    document: FiscalDocument, items: Iterable[Extracted[LineItem]]
) -> Iterator[Extracted[LineItem]]:
    """Yield the items without those read from a row that begins with the label of a sum.

    Products may have such a name (TOTAL FLEX), so a row with more words than the label is an item.
    """
    lines = document.form.lines
    labels = [label for kind in (*_CHANGES, *_WHOLES) for label in document.form.every(kind)]
    named = [*labels, *document.form.every("items_count")]
    texts = {lines[label.line].text[label.start : label.end] for label in named}
    sum_rows = [label for label in labels if _is_sum_row(document, label)]
    sums = _VerticalRanges([*sum_rows, *_with_amounts_below(document, sum_rows)])
    for found in items:
        item, box = found.value, found.box
        # On a narrow receipt the amount may be below its label, which then looks like its name.
        names_of = (normalize_label(item.name), normalize_label(f"{item.name} R$"))
        is_product = item.qty is not None and item.unit_price is not None
        # Nothing is returned on a fiscal receipt: an amount below zero is a discount.
        is_taken = item.total is not None and item.total < 0
        is_label = any(_consists_of(name, texts) for name in names_of)
        is_sum = box and (is_label or sums.contain(found.page, box.y_center))
        if is_product or not (is_sum or is_taken):
            yield found


def _consists_of(name: str, labels: Collection[str]) -> bool:
    """Return whether a normalized name is one label, or two of them: `qtde total valor total`."""
    return any(
        name == label or (name.startswith(label) and name[len(label) :] in labels)
        for label in labels
    )


def without_cancelled(
    document: FiscalDocument, items: Sequence[Extracted[LineItem]]
) -> Iterator[Extracted[LineItem]]:
    """Yield the items without those that a row below cancels: `cancelamento item 002 -39,80`."""
    labels = [label for label in document.form.every("cancelled") if not label.start]
    rows = _VerticalRanges(labels)
    printed = [one for one in items if not (one.box and rows.contain(one.page, one.box.y_center))]
    dropped: set[int] = set()
    for label in labels:
        above = [
            index
            for index, one in enumerate(printed)
            if one.box and (one.page, one.box.y1) <= (label.page, label.box.y1)
        ]
        if (index := _cancelled(_text_right_of(document, label), above, printed)) is not None:
            dropped.add(index)
    yield from (one for index, one in enumerate(printed) if index not in dropped)


def _cancelled(
    text: str, above: Sequence[int], printed: Sequence[Extracted[LineItem]]
) -> int | None:
    """Return the item that a row cancels: that with its number, or else with its amount."""
    values = numbers.money(text)
    amount = abs(values[-1]) if values else None
    number = _ITEM_NUMBER.search(text)
    place = int(number[0]) - 1 if number else -1
    numbered = above[place : place + 1] if place >= 0 else ()
    same = [index for index in reversed(above) if printed[index].value.total == amount]
    return next(
        (index for index in numbered if amount is None or index in same), next(iter(same), None)
    )


def _is_sum_row(document: FiscalDocument, label: Label) -> bool:
    """Return whether a label begins a row without other words."""
    return not label.start and (
        label.kind in _CHANGES or not _WORD.search(_text_right_of(document, label))
    )


def _with_amounts_below(document: FiscalDocument, labels: Iterable[Label]) -> Iterator[Label]:
    """Yield the labels of taxes that continue in the next row, which has their amount."""
    lines = document.form.lines
    for label in labels:
        following = lines[label.line + 1].line if label.line + 1 < len(lines) else None
        has_amount = bool(numbers.money(lines[label.line].line.text))
        if label.kind == "taxes" and following and not has_amount:
            yield replace(label, line=label.line + 1, box=following.box, page=following.page)


class _VerticalRanges:
    """The vertical ranges of some labels on their pages."""

    def __init__(self, labels: Iterable[Label]) -> None:
        """Merge the ranges of some labels."""
        # From top to bottom: where each begins, and the lowest end of all so far.
        self._spans: dict[int, tuple[list[float], list[float]]] = {}
        for label in sorted(labels, key=lambda label: label.box.y0):
            starts, ends = self._spans.setdefault(label.page, ([], []))
            starts.append(label.box.y0)
            ends.append(max([label.box.y1, *ends[-1:]]))

    def contain(self, page: int, y: float) -> bool:
        """Return whether one of them contains a height of a page."""
        starts, ends = self._spans.get(page, ((), ()))
        place = bisect.bisect(starts, y)
        return place > 0 and y <= ends[place - 1]


def _text_right_of(document: FiscalDocument, label: Label) -> str:
    right = document.form.right(label)
    return right.text if right else ""


def _amount_right_of(document: FiscalDocument, label: Label) -> Extracted[Decimal] | None:
    right = document.form.right(label)
    values = numbers.money(right.text) if right else []
    if right and values:
        return right.found(values[-1])
    if label.start:
        # After other words a label is the heading of the items' amounts.
        return None
    for cell in document.form.below(label):
        # Only an amount without words: the next line may be about something else.
        values = numbers.money(cell.text)
        return cell.found(values[0]) if len(values) == 1 and not _WORD.search(cell.text) else None
    return None


def stamps(document: FiscalDocument) -> Iterator[Extracted[Moment]]:
    """Yield the timestamps of the receipt, those of authorization and printing last."""
    late: list[Extracted[Moment]] = []
    for found, is_late in _stamps(document):
        if is_late:
            late.append(found)
        else:
            yield found
    yield from late


def issue_stamps(document: FiscalDocument) -> Iterator[Extracted[Moment]]:
    """Yield the timestamps of the receipt except those of authorization and printing."""
    return (found for found, is_late in _stamps(document) if not is_late)


def to_the_second(
    document: FiscalDocument, found: Extracted[Moment] | None
) -> Extracted[Moment] | None:
    """Return a moment with its seconds, which some receipts print only in their head."""
    if found is None or found.value.time is None or found.value.time.second:
        return found
    finer = (
        stamp.value
        for stamp in issue_stamps(document)
        if stamp.value.date == found.value.date
        and stamp.value.time
        and stamp.value.time.replace(second=0) == found.value.time
    )
    time = max((moment.time for moment in finer if moment.time), default=found.value.time)
    return replace(found, value=replace(found.value, time=time))


def stamps_near_series(document: FiscalDocument) -> Iterator[Extracted[Moment]]:
    """Yield the timestamps on the line of number and series, or on the line below."""
    # If the time of issue is above, the timestamp of the protocol is right below.
    found = [stamp for stamp in issue_stamps(document) if stamp.box]
    by_height = sorted(range(len(found)), key=lambda index: _height(found[index]))
    heights = [_height(found[index]) for index in by_height]
    for line in document.lines:
        if _SERIES_LINE.search(line.text):
            first = bisect.bisect_left(heights, (line.page, line.box.y0))
            reach = line.box.y1 + 1.5 * line.box.height
            end = bisect.bisect(heights, (line.page, reach))
            yield from (found[index] for index in sorted(by_height[first:end])[:_MOST_STAMPS])


def _height(stamp: Extracted[Moment]) -> tuple[int, float]:
    return stamp.page, stamp.box.y_center if stamp.box else 0.0


def _stamps(document: FiscalDocument) -> Iterator[tuple[Extracted[Moment], bool]]:
    protocols = {
        label.line for kind in ("protocol", "printed") for label in document.form.every(kind)
    }
    for index, normalized in enumerate(document.form.lines):
        is_late = index in protocols or (index - 1 in protocols and _is_value(document, index))
        for moment in timestamps.every(_with_time(document, index)):
            found = fiscal_document.line_cell(normalized.line).found(moment)
            yield found, is_late or moment.time is None


def _is_value(document: FiscalDocument, index: int) -> bool:
    """Return whether a line is the day of the label on the line above, which has none."""
    above, own = (document.form.lines[place].line.text for place in (index - 1, index))
    return _DAY.search(above) is None and own[:1].isdigit()


def _with_time(document: FiscalDocument, index: int) -> str:
    """Return a line's text, and the next line's if that begins with the time of a date."""
    text = document.form.lines[index].line.text
    following = document.form.lines[index + 1 : index + 2]
    if (
        following
        and _ENDS_WITH_DATE.search(text)
        and _BEGINS_WITH_TIME.match(following[0].line.text)
    ):
        return f"{text} {following[0].line.text}"
    return text
