"""Finds dates and times of day in a line: all orders, month names, misread digits."""

import bisect
import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from recibo.extract.text import lexicon
from recibo.extract.text.folding import fold
from recibo.extract.text.tables import Order

# The years of supported documents. They are fixed, so results do not depend on today's date.
_FIRST_YEAR, _LAST_YEAR = 1990, 2059

_SHORT_NAME = 3
# Misread month names are repaired only in these languages: names of others differ by one letter.
_REPAIRED_LANGUAGES = ("en", "ms", "id", "pt", "es", "de", "fr", "it", "nl")
# Letters of short names that OCR confuses.
_CONFUSED = ({"m", "n"}, {"j", "d"}, {"j", "i"}, {"l", "i"}, {"u", "v"}, {"o", "c"}, {"p", "r"})

_DIGIT = re.compile(r"\d")
_EARLY_YEAR = 10
# The digits of a full year, and of a date with a full year and leading zeros.
_YEAR_DIGITS, _ALL_DIGITS = 4, 8

_NOON = 12
# Words before a time for its half of the day, and signs after its hours.
_DAY_HALVES = {
    fold(words): half
    for words, half in (
        ("午前", "a"),
        ("上午", "a"),
        ("오전", "a"),
        ("午後", "p"),
        ("下午", "p"),
        ("오후", "p"),
    )
}
_HOUR_SIGNS, _MINUTE_SIGNS = fold("時时点點시"), fold("分분")
_MINUTE_DIGITS = 2

ORDERS: tuple[Order, ...] = ("dmy", "mdy", "ymd")

# A time may be joined to the year: "25/12/1814:35", "25/12/201814:35".
_YEAR = (
    r"(\d{2}(?=\d{2}[:;]\d{2})|\d{4}(?!\d)|\d{4}(?=\d{1,2}[:;]\d{2})"
    r"|\d{2}(?!\d)|\d{2}(?=\d[:;]\d{2}))"
)
_GAP = r"[\s\-/.,'\u2019_]{0,3}"
# Latin, Greek and Cyrillic.
_LETTER = r"a-z\u03b1-\u03c9\u0430-\u044f"
_MONTH = rf"((?=0?[{_LETTER}]0?[{_LETTER}])[{_LETTER}0]{{3,12}})"
_DAY = r"(\d{1,2})(?:st|nd|rd|th|er|º|°)?"
_OF = r"(?:de\s|del\s|of\s)?"

# A year of two digits is not followed by cents, "18.00", or another part of a number.
_NO_PART = r"(?!(?<!\d{4})(?:[.,]\d{1,2}|[-/]\d+)(?![\d:;.h]))"
# The search starts at every character, since the text before a date may look like its beginning:
# "#19- 18/01/2018".
_IN_FIGURES = re.compile(
    rf"(?<!\d)(?<!\d[.,])(?=((\d{{4}}|\d{{1,2}})(\s?[-/\u2013\\|\u00b7]\s?|\s?[.,]\s?|\s)"
    rf"(\d{{1,2}})(\s?[-/\u2013\\|\u00b7]\s?|\s?[.,]\s?|\s){_YEAR}{_NO_PART}))"
)
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\s?([-/.年])\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})(?!\d{3})")
# Hours and minutes of a time are not years and days: "14:05 ENE 14:27".
_NO_TIME = r"(?!\s?:\d{2})"
_DAY_FIRST_NAMED = (
    rf"(?<!\d)(?<!\d:){_DAY}{_GAP}{_OF}{_MONTH}{_GAP}{_OF}{_YEAR}{_NO_TIME}{_NO_PART}"
)
_MONTH_FIRST_NAMED = (
    rf"(?<![a-z]){_MONTH}{_GAP}{_DAY}[\s\-/.,'\u2019]{{1,3}}{_YEAR}{_NO_TIME}{_NO_PART}"
)
_YEAR_FIRST_NAMED = rf"(?<!\d)(\d{{4}}){_GAP}{_MONTH}{_GAP}(\d{{1,2}})(?!\d)"
# The time between day and year: "Sat Mar 14 14:22:11 EST 2020".
_TIME_BETWEEN = (
    rf"(?<![a-z]){_MONTH}\s{{1,2}}{_DAY}(?=\s\d{{2}}:\d{{2}}:\d{{2}}\s(?:[a-z]{{3,4}}\s)?(\d{{4}}))"
)
_NAMED = tuple(
    (re.compile(rf"(?=({shape}))"), order)
    for shape, order in (
        (_DAY_FIRST_NAMED, "dmy"),
        (_MONTH_FIRST_NAMED, "mdy"),
        (_YEAR_FIRST_NAMED, "ymd"),
        (_TIME_BETWEEN, "mdy"),
    )
)
# A dot separates day and year only if there is one before the day too: "Mar. 12.18", "12.Mar.18".
_PRICED = re.compile(r"[a-z]\s+\d{1,2}[.,]\d{2}$")
# Even after a name with a dot, a number followed by an amount is a unit price: "Mar. 5.20 10.40".
_UNIT_PRICE = re.compile(r"[a-z]\.\s+\d{1,2}[.,]\d{2}$")
_SHORT_YEAR, _MORE = re.compile(r"(?<!\d)\d{2}$"), re.compile(r"[.,]\d{2,3}(?![\d:;])")
_SPACED_DASH = re.compile(r"\s[-\u2013]\s")
_FULL_YEAR_AFTER = re.compile(r",?\s(?:19|20)\d{2}(?![\d:.,])")
# `05/03/2026 Pag. 1`: the year of another date, and no month.
_REST_OF_DATE = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-]$")
_LONGEST_START = len("05/03/")
_DASHED = re.compile(r"\w+[-/]\w+[-/]\w+")
_COUNTED = re.compile(r"\d\s\w+\s\d\d")
_AMOUNT = re.compile(r"\s+\W?\d+[.,]\d{2}(?!\d)")
_RUN_TOGETHER = re.compile(r"(?<!\d)(\d{8})(?!\d)")

_TIME = re.compile(
    rf"(?:({'|'.join(_DAY_HALVES)})\s?)?"
    rf"(?<![\d.])(?<!\d:)([01]?\d|2[0-4])\s?([:;h.{_HOUR_SIGNS}])\s?([0-5]?\d)"
    rf"(?:\s?[:;.{_MINUTE_SIGNS}]\s?([0-5]\d))?(?!\d|,\d)"
    r"\s?(a\.?\s?m|p\.?\s?m|a(?![a-z])|p(?![a-z])|uhr)?"
)

_DASHED_TIME = re.compile(r"(?<![\d-])(?:[01]\d|2[0-3])-[0-5]\d-[0-5]\d(?![\d-])")

# Letters that OCR reads for 0 and 1 next to digits, and for 8, 5 and 2 in a date.
_MISREAD = (
    (re.compile(r"(?<=[\d/.:-])[oq](?=[\d/.:-]|\b)|(?<![a-z])o(?=\d)"), "0"),
    (re.compile(r"(?<=[\d/.:-])[il|!](?=[\d/.:-]|\b)|(?<![a-z\d])[il|](?=\d?[/.:-]\d)"), "1"),
    (re.compile(r"(?<=[/.\s-]201)b(?=\s|$)|(?<=[/.\s-]202)b(?=\s|$)"), "8"),
    (re.compile(r"(?<![a-z\d][\d])(?<=\d)s(?=[/-]\d{1,2}[/-]\d)"), "5"),
    (re.compile(r"(?<![a-z\d])z(?=0\d\d(?!\d))"), "2"),
)
# Thailand counts years from the Buddha's death; no other country prints such years.
_BUDDHIST = 543
_FIRST_BUDDHIST, _LAST_BUDDHIST = 2533, 2602
# The Gregorian year before each era's first one.
_BEFORE = {"令和": 2018, "r": 2018, "平成": 1988, "h": 1988}
_FIRST_YEAR_OF_ERA = "元"

_JAPANESE = re.compile(
    r"(?:(令和|平成)\s?|(?<![a-z\d])([rh])\s?)(\d{1,2}|元)\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})"
)
# "Ngày 26 tháng 11 năm 2026", also translated word for word.
_VIETNAMESE = re.compile(
    r"(?<!\d)(\d{1,2})\s?(?:thang|month)\s?(\d{1,2})\s?(?:nam|year)\s?(\d{4})(?!\d)"
)
# ISO 8601: "12:41:00+05:30", "12:41:00Z"; "10:00-18:00" is a range of hours.
_BARE = re.compile(r"(?:\.\d{1,9})?(?:z(?![^\W_])|\s?([+\-\u2212])(\d{2}):?(00|15|30|45)(?![\d:]))")
# With a name: "12:41 UTC+5:30", "12:41 (GMT+2)", "12:41 UTC".
_NAMED_OFFSETS = re.compile(
    r"\s{0,2}\(?(?:utc|gmt)(?![^\W\d_])(?:\s?([+\-\u2212])\s?(\d{1,2})(?::?(00|15|30|45))?(?![\d:]))?"
)
_MINUS = "-\u2212"
_WITH_SECONDS = 2
# The largest offset, that of Kiribati.
_FARTHEST = dt.timedelta(hours=14)


@dataclass(frozen=True, slots=True)
class Day:
    """A date in a line."""

    date: dt.date
    #: Its position in the line's text.
    start: int
    end: int
    #: The order in which it was read; None if the month is a name.
    order: Order | None = None
    #: Whether another order gives another date.
    is_ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """A time of day in a line."""

    time: dt.time
    start: int
    end: int
    #: The UTC offset, if it is printed after the time.
    offset: dt.timedelta | None = None


def days(text: str, orders: Sequence[Order] = ORDERS) -> tuple[Day, ...]:
    """Return the dates in `text`; `orders` lists the preferred orders of ambiguous dates first."""
    return _days(text, tuple(orders))


def without_separators(text: str, orders: Sequence[Order] = ORDERS) -> tuple[Day, ...]:
    """Return dates of eight digits without separators; use it only next to the label of a date."""
    found = []
    for match in _RUN_TOGETHER.finditer(_clean(text)):
        eight = match.group()
        year_first = (eight[:4], eight[4:6], eight[6:])
        year_last = (eight[:2], eight[2:4], eight[4:])
        readings = [*_readings(*year_first, orders), *_readings(*year_last, orders)]
        if readings:
            found.append(_day(readings, match.start(), match.end(), orders))
    return tuple(found)


def times(text: str, *, dotted: bool = False) -> tuple[TimeOfDay, ...]:
    """Return the times in `text`; "14.35" counts only if `dotted`, or if a word names it."""
    cleaned = _clean(text)
    # `ORA: 16-05-48` has the form of a day.
    found = [
        TimeOfDay(dt.time.fromisoformat(match[0].replace("-", ":")), *match.span())
        for match in _DASHED_TIME.finditer(cleaned)
        if _is_labelled(cleaned, match.start())
    ]
    bare = _without_days(cleaned)
    for match in _TIME.finditer(bare):
        part, hour, separator, minute, second, half = match.groups()
        if len(minute) < _MINUTE_DIGITS and separator not in _HOUR_SIGNS:
            continue
        is_named = dotted or half or separator != "." or _is_labelled(bare, match.start())
        if not is_named:
            continue
        time = _time(int(hour), int(minute), int(second or 0), half or _DAY_HALVES.get(part, ""))
        if time:
            offset = _offset_after(bare, *match.span())
            found.append(TimeOfDay(time, *match.span(), offset))
    return tuple(found)


def _is_labelled(text: str, place: int) -> bool:
    """Return whether the label of a time ends here: the point of "klo 9.41" is no decimal."""
    ends = _label_ends(text)
    before = bisect.bisect(ends, place)
    return before > 0 and not any(map(str.isalnum, text[ends[before - 1] : place]))


@lru_cache(maxsize=64)
def _label_ends(text: str) -> Sequence[int]:
    """Return where the labels of times end."""
    return [label.end for label in lexicon.wordbook("time").find(text)]


@lru_cache(maxsize=4096)
def _days(text: str, orders: tuple[Order, ...]) -> tuple[Day, ...]:
    clean = _clean(text)
    if not _DIGIT.search(clean):
        return ()
    found = (*_of_eras(clean), *_vietnamese(clean), *_named(clean), *_in_figures(clean, orders))
    return tuple(_without_overlaps(list(found)))


@lru_cache(maxsize=4096)
def _clean(text: str) -> str:
    folded = fold(text)
    for pattern, digit in _MISREAD:
        folded = pattern.sub(digit, folded)
    return folded


def _without_days(text: str) -> str:
    for day in days(text):
        text = text[: day.start] + " " * (day.end - day.start) + text[day.end :]
    return text


def _named(text: str) -> Iterator[Day]:
    for pattern, order in _NAMED:
        for match in pattern.finditer(text):
            whole, *groups = match.groups()
            after = text[match.start() + len(whole) :]
            before = text[max(match.start() - _LONGEST_START, 0) : match.start()]
            is_rest = _REST_OF_DATE.search(before) is not None
            if is_rest or _is_price(whole, after) or _are_two_days(whole, after):
                continue
            parts = dict(zip(order, groups, strict=True))
            month = _month(parts["m"], may_repair=_is_surely_date(whole, parts["y"]))
            date = _date(parts["y"], str(month), parts["d"])
            if date and not _is_item(whole, text[match.start() + len(whole) :]):
                yield Day(date, match.start(), match.start() + len(whole))


def _is_price(named: str, after: str) -> bool:
    """Return whether what looks like a day or a year is a price: "Set 12.50", "Day 4 12.964"."""
    is_unit_price = _UNIT_PRICE.search(named) and (_AMOUNT.match(after) or named[-2] == "0")
    return bool(
        _PRICED.search(named) or is_unit_price or (_SHORT_YEAR.search(named) and _MORE.match(after))
    )


def _are_two_days(named: str, after: str) -> bool:
    """Return whether a day was read as a year: `1 - January 31, 2026`, `12 Jan - 11`."""
    has_dash = _SPACED_DASH.search(named) is not None
    is_short = _SHORT_YEAR.search(named) is not None
    return is_short and (has_dash or _FULL_YEAR_AFTER.match(after) is not None)


def _is_surely_date(printed: str, year: str) -> bool:
    """Return whether a text is almost certainly a date, whatever the name of its month."""
    return len(year) == _YEAR_DIGITS or _DASHED.fullmatch(printed) is not None


def _is_item(printed: str, behind: str) -> bool:
    """Return whether a text is an item named like a month: "2 Mar 12   24.00"."""
    return _COUNTED.fullmatch(printed) is not None and _AMOUNT.match(behind) is not None


def _of_eras(text: str) -> Iterator[Day]:
    for year, month, day, start, end in japanese(text):
        date = _date(year, month, day)
        if date:
            yield Day(date, start, end)


def _vietnamese(text: str) -> Iterator[Day]:
    for match in _VIETNAMESE.finditer(text):
        day, month, year = match.groups()
        if date := _date(year, month, day):
            yield Day(date, match.start(), match.end())


def _month(name: str, *, may_repair: bool) -> int:
    """Return the number of a month; `may_repair` allows a misread short name; 0 if none."""
    plain = name.replace("0", "o")
    if plain in lexicon.months() or len(plain) != _SHORT_NAME or not may_repair:
        return lexicon.months().get(plain, 0)
    # A joining word between two numbers, `118/2026 del 22/04/2026`, is no month.
    if lexicon.is_joining(plain):
        return 0
    months = lexicon.months(*_REPAIRED_LANGUAGES)
    apart = {
        other: sum(_difference(a, b) for a, b in zip(plain, other, strict=True))
        for other in months
        if len(other) == _SHORT_NAME
    }
    least = min(apart.values())
    near = {months[other] for other, difference in apart.items() if difference == least}
    return near.pop() if least <= 1 and len(near) == 1 else 0


def _difference(letter: str, other: str) -> float:
    """Return 1 for two different letters, 0.5 if OCR confuses them."""
    if letter == other:
        return 0
    return 0.5 if {letter, other} in _CONFUSED else 1


def _in_figures(text: str, orders: Sequence[Order]) -> Iterator[Day]:
    for match in _YEAR_FIRST.finditer(text):
        year, _, month, day = match.groups()
        date = _date(year, month, day)
        if date:
            yield Day(date, match.start(), match.end(), "ymd")
    yield from sorted(_separated(text, orders), key=lambda day: -_quality(text, day))


def _separated(text: str, orders: Sequence[Order]) -> Iterator[Day]:
    for match in _IN_FIGURES.finditer(text):
        whole, first, gap, second, other_gap, third = match.groups()
        readings = _readings(first, second, third, orders)
        if readings and _are_separators(gap, other_gap, third):
            yield _day(readings, match.start(), match.start() + len(whole), orders)


def _quality(text: str, day: Day) -> int:
    """Return how much a text looks like a date: a single separator, a full year."""
    printed = text[day.start : day.end]
    signs = set(re.findall(r"[^\d\s]", printed))
    return 2 * (len(signs) == 1) + (len(_DIGIT.findall(printed)) == _ALL_DIGITS) - (" " in printed)


def _are_separators(gap: str, other_gap: str, year: str) -> bool:
    # Spaces separate the parts of a date only if the year is full, and a comma only if the other
    # separator is a comma too: "1,23 4,56" is two prices.
    if _is_span(gap, other_gap) or _is_span(other_gap, gap):
        return False
    if gap.isspace() or other_gap.isspace():
        return gap.isspace() and other_gap.isspace() and len(year) == _YEAR_DIGITS
    # `4/5.00` and `2/4.99` are prices of several.
    if (gap.strip(), other_gap.strip()) == ("/", ".") and len(year) < _YEAR_DIGITS:
        return _EARLY_YEAR <= int(year) <= _LAST_YEAR - 2000
    return ("," in gap) == ("," in other_gap) or "." in gap + other_gap


def _is_span(gap: str, other_gap: str) -> bool:
    """Return whether digits are a range of times: "9.30 - 18"."""
    return gap == "." and len(other_gap) > 1 and other_gap.strip() in {"-", "\u2013"}


def _readings(
    first: str, second: str, third: str, orders: Sequence[Order]
) -> list[tuple[dt.date, Order]]:
    """Return the dates that three numbers may mean, the likeliest order first."""
    readings = []
    for order in dict.fromkeys((*orders, *ORDERS)):
        parts = dict(zip(order, (first, second, third), strict=True))
        if _YEAR_DIGITS in (len(parts["d"]), len(parts["m"])):
            continue
        date = _date(parts["y"], parts["m"], parts["d"])
        if date:
            readings.append((date, order))
    # Few documents are older than 2010: such a number in front is rather a day or a month.
    return sorted(readings, key=lambda reading: _is_early_year(first, reading[1]))


def _is_early_year(first: str, order: Order) -> bool:
    return order == "ymd" and len(first) < _YEAR_DIGITS and int(first) < _EARLY_YEAR


def _day(
    readings: list[tuple[dt.date, Order]], start: int, end: int, orders: Sequence[Order]
) -> Day:
    date, order = readings[0]
    # A year of two digits in front makes a date ambiguous only where that order is usual.
    is_custom = orders[0] == "ymd"
    others = {other for other, its_order in readings if is_custom or its_order != "ymd"}
    return Day(date, start, end, order, is_ambiguous=len(others) > 1)


def _date(year: str, month: str, day: str) -> dt.date | None:
    figures = year.lstrip("'\u2019")
    is_full = len(figures) == _YEAR_DIGITS
    full = common_year(int(figures)) if is_full else _century(int(figures))
    if len(figures) not in (2, _YEAR_DIGITS) or not _FIRST_YEAR <= full <= _LAST_YEAR:
        return None
    try:
        return dt.date(full, int(month), int(day))
    except ValueError:
        return None


def _century(year: int) -> int:
    return year + (2000 if year <= _LAST_YEAR - 2000 else 1900)


def _time(hour: int, minute: int, second: int, half: str) -> dt.time | None:
    if half.startswith("p") and hour < _NOON:
        hour += _NOON
    if half.startswith("a") and hour == _NOON:
        hour = 0
    return dt.time(hour, minute, second) if hour < 2 * _NOON else None


def _without_overlaps(found: Iterable[Day]) -> list[Day]:
    # Dates with named months come first; of two with the same start, the longer one is kept.
    kept: list[Day] = []
    for day in found:
        if all(day.end <= other.start or day.start >= other.end for other in kept):
            kept.append(day)
    return sorted(kept, key=lambda day: day.start)


def common_year(year: int) -> int:
    """Return the Gregorian year of a Gregorian or Buddhist one."""
    return year - _BUDDHIST if _FIRST_BUDDHIST <= year <= _LAST_BUDDHIST else year


def japanese(text: str) -> list[tuple[str, str, str, int, int]]:
    """Return the dates with an era in folded `text`: year, month, day, start and end."""
    found = []
    for match in _JAPANESE.finditer(text):
        kanji, letter, printed, month, day = match.groups()
        count = 1 if printed == _FIRST_YEAR_OF_ERA else int(printed)
        year = _BEFORE[kanji or letter] + count
        found.append((str(year), month, day, match.start(), match.end()))
    return found


def _offset_after(text: str, start: int, end: int) -> dt.timedelta | None:
    """Return the offset _offset_after a time in folded `text`; None if none is printed."""
    is_exact = text[start:end].count(":") == _WITH_SECONDS or text[:start].endswith("t")
    match = _NAMED_OFFSETS.match(text, end) or (_BARE.match(text, end) if is_exact else None)
    if match is None:
        return None
    sign, hours, minutes = match.groups()
    offset = dt.timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    if offset > _FARTHEST:
        return None
    return -offset if sign and sign in _MINUS else offset
