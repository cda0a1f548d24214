"""What thermal rolls have in common: labels left, amounts at the right edge, the issuer on top."""

import itertools
import re
from collections.abc import Iterator
from decimal import Decimal

from recibo.extract.brazil import numerals
from recibo.extract.fields.fiscal_papers import moments, names, paper
from recibo.extract.fields.fiscal_papers.paper import Issuer, Paper
from recibo.extract.fields.forms import Label
from recibo.extract.fields.squeezed import squeeze
from recibo.extract.model import Found, LineItem, Moment

LABELS = "rolls"

# Narrow rolls break a date off its time.
_ENDS_WITH_DATE = re.compile(r"[0-9]{2}[/.-][0-9]{2}[/.-][0-9]{2,4}\s*[-,]?\s*$")
_BEGINS_WITH_CLOCK = re.compile(r"\s*[-,]?\s*[0-9]{2}:[0-9]{2}")

# Labels that stand below the goods, and never in a name.
_SUMS = ("items_count", "payable", "gross", "protocol")

# Labels of rows with an amount that are no goods: what words follow the first does not matter.
_CHANGES = ("discount", "surcharge", "taxes")
_WHOLES = ("payable", "total", "gross", "subtotal", "change")
_WORD = re.compile(r"[^\W\d_]{3}")

_SERIES_LINE = re.compile(r"S[eé]rie", re.IGNORECASE)
_CONSUMER = re.compile(r"CONSUM|CLIENTE|CPF\s*/?\s*CNPJ|CNPJ\s*/\s*CPF|DESTINAT", re.IGNORECASE)


def name(document: Paper) -> Found[str] | None:
    """Return the issuer's name; where the head is torn off, none stands above the sums."""
    sums = (label.line for kind in _SUMS for label in document.form.every(kind) if not label.start)
    return names.on_roll(list(itertools.islice(document.lines, min(sums, default=None))))


def issuers(document: Paper) -> Iterator[Issuer]:
    """Return the tax ids on lines that do not speak of the consumer."""
    for issuer in paper.printed_ids(document):
        if not _CONSUMER.search(document.form.lines[issuer.line].line.text):
            yield issuer


def amount(document: Paper, kind: str) -> Found[Decimal] | None:
    """Return the last amount on the line of the first label of a kind that has one.

    Rolls put the amount at the right edge; under the label it stands only when the line was broken.
    """
    return next(amounts(document, kind), None)


def amounts(document: Paper, kind: str) -> Iterator[Found[Decimal]]:
    """Return the amounts beside the labels of a kind."""
    for label in document.form.every(kind):
        if found := _beside(document, label):
            yield found


def changes_below(document: Paper, amount: Found[Decimal]) -> Decimal:
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


def is_no_goods(document: Paper, found: Found[LineItem]) -> bool:
    """Tell whether goods were read off a row that begins with a label of the paper's sums.

    Goods may be named alike (TOTAL FLEX), so more words than the label tell them.
    """
    item, box = found.value, found.box
    if box is None or (item.qty is not None and item.unit_price is not None):
        return False
    labels = [label for kind in (*_CHANGES, *_WHOLES) for label in document.form.every(kind)]
    # A narrow roll breaks the amount off its label, which then looks like the name above it.
    lines, names_of = document.form.lines, (squeeze(item.name), squeeze(f"{item.name} R$"))
    if any(lines[label.line].text[label.start : label.end] in names_of for label in labels):
        return True
    return any(
        not label.start
        and label.page == found.page
        and label.box.y0 <= box.y_centre <= label.box.y1
        and (label.kind in _CHANGES or not _WORD.search(_said_beside(document, label)))
        for label in labels
    )


def _said_beside(document: Paper, label: Label) -> str:
    beside = document.form.right(label)
    return beside.text if beside else ""


def _beside(document: Paper, label: Label) -> Found[Decimal] | None:
    beside = document.form.right(label)
    values = list(numerals.amounts(beside.text)) if beside else []
    if beside and values:
        return beside.found(values[-1])
    if label.start:
        # Behind other words a label heads the column of the goods' amounts.
        return None
    for cell in document.form.below(label):
        # Only a bare amount: the next line of the roll says something else.
        value = numerals.amount(cell.text)
        if value is not None and not _WORD.search(cell.text):
            return cell.found(value)
        return None
    return None


def stamps(document: Paper) -> Iterator[Found[Moment]]:
    """Return the dates with a time on the roll, those of authorisation and printing last."""
    late: list[Found[Moment]] = []
    for found, is_late in _stamps(document):
        if is_late:
            late.append(found)
        else:
            yield found
    yield from late


def own_stamps(document: Paper) -> Iterator[Found[Moment]]:
    """Return the dates with a time on the roll but for those of authorisation and printing."""
    return (found for found, is_late in _stamps(document) if not is_late)


def stamps_beside_series(document: Paper) -> Iterator[Found[Moment]]:
    """Return the stamps on the line of number and series, or on the line under it."""
    # The protocol's own stamp stands right below, where the time of issue stands above.
    found = list(own_stamps(document))
    for line in document.lines:
        if _SERIES_LINE.search(line.text):
            reach = line.box.y1 + 1.5 * line.box.height
            yield from (
                stamp
                for stamp in found
                if stamp.page == line.page
                and stamp.box is not None
                and line.box.y0 <= stamp.box.y_centre <= reach
            )


def _stamps(document: Paper) -> Iterator[tuple[Found[Moment], bool]]:
    protocols = {
        label.line for kind in ("protocol", "printed") for label in document.form.every(kind)
    }
    for index, squeezed in enumerate(document.form.lines):
        for moment in moments.every(_with_clock(document, index)):
            found = paper.line_cell(squeezed.line).found(moment)
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
