"""Finds the date and time of issue."""

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from recibo.extract.fields.locale_detection import Place
from recibo.extract.layout import stacked
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, Moment
from recibo.extract.probabilities import probability
from recibo.extract.text import dates, lexicon, tables
from recibo.extract.text.dates import Day, TimeOfDay
from recibo.extract.text.folding import fold
from recibo.extract.text.phrases import Phrase
from recibo.extract.text.tables import Country, Order
from recibo.extract.weights import weights

FIELD = "issued_at"

# The labels of dates; the first two may be of the date of issue.
_LABELS = ("date", "weak_date", "aside_date", "start_date", "other_date")
_DUE = "due_date"
_OF_ISSUE = frozenset(_LABELS[:2])
# A list of items or nights shows a date in each row with an amount.
_NEAR_LISTED = 3
# A time may be this many rows from its date.
_NEAR_ROWS = 2
_MOST_CANDIDATES = 5
_DOLLAR = "$"


Features = Mapping[str, float]
#: Digits that OCR confuses on thermal receipts.
LOOKALIKES = {"0": "68", "1": "7", "3": "8", "5": "6", "6": "058", "7": "1", "8": "036"}

# Only a text that is surely a date: one separator, and a full year or a time after it.
_SHAPE = re.compile(
    r"(?<![\d/.-])\d{1,2}(?:([/-])\d{1,2}\1(?:\d{4}(?![\d/-])|\d{2}(?=\s\d{1,2}:\d{2}))"
    r"|\.\d{1,2}\.\d{4}(?![\d.]))"
)
_CENTURY, _FULL_YEAR = "20", re.compile(r"\d{4}$")
# No document is from a later year.
_LAST_YEAR = 2059


@dataclass(frozen=True, slots=True)
class _Occurrence:
    """One occurrence of a date in a row."""

    day: Day
    row: Row
    #: The kind of its label, `listed` in a list of days, else empty.
    kind: str
    features: Features

    @property
    def may_be_issue(self) -> bool:
        """Whether it may be the date of issue; dates of journeys and in lists are unlikely."""
        return not self.kind or self.kind in _OF_ISSUE

    @property
    def score(self) -> float:
        """The log-odds that it is the date of issue."""
        return score(self.features)


def score(features: Features) -> float:
    """Return the log-odds that a date is the date of issue, by the fitted weights."""
    known: Features = weights(FIELD)["day"]
    return sum(known.get(name, 0.0) * value for name, value in features.items())


def moments(rows: Sequence[Row], place: Place) -> tuple[Extracted[Moment], ...]:
    """Return the candidates for the moment of issue, best first, one per date."""
    return tuple(found for found, _ in ranked(rows, place))


def ranked(rows: Sequence[Row], place: Place) -> Sequence[tuple[Extracted[Moment], Features]]:
    """Return the candidates for the moment of issue with their features, best first.

    A confidence above 0.5 means: likelier than that no date of issue is printed.
    """
    shown = _shown_orders(rows, place)
    orders = _with_usual(shown, rows, place)
    earliest = earliest_day(rows, place.country)
    seen = (
        _without(occurrence, "ambiguous") if shown else occurrence
        for occurrence in _occurrences(rows, orders)
    )
    occurrences = tuple(_corrected(occurrence, earliest) for occurrence in seen)
    occurrences = occurrences or tuple(_misread(rows, orders))
    by_date: dict[dt.date, list[_Occurrence]] = defaultdict(list)
    for occurrence in occurrences:
        by_date[occurrence.day.date].append(occurrence)
    found = []
    for same in by_date.values():
        same.sort(key=lambda occurrence: -occurrence.score)
        repeats = sum(occurrence.may_be_issue for occurrence in same) - 1
        features = {**same[0].features, "repeated": max(0, min(repeats, 2))}
        found.append((same, features, score(features)))
    found.sort(key=lambda one: -probability(one[2]))
    return [
        (_found(same, rows, place, log_odds), features)
        for same, features, log_odds in found[:_MOST_CANDIDATES]
    ]


def orders(rows: Sequence[Row], place: Place) -> tuple[Order, ...]:
    """Return the orders of day, month and year, the likeliest first."""
    return _with_usual(_shown_orders(rows, place), rows, place)


def _with_usual(shown: Sequence[Order], rows: Sequence[Row], place: Place) -> tuple[Order, ...]:
    return tuple(dict.fromkeys((*shown, *_usual_orders(rows, place), *dates.ORDERS)))


def _shown_orders(rows: Sequence[Row], place: Place) -> tuple[Order, ...]:
    """Return the orders of day, month and year on the page, the most common first."""
    usual = _usual_orders(rows, place)
    shown = Counter(
        day.order
        for row in rows
        for day in dates.days(row.text, usual)
        if day.order and not day.is_ambiguous
    )
    return tuple(order for order, _ in shown.most_common() if order != "ymd")


def _usual_orders(rows: Sequence[Row], place: Place) -> tuple[Order, ...]:
    if place.country:
        return place.country.orders
    is_dollar = place.language == "en" and any(_DOLLAR in row.text for row in rows)
    return ("mdy", "dmy") if is_dollar else dates.ORDERS


def _occurrences(rows: Sequence[Row], orders: Sequence[Order]) -> Iterator[_Occurrence]:
    for row in rows:
        for day in _dates(row, orders):
            yield _occurrence(day, row, rows)
        for day in dates.without_separators(row.text, orders):
            occurrence = _occurrence(day, row, rows)
            if occurrence.kind or not _is_numbered(day, row):
                yield _with(occurrence, "run" if occurrence.kind else "unlabelled_run")


def _occurrence(day: Day, row: Row, rows: Sequence[Row]) -> _Occurrence:
    kind = _kind(day, row, rows)
    return _Occurrence(
        day,
        row,
        kind,
        {
            "always": 1,
            **({kind: 1} if kind else {}),
            "timed": bool(dates.times(row.text)),
            "ambiguous": day.is_ambiguous,
            "named_month": day.order is None,
            "early": 1 - row.index / max(len(rows), 1),
        },
    )


def _with(occurrence: _Occurrence, name: str) -> _Occurrence:
    return replace(occurrence, features={**occurrence.features, name: 1})


def _without(occurrence: _Occurrence, name: str) -> _Occurrence:
    return replace(occurrence, features={**occurrence.features, name: 0})


def _dates(row: Row, orders: Sequence[Order]) -> Iterator[Day]:
    """Yield the dates of a row, without telephone and version numbers: "Phone 12.05.22"."""
    found = dates.days(row.text, orders)
    heads = lexicon.wordbook("no_date").find(row.text) if found else ()
    for day in found:
        if not any(_is_just_before(head.end, day.start, row.text) for head in heads):
            yield day


def _is_just_before(end: int, start: int, text: str) -> bool:
    return end <= start and not re.search(r"\w", text[end:start])


def _misread(rows: Sequence[Row], orders: Sequence[Order]) -> Iterator[_Occurrence]:
    for row in rows:
        for day in repaired(row.text, orders):
            yield _with(_occurrence(day, row, rows), "misread")


def _corrected(occurrence: _Occurrence, earliest: dt.date) -> _Occurrence:
    date = with_year_corrected(occurrence.day.date, earliest)
    if date == occurrence.day.date:
        return occurrence
    return _with(replace(occurrence, day=replace(occurrence.day, date=date)), "misread")


def _kind(day: Day, row: Row, rows: Sequence[Row]) -> str:
    """Return the kind of the label of a date, `listed` in a list of days, else nothing."""
    text = row.text
    before = [
        label
        for label in _labels(row)
        if label.start < day.end
        and not _is_of_sum(label, row)
        and not _is_of_amount(label, day.start, row)
    ]
    box = row.box(day.start, day.end)
    for above in stacked.rows_above(rows, row, box):
        if before or _is_listed(row, rows):
            break
        if _has_values(above):
            continue
        text = above.text
        before = [
            label
            for label in _labels(above)
            if not _is_of_sum(label, above)
            and not re.search(r"\d", above.text[label.end :])
            and above.box(label.start, label.end).x0 < box.x1
            and above.box(label.start, label.end).x1 > box.x0
        ]
    known = [label.kind for label in _without_others(before, text) if label.kind != "time"]
    kinds = ["other_date" if kind == _DUE else kind for kind in known]
    if kinds:
        # In "Échéance le 5 mars" the last label is only a preposition.
        is_led = kinds[-1] == "weak_date" and len(kinds) > 1
        return kinds[-2] if is_led else kinds[-1]
    return "listed" if _is_listed(row, rows) else ""


def _labels(row: Row) -> list[Phrase]:
    """Return the labels of dates and times in a row; those of due dates are whole words.

    Of labels that overlap, the longest counts: `Fecha de cargo`.
    """
    books = (lexicon.phrasebook(*_LABELS, "time"), lexicon.wordbook(_DUE))
    found = [label for book in books for label in stacked.phrases(book, row)]
    kept: list[Phrase] = []
    for label in sorted(found, key=lambda label: label.start - label.end):
        if all(label.end <= other.start or other.end <= label.start for other in kept):
            kept.append(label)
    return sorted(kept, key=lambda label: label.start)


def _without_others(labels: Sequence[Phrase], text: str) -> list[Phrase]:
    """Return the labels without those after a slash: "Invoice date / Delivery date" is of issue."""
    first = [*labels[:1]]
    for before, label in pairwise(labels):
        is_other = before.kind == "date" and text[before.end : label.start].strip() == "/"
        first += [] if is_other else [label]
    return first


def _is_listed(row: Row, rows: Sequence[Row]) -> bool:
    """Return whether the row and one near it both start with a date: a list of days."""
    near = rows[max(0, row.index - _NEAR_LISTED) : row.index + _NEAR_LISTED + 1]
    return _is_entry(row) and any(_is_entry(other) for other in near if other is not row)


def _is_entry(row: Row) -> bool:
    """Return whether a row starts with a date and has an amount after it, but no time."""
    day = next(iter(dates.days(row.text)), None)
    if day is None or re.search(r"\w", row.text[: day.start]) or dates.times(row.text):
        return False
    return any(amount.is_money and amount.start >= day.end for amount in row.amounts)


def _is_of_sum(label: Phrase, row: Row) -> bool:
    """Return whether a label is part of the label of an amount: "Change due", "Balance due"."""
    return any(
        name.start <= label.start
        and label.end <= name.end
        and name.end - name.start > label.end - label.start
        for name in row.labels
    )


def _is_of_amount(label: Phrase, end: int, row: Row) -> bool:
    """Return whether an amount is between label and date: "Change due 2.60 03/11/24"."""
    return any(amount.is_money and label.end <= amount.start < end for amount in row.amounts)


def _has_values(above: Row) -> bool:
    """Return whether the labels of a row belong to a date or an amount in the same row."""
    return bool(dates.days(above.text)) or any(amount.is_money for amount in above.amounts)


def _is_numbered(day: Day, row: Row) -> bool:
    """Return whether a label of a number comes before the eight digits."""
    book = lexicon.phrasebook("number", "weak_number")
    return any(label.end <= day.start for label in book.find(row.text))


def _found(
    ranked: Sequence[_Occurrence], rows: Sequence[Row], place: Place, log_odds: float
) -> Extracted[Moment]:
    best, time_of_day = ranked[0], _time_of_day(ranked, rows)
    time, printed = (time_of_day.time, time_of_day.offset) if time_of_day else (None, None)
    offset = place.offset(best.day.date, time) if printed is None else printed
    moment = Moment(best.day.date, time, offset)
    box = best.row.box(best.day.start, best.day.end)
    return Extracted(moment, probability(log_odds), best.row.text, best.row.line.page, box)


def _time_of_day(occurrences: Sequence[_Occurrence], rows: Sequence[Row]) -> TimeOfDay | None:
    """Return the time of the date, with its seconds if they are printed elsewhere."""
    found = _time_near(occurrences, rows)
    if found is None or found.time.second:
        return found
    finer = (
        time_of_day
        for row in rows
        if not _is_of_other_day(row, occurrences[0].day.date)
        for time_of_day in _times_of_day(row)
        if time_of_day.time.second and time_of_day.time.replace(second=0) == found.time
    )
    exact = next(finer, found)
    return replace(found, time=exact.time)


def _time_near(occurrences: Sequence[_Occurrence], rows: Sequence[Row]) -> TimeOfDay | None:
    """Return the time in the date's row, else near it, else a labelled or the only one."""
    for occurrence in occurrences:
        times = _times_of_day(occurrence.row)
        if times:
            return _nearest(times, occurrence.day)
    date = occurrences[0].day.date
    own = {row.index: row for row in rows if not _is_of_other_day(row, date)}
    for occurrence in occurrences:
        for step in range(1, _NEAR_ROWS + 1):
            for index in (occurrence.row.index + step, occurrence.row.index - step):
                if index in own and _is_time_row(own[index]):
                    return _times_of_day(own[index])[0]
    labelled = [row for row in own.values() if _has_time_label(row) and _times_of_day(row)]
    if labelled:
        return _times_of_day(labelled[0])[0]
    others = {
        time_of_day.time: time_of_day for row in own.values() for time_of_day in _times_of_day(row)
    }
    return others.popitem()[1] if len(others) == 1 else None


def _is_of_other_day(row: Row, date: dt.date) -> bool:
    """Return whether a row has dates, and this is none of them in any order."""
    shown = {day.date for order in dates.ORDERS for day in dates.days(row.text, (order,))}
    return bool(shown) and date not in shown


def _times_of_day(row: Row) -> tuple[TimeOfDay, ...]:
    """Return the times of a row; of a ride's start and end only the end."""
    found = dates.times(row.text, dotted=_has_time_label(row))
    starts = lexicon.wordbook("start_date").find(row.text) if len(found) > 1 else ()
    ends = [
        time_of_day
        for time_of_day in found
        if not any(_is_just_before(start.end, time_of_day.start, row.text) for start in starts)
    ]
    return tuple(ends) or found


def _nearest(times: Sequence[TimeOfDay], day: Day) -> TimeOfDay:
    return min(
        times,
        key=lambda time_of_day: min(
            abs(time_of_day.start - day.end), abs(day.start - time_of_day.end)
        ),
    )


def _has_time_label(row: Row) -> bool:
    return "time" in lexicon.phrasebook("time").kinds(row.text)


def _is_time_row(row: Row) -> bool:
    """Return whether the row has exactly one time, so not opening hours."""
    return len(_times_of_day(row)) == 1


def repaired(text: str, orders: Sequence[Order] = dates.ORDERS) -> tuple[Day, ...]:
    """Return the repaired dates in `text`; use it only if the document has no valid date."""
    return tuple(_repaired(text, orders))


def _repaired(text: str, orders: Sequence[Order]) -> Iterator[Day]:
    for match in _SHAPE.finditer(text):
        if dates.days(match.group(), orders):
            continue
        possible = {day.date: day for day in _possible(match.group(), orders)}
        if len(possible) == 1:
            date, day = possible.popitem()
            yield Day(date, match.start(), match.end(), day.order)


def _possible(printed: str, orders: Sequence[Order]) -> Iterator[Day]:
    for place, figure in enumerate(printed):
        for other in LOOKALIKES.get(figure, ""):
            changed = printed[:place] + other + printed[place + 1 :]
            # The year comes last.
            yield from (day for day in dates.days(changed, orders) if day.order != "ymd")
    yield from _of_this_century(printed, orders)


def _of_this_century(printed: str, orders: Sequence[Order]) -> Iterator[Day]:
    """Yield the date with its century repaired if one digit of it is wrong: "2925"."""
    year = _FULL_YEAR.search(printed)
    if year and sum(a != b for a, b in zip(year.group()[:2], _CENTURY, strict=True)) == 1:
        changed = printed[: year.start()] + _CENTURY + printed[year.start() + 2 :]
        yield from (day for day in dates.days(changed, orders) if day.order != "ymd")


def earliest_day(rows: Sequence[Row], country: Country | None) -> dt.date:
    """Return the earliest_day plausible issue date for the taxes named on the document."""
    known = tables.taxes().get(country.code, {}) if country else {}
    text = fold("\n".join(row.text for row in rows)) if known else ""
    since = [first for name, first in known.items() if _tax_name(name).search(text)]
    return max(since, default=dt.date.min)


def with_year_corrected(date: dt.date, earliest_day: dt.date) -> dt.date:
    """Return a date that is too early with its misread digit with_year_corrected.

    A date does not change if it is not too early, or if several corrections are possible.
    """
    if date >= earliest_day:
        return date
    possible = {other for other in _other_years(date) if other >= earliest_day}
    return possible.pop() if len(possible) == 1 else date


def _other_years(date: dt.date) -> Iterator[dt.date]:
    year = str(date.year)
    for place, figure in enumerate(year):
        for other in LOOKALIKES.get(figure, ""):
            changed = int(year[:place] + other + year[place + 1 :])
            if changed <= _LAST_YEAR and not _is_invalid(date, changed):
                yield date.replace(year=changed)


def _is_invalid(date: dt.date, year: int) -> bool:
    is_leap_day = (date.month, date.day) == (2, 29)
    return is_leap_day and year % 4 != 0


@cache
def _tax_name(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z]){re.escape(name)}(?![a-z])")
