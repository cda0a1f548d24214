"""Finds currency symbols next to a number."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from recibo.extract.text import tables


@dataclass(frozen=True, slots=True)
class CurrencySymbols:
    """Symbols of one currency, as printed."""

    signs: tuple[str, ...]
    #: Matches one of them next to a number, or alone in brackets as in a column heading.
    pattern: re.Pattern[str]

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first symbol in `text`."""
        return self.pattern.search(text) if self._may_be_in(text) else None

    def count(self, text: str) -> int:
        """Return the number of symbols in `text`."""
        return len(self.pattern.findall(text)) if self._may_be_in(text) else 0

    def _may_be_in(self, text: str) -> bool:
        # Most currencies have no symbol on a page; this check takes a seventieth of the search.
        return any(sign in text for sign in self.signs)


@cache
def unique() -> Mapping[str, CurrencySymbols]:
    """Return the symbols of each currency that no other currency has."""
    return {
        code: _symbols(row.symbols, row.priced)
        for code, row in tables.currencies().items()
        if row.symbols
    }


@cache
def shared() -> Mapping[str, CurrencySymbols]:
    """Return the symbols of each currency that it shares with others."""
    return {code: _symbols(row.shared) for code, row in tables.currencies().items() if row.shared}


@cache
def pattern() -> str:
    """Return a pattern of the symbols and codes of all currencies, the longest first."""
    symbols = {sign for row in tables.currencies().values() for sign in (*row.symbols, *row.shared)}
    longest_first = sorted(symbols, key=len, reverse=True)
    return rf"(?:{'|'.join(map(re.escape, longest_first))})"


@cache
def word() -> str:
    """Return the same for symbols that are not joined to letters before them."""
    return rf"(?:(?<![^\W\d_]){pattern()})"


@cache
def priced() -> str:
    """Return a pattern of the symbols before an amount with cents, single letters included."""
    signs = {sign for row in tables.currencies().values() for sign in row.priced}
    return rf"(?:(?<![^\W\d_])(?:{pattern()}|{'|'.join(map(re.escape, sorted(signs)))}))"


@cache
def before() -> re.Pattern[str]:
    """Return a pattern of a symbol before a number, perhaps with a blank or a minus between."""
    return re.compile(rf"{word()}_{{0,20}}\s?[-\u2212\u2013]?\s?$")


@cache
def after() -> re.Pattern[str]:
    """Return a pattern of a symbol after a number, to which it may be joined."""
    return re.compile(rf"-?\s?{pattern()}(?![^\W\d_])")


def _symbols(signs: tuple[str, ...], priced: tuple[str, ...] = ()) -> CurrencySymbols:
    any_sign = "|".join(re.escape(sign) for sign in signs)
    pattern = (
        rf"(?<![^\W\d_])(?:{any_sign})_{{0,20}}\s?[-(]?\s?[$¥￥]?\s?\d"
        rf"|\d\s?(?:{any_sign})(?!\w)|\((?:{any_sign})\)"
    )
    if priced:
        any_priced = "|".join(re.escape(sign) for sign in priced)
        pattern += rf"|(?<![^\W_])(?:{any_priced})\s?\d[\d ,.']*[.,]\d{{2}}(?![.\d])"
    return CurrencySymbols((*signs, *priced), re.compile(pattern))
