"""What thermal rolls have in common: labels left, amounts at the right edge, the issuer on top."""

import bisect
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal

from recibo.extract.brazil.documents import fiscal_document, names
from recibo.extract.brazil.documents.fiscal_document import Issuer, Paper
from recibo.extract.layout.forms import Label
from recibo.extract.model import Extracted, LineItem, Moment
from recibo.extract.text import numbers, timestamps
from recibo.extract.text.squeezed import squeeze

LABELS = "thermal"

# Narrow rolls break a date off its time.
_ENDS_WITH_DATE = re.compile(r"[0-9]{2}[/.-][0-9]{2}[/.-][0-9]{2,4}\s*[-,]?\s*$")
_BEGINS_WITH_CLOCK = re.compile(r"\s*[-,]?\s*[0-9]{2}:[0-9]{2}")

# Labels that stand below the goods, and never in a name.
_SUMS = ("items_count", "payable", "gross", "protocol")

# Labels of rows with an amount that are no goods: what words follow the first does not matter.
_CHANGES = ("discount", "surcharge", "taxes")
_WHOLES = ("payable", "total", "gross", "subtotal", "change")
_WORD = re.compile(r"[^\W\d_]{3}")

#: So many stamps stand beside one series at most.
_MOST_STAMPS = 10
_SERIES_LINE = re.compile(r"S[eé]rie", re.IGNORECASE)
_CONSUMER = re.compile(r"CONSUM|CLIENTE|CPF\s*/?\s*CNPJ|CNPJ\s*/\s*CPF|DESTINAT", re.IGNORECASE)


def name(document: Paper) -> Extracted[str] | None:
    """Return the issuer's name; where the head is torn off, none stands above the sums."""
    sums = (label.line for kind in _SUMS for label in document.form.every(kind) if not label.start)
    return names.on_roll(list(itertools.islice(document.lines, min(sums, default=None))))


def issuers(document: Paper) -> Iterator[Issuer]:
    """Return the tax ids on lines that do not speak of the consumer."""
    for issuer in fiscal_document.printed_ids(document):
        if not _CONSUMER.search(document.form.lines[issuer.line].line.text):
            yield issuer


def amount(document: Paper, kind: str) -> Extracted[Decimal] | None:
    """Return the last amount on the line of the first label of a kind that has one.

    Rolls put the amount at the right edge; under the label it stands only when the line was broken.
    """
    return next(amounts(document, kind), None)


def amounts(document: Paper, kind: str) -> Iterator[Extracted[Decimal]]:
    """Return the amounts beside the labels of a kind."""
    for label in document.form.every(kind):
        if found := _beside(document, label):
            yield found


def changes_below(document: Paper, amount: Extracted[Decimal]) -> Decimal:
    """Return what the discounts and surcharges printed below an amount add to it."""
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


def goods(document: Paper, items: Iterable[Extracted[LineItem]]) -> Iterator[Extracted[LineItem]]:
    """Yield the goods without those read off a row that begins with a label of the paper's sums.

    Goods may be named alike (TOTAL FLEX), so more words than the label tell them.
    """
    lines = document.form.lines
    labels = [label for kind in (*_CHANGES, *_WHOLES) for label in document.form.every(kind)]
    texts = {lines[label.line].text[label.start : label.end] for label in labels}
    sums = _Spans(label for label in labels if _is_of_sum(document, label))
    for found in items:
        item, box = found.value, found.box
        # A narrow roll breaks the amount off its label, which then looks like the name above it.
        names_of = (squeeze(item.name), squeeze(f"{item.name} R$"))
        is_product = item.qty is not None and item.unit_price is not None
        is_sum = box and (not texts.isdisjoint(names_of) or sums.hold(found.page, box.y_centre))
        if is_product or not is_sum:
            yield found


def _is_of_sum(document: Paper, label: Label) -> bool:
    """Tell whether a label begins a row that names nothing else."""
    return not label.start and (
        label.kind in _CHANGES or not _WORD.search(_said_beside(document, label))
    )


class _Spans:
    """What labels take up of the height of their pages."""

    def __init__(self, labels: Iterable[Label]) -> None:
        """Merge the heights of some labels."""
        # From top to bottom: where each begins, and the lowest end of all so far.
        self._spans: dict[int, tuple[list[float], list[float]]] = {}
        for label in sorted(labels, key=lambda label: label.box.y0):
            starts, ends = self._spans.setdefault(label.page, ([], []))
            starts.append(label.box.y0)
            ends.append(max([label.box.y1, *ends[-1:]]))

    def hold(self, page: int, y: float) -> bool:
        """Tell whether one of them stands at a height of a page."""
        starts, ends = self._spans.get(page, ((), ()))
        place = bisect.bisect(starts, y)
        return place > 0 and y <= ends[place - 1]


def _said_beside(document: Paper, label: Label) -> str:
    beside = document.form.right(label)
    return beside.text if beside else ""


def _beside(document: Paper, label: Label) -> Extracted[Decimal] | None:
    beside = document.form.right(label)
    values = numbers.money(beside.text) if beside else []
    if beside and values:
        return beside.found(values[-1])
    if label.start:
        # Behind other words a label heads the column of the goods' amounts.
        return None
    for cell in document.form.below(label):
        # Only a bare amount: the next line of the roll says something else.
        values = numbers.money(cell.text)
        return cell.found(values[0]) if len(values) == 1 and not _WORD.search(cell.text) else None
    return None


def stamps(document: Paper) -> Iterator[Extracted[Moment]]:
    """Return the dates with a time on the roll, those of authorisation and printing last."""
    late: list[Extracted[Moment]] = []
    for found, is_late in _stamps(document):
        if is_late:
            late.append(found)
        else:
            yield found
    yield from late


def own_stamps(document: Paper) -> Iterator[Extracted[Moment]]:
    """Return the dates with a time on the roll but for those of authorisation and printing."""
    return (found for found, is_late in _stamps(document) if not is_late)


def to_the_second(document: Paper, found: Extracted[Moment] | None) -> Extracted[Moment] | None:
    """Return a moment with its seconds, which some rolls print but once, in their head."""
    if found is None or found.value.time is None or found.value.time.second:
        return found
    finer = (
        stamp.value
        for stamp in own_stamps(document)
        if stamp.value.date == found.value.date
        and stamp.value.time
        and stamp.value.time.replace(second=0) == found.value.time
    )
    time = max((moment.time for moment in finer if moment.time), default=found.value.time)
    return replace(found, value=replace(found.value, time=time))


def stamps_beside_series(document: Paper) -> Iterator[Extracted[Moment]]:
    """Return the stamps on the line of number and series, or on the line under it."""
    # The protocol's own stamp stands right below, where the time of issue stands above.
    found = [stamp for stamp in own_stamps(document) if stamp.box]
    by_height = sorted(range(len(found)), key=lambda index: _height(found[index]))
    heights = [_height(found[index]) for index in by_height]
    for line in document.lines:
        if _SERIES_LINE.search(line.text):
            first = bisect.bisect_left(heights, (line.page, line.box.y0))
            reach = line.box.y1 + 1.5 * line.box.height
            end = bisect.bisect(heights, (line.page, reach))
            yield from (found[index] for index in sorted(by_height[first:end])[:_MOST_STAMPS])


def _height(stamp: Extracted[Moment]) -> tuple[int, float]:
    return stamp.page, stamp.box.y_centre if stamp.box else 0.0


def _stamps(document: Paper) -> Iterator[tuple[Extracted[Moment], bool]]:
    protocols = {
        label.line for kind in ("protocol", "printed") for label in document.form.every(kind)
    }
    for index, squeezed in enumerate(document.form.lines):
        for moment in timestamps.every(_with_clock(document, index)):
            found = fiscal_document.line_cell(squeezed.line).found(moment)
            yield found, index in protocols or moment.time is None


def _with_clock(document: Paper, index: int) -> str:
    """Return a line's text, with the next line's behind a date that was broken off its time."""
    text = document.form.lines[index].line.text
    following = document.form.lines[index + 1 : index + 2]
    if (
        following
        and _ENDS_WITH_DATE.search(text)
        and _BEGINS_WITH_CLOCK.match(following[0].line.text)
    ):
        return f"{text} {following[0].line.text}"
    return text
