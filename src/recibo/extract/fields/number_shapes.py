"""Parses document numbers, and rejects similar text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.text import dates

#: One word; its groups are joined by a hyphen, a slash or a dot. Before a series and a slash there
#: may be a short type in capitals, as the law of Portugal requires: `FR 2024/5512`.
NUMBER = re.compile(
    r"(?:[A-Z]{2,3} (?=[A-Z0-9]*[0-9][A-Z0-9]*/[0-9]))?"
    r"[A-Za-z0-9][A-Za-z0-9_]*(?:[-/.][A-Za-z0-9_]+)*"
)

_MOST_LENGTH, _MOST_LETTERS = 32, 14
# A single digit after a label is a count, but not at the end of a code.
_FEWEST_DIGITS = 2
_CODE = re.compile(r"(?=[A-Z]*\d)[A-Z0-9]{7,}|[A-Za-z]+(?:[_-][A-Za-z]+)*[_-]\d")


def is_number(text: str, rest: str) -> bool:
    """Return whether `text`, at the start of `rest`, is a number, not a date, time or amount."""
    signs = re.sub(r"\W|_", "", text)
    digits = sum(character.isdigit() for character in signs)
    is_code = _CODE.fullmatch(text) is not None
    if digits < _FEWEST_DIGITS and not is_code:
        return False
    if len(text) > _MOST_LENGTH or len(signs) - digits > _MOST_LETTERS:
        return False
    is_day = any(day.start == 0 for day in dates.days(rest[:20]))
    is_clock = any(clock.start == 0 for clock in dates.times(rest[:12]))
    is_money = re.match(r"\d+[.,]\d{2}(?!\d)", rest) is not None
    return not (is_day or is_clock or is_money or rest[len(text) :].lstrip().startswith("%"))


def has_word(text: str) -> bool:
    """Return whether a text contains a word of two letters or more."""
    return re.search(r"[^\W\d_]{2}", text) is not None


@dataclass(frozen=True, slots=True)
class NumberCandidate:
    """A candidate for the document's number, with its features."""

    value: str
    row: Row
    features: Mapping[str, float]

    def found(self, confidence: float) -> Extracted[str]:
        """Return the number with its place in its row."""
        row = self.row
        start = row.text.find(self.value)
        box = row.box(start, start + len(self.value)) if start >= 0 else row.line.box
        return Extracted(self.value, confidence, row.text, row.line.page, box)
