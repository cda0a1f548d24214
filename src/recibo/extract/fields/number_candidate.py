"""A candidate for the number of the document, and what may be one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.text import dates, lexicon
from recibo.extract.text.numbers import GROUPING

#: One word; its groups are joined by a hyphen, after which text layers may have a gap, a slash or
#: a dot. Before a series and a slash may be a type, as Portugal requires: `FR 2024/5512`.
NUMBER = re.compile(
    r"(?:[A-Z]{2,3} (?=[A-Z0-9]+/[0-9]))?"
    r"[A-Za-z0-9][A-Za-z0-9_]*(?:(?:[-/.]|- (?=\d{3}))[A-Za-z0-9_]+)*"
)
_MONEY = re.compile(r"(?:\d{1,3}(?:[.,]\d{3})+|\d+)[.,]\d{2}(?![.,]?\d)")
_MOST_LENGTH, _MOST_LETTERS = 32, 14
# A single digit after a label is a count, but not at the end of a code.
_FEWEST_DIGITS = 2
_CODE = re.compile(r"(?=[A-Z]*\d)[A-Z0-9]{7,}|[A-Za-z]+(?:[_-][A-Za-z]+)*[_-]\d")
# The contents of a pack: `100G`.
_MEASURE = re.compile(r"\d{1,4}(?:[km]?g|[cm]?l|lb|oz|[cm]m)", re.IGNORECASE)
_MONTH_AND_YEAR = re.compile(r"(?P<month>[^\W\d]{3,})[-/.](?:20)?\d\d")
_PERIOD = re.compile(r"(?:0[1-9]|1[0-2])/20\d\d")
_BRAZILIAN_TAX_ID = re.compile(r"(?:\d\d\.\d{3}\.\d{3}/\d{4}|\d{3}\.\d{3}\.\d{3})-\d\d(?!\d)")


@dataclass(frozen=True, slots=True)
class NumberCandidate:
    """A candidate for the document's number, with its features."""

    value: str
    row: Row
    features: Mapping[str, float]

    def found(self, confidence: float) -> Extracted[str]:
        """Return the number with its place in its row."""
        row, start = self.row, self.row.text.find(self.value)
        value = self.value.replace(GROUPING, " ").replace("- ", "-").removeprefix("No.")
        box = row.box(start, start + len(self.value)) if start >= 0 else row.line.box
        return Extracted(value, confidence, row.text, row.line.page, box)


def is_number(text: str, rest: str) -> bool:
    """Return whether `text`, at the start of `rest`, is a number, not a date, time or amount."""
    signs = re.sub(r"\W|_", "", text)
    digits = sum(character.isdigit() for character in signs)
    is_code = _CODE.fullmatch(text) is not None
    if digits < _FEWEST_DIGITS and not is_code:
        return False
    if len(text) > _MOST_LENGTH or len(signs) - digits > _MOST_LETTERS:
        return False
    if _MEASURE.fullmatch(text) or _BRAZILIAN_TAX_ID.match(rest) or _is_month(text):
        return False
    is_day = any(day.start == 0 for day in dates.days(rest[:20]))
    is_clock = any(clock.start == 0 for clock in dates.times(rest[:12]))
    is_money = _MONEY.match(rest) is not None
    return not (is_day or is_clock or is_money or rest[len(text) :].lstrip().startswith("%"))


def _is_month(text: str) -> bool:
    """Return whether a text is a month with its year: `SETEMBRO/2025`."""
    match = _MONTH_AND_YEAR.fullmatch(text)
    return match is not None and match["month"].lower() in lexicon.months()


def is_period(text: str) -> bool:
    """Return whether a text has the form of a month: `09/2025`, which may also be a number."""
    return _PERIOD.fullmatch(text) is not None


def has_word(text: str) -> bool:
    """Return whether a text contains a word of two letters or more."""
    return re.search(r"[^\W\d_]{2}", text) is not None
