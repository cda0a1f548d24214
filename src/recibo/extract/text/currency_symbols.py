"""The marks of currencies, where they stand beside a figure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from recibo.extract.text import tables


@dataclass(frozen=True, slots=True)
class Marks:
    """Some marks of one currency, as they are printed."""

    signs: tuple[str, ...]
    #: One of them beside a figure, or alone in brackets as at the head of a column.
    pattern: re.Pattern[str]

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first mark in `text`."""
        return self.pattern.search(text) if self._may_stand_in(text) else None

    def count(self, text: str) -> int:
        """Return how many marks stand in `text`."""
        return len(self.pattern.findall(text)) if self._may_stand_in(text) else 0

    def _may_stand_in(self, text: str) -> bool:
        # Most currencies have no mark on a page; to see that takes a seventieth of the search.
        return any(sign in text for sign in self.signs)


@cache
def own() -> Mapping[str, Marks]:
    """Return by currency the marks of this currency alone."""
    return {
        code: _marks(row.marks, row.priced)
        for code, row in tables.currencies().items()
        if row.marks
    }


@cache
def shared() -> Mapping[str, Marks]:
    """Return by currency the marks that it shares with others."""
    return {code: _marks(row.shared) for code, row in tables.currencies().items() if row.shared}


def _marks(signs: tuple[str, ...], priced: tuple[str, ...] = ()) -> Marks:
    any_sign = "|".join(re.escape(sign) for sign in signs)
    pattern = (
        rf"(?<![^\W\d_])(?:{any_sign})\s?[-(]?\s?\d|\d\s?(?:{any_sign})(?!\w)|\((?:{any_sign})\)"
    )
    if priced:
        any_priced = "|".join(re.escape(sign) for sign in priced)
        pattern += rf"|(?<![^\W_])(?:{any_priced})\s?\d[\d ,.']*[.,]\d{{2}}(?![.\d])"
    return Marks((*signs, *priced), re.compile(pattern))
