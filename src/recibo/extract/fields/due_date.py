"""Finds the day on which a document is due: a date next to its label, or below it."""

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from recibo.extract.fields import choices
from recibo.extract.fields.name_candidates import pieces_of
from recibo.extract.layout import stacked
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.text import dates, lexicon
from recibo.extract.text.dates import Day
from recibo.extract.text.folding import fold
from recibo.extract.text.phrases import Phrase
from recibo.extract.text.tables import Order
from recibo.extract.weights import weights

FIELD = "due_date"
# A date is at most this many rows below its label.
_ROWS_BELOW = 3
# Labels of other dates end what a label is about.
_OTHERS = ("date", "aside_date", "start_date", "time")
# A date further from its label, in characters, is about something else.
_NEAR = 12
_DAYS_OF_YEAR = 366
# "due", "pay"
_SHORT_LABEL = 4
_WORD_BEFORE = re.compile(r"([^\W\d_]{3,})\s$")
# The permit to print of tax offices in Latin America: `CAE 90260418827 Vto 12/12/2027`.
_PERMIT = re.compile(r"\b(?:CAEA?|CAI|timbrado)\b\W{0,4}[\w-]+\W*$", re.IGNORECASE)
_PERMIT_LETTERS = 40
# What is due besides payments.
_NOT_PAID = frozenset(
    {"service", "inspection", "visit", "checkup", "mot", "appointment", "vaccination", "booster"}
    | {"rabies", "maintenance", "return"}
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A date, and where it is relative to the label."""

    found: Extracted[dt.date]
    features: Mapping[str, float]


def due_dates(
    rows: Sequence[Row], orders: Sequence[Order], issued: dt.date | None
) -> tuple[Extracted[dt.date], ...]:
    """Return the candidates, the likeliest first, each day once.

    Args:
        rows: The rows of the document.
        orders: The likely orders of day, month and year, the likeliest first.
        issued: The likely day of issue.
    """
    return choices.ranked(
        ((one.found, one.features) for one in candidates(rows, orders, issued)), weights(FIELD)
    )


def candidates(
    rows: Sequence[Row], orders: Sequence[Order], issued: dt.date | None
) -> list[Candidate]:
    """Return the dates next to a label, with their features."""
    seen = [
        (day, row, relation)
        for row in rows
        for label in _labels(row)
        for day, row, relation in _near(label, row, rows, orders)
    ]
    if not seen:
        return []
    first = min(day.date for day, _, _ in seen)
    return [
        Candidate(
            Extracted(day.date, 0, row.text, row.line.page, row.box(day.start, day.end)),
            {
                **relation,
                "always": 1.0,
                "first": float(day.date == first),
                "before_issue": float(issued is not None and day.date < issued),
                "at_issue": float(day.date == issued),
                "ambiguous": float(day.is_ambiguous),
                "far": float(issued is not None and abs((day.date - issued).days) > _DAYS_OF_YEAR),
            },
        )
        for day, row, relation in seen
    ]


def _labels(row: Row) -> Iterator[Phrase]:
    """Yield the labels in a row that do not belong to an amount: "Number due"."""
    # The due date of a tax is another date: its label is the longer one.
    for label in stacked.phrases(lexicon.wordbook(FIELD, *_OTHERS, "other_date"), row):
        is_of_sum = any(
            name.start <= label.start and label.end <= name.end and name.start < label.start
            for name in row.labels
        )
        if label.kind == FIELD and not is_of_sum and not _is_of_other(label, row):
            yield label


def _is_of_other(label: Phrase, row: Row) -> bool:
    """Return whether something else than the document is due: "Next service due 14/10/2027"."""
    before = row.text[: label.start]
    word = _WORD_BEFORE.search(before)
    is_of_permit = _PERMIT.search(before[-_PERMIT_LETTERS:]) is not None
    return is_of_permit or (word is not None and fold(word[1]) in _NOT_PAID)


def _near(
    label: Phrase, row: Row, rows: Sequence[Row], orders: Sequence[Order]
) -> Iterator[tuple[Day, Row, dict[str, float]]]:
    """Yield the first date right of a label, else those below it."""
    others = [
        other.start
        for other in lexicon.wordbook(*_OTHERS).find(row.text)
        if other.start >= label.end
    ]
    end = min(others, default=len(row.text))
    short = float(label.end - label.start <= _SHORT_LABEL)
    for day in dates.days(row.text, orders):
        if label.end <= day.start < end:
            gap = row.text[label.end : day.start]
            far = float(len(gap) > _NEAR)
            yield day, row, {"right": 1.0, "far_right": far, "short_label": short}
            return
    place = row.box(label.start, label.end)
    right = _next_column(label, row)
    for step, below in enumerate(rows[row.index + 1 : row.index + 1 + _ROWS_BELOW]):
        if below.line.page != row.line.page:
            return
        found = dates.days(below.text, orders)
        boxed = [(day, below.box(day.start, day.end)) for day in found]
        under = [day for day, box in boxed if box.x0 < place.x1 and place.x0 < box.x1]
        # In a box the date may be centered or right-aligned.
        own = under or [day for day, box in boxed if place.x0 < box.x_center and box.x1 < right]
        for day in own[:1]:
            yield day, below, {"below": 1.0, "steps": float(step), "short_label": short}
        if own:
            return


def _next_column(label: Phrase, row: Row) -> float:
    """Return the left edge of the next label in a row."""
    end = row.x_at(label.end)
    lefts = (piece.box.x0 for piece in pieces_of(row) if piece.box.x0 > end)
    return min(lefts, default=float("inf"))
