"""Finds the currency: by the symbols next to amounts, else by the country."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from recibo.extract.fields.locale_detection import Place
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.text import currency_symbols, lexicon, tables
from recibo.extract.text.currency_symbols import CurrencySymbols

# A dollar sign without evidence of a country is most often American.
_DEFAULT_DOLLAR = "USD"
_NAMED, _CODE = 0.95, re.compile(r"\W{0,3}([A-Z]{3})\b")
_AROUND_SYMBOL = " \t0123456789.,"


def currencies(rows: Sequence[Row], place: Place) -> tuple[Extracted[str], ...]:
    """Return the possible currencies of the page, best first."""
    shared = _counts(rows, currency_symbols.shared())
    printed = _counts(rows, currency_symbols.unique())
    unique = _of_document(printed, shared)
    if named := _named(rows):
        return (_found(named, _NAMED, rows),)
    # An offer to convert is not evidence of a country.
    home = place.currency if place.currency in unique or place.currency not in printed else None
    if unique:
        return _by_unique_symbols(unique, _of_totals(unique, rows) or home, rows)
    if home:
        confidence = 0.95 if home in shared or not shared else 0.6
        return (_found(home, confidence, rows),)
    # Each Spanish- or French-speaking country has its own dollar or peso.
    if _DEFAULT_DOLLAR in shared and place.language in (None, "en"):
        return (_found(_DEFAULT_DOLLAR, 0.6, rows),)
    return ()


def _named(rows: Sequence[Row]) -> str | None:
    """Return the currency whose code is behind a label: `MONEDA UYU`."""
    for row in rows:
        for label in lexicon.wordbook("currency_label").find(row.text):
            code = _CODE.match(row.text, label.end)
            if code and code[1] in tables.currencies():
                return code[1]
    return None


def _counts(rows: Sequence[Row], known: Mapping[str, CurrencySymbols]) -> Counter[str]:
    page = "\n".join(row.text for row in rows)
    seen = {code: unique for code, unique in known.items() if unique.search(page)}
    return +Counter(
        {code: sum(unique.count(row.text) for row in rows) for code, unique in seen.items()}
    )


def _of_document(unique: Counter[str], shared: Counter[str]) -> Counter[str]:
    """Return the unique symbols without those of currencies to which amounts were converted.

    Most amounts have a symbol of several currencies, and the other symbol is of none of these.
    """
    most = max(shared.values(), default=0)
    kept = (code for code in unique if code in shared or unique[code] * 2 > most)
    return Counter({code: unique[code] for code in kept})


def _of_totals(unique: Counter[str], rows: Sequence[Row]) -> str | None:
    """Return the currency of the totals that are alone in their rows, if it is only one.

    An invoice in another currency repeats its sums in that of the country, in a sentence.
    """
    totals = [
        row.text
        for row in rows
        if sum(map(row.is_money, row.amounts)) == 1
        and not {"payable", "total"}.isdisjoint(label.kind for label in row.labels)
    ]
    known = currency_symbols.unique()
    codes = [code for code in unique if any(known[code].search(text) for text in totals)]
    is_usual = len(codes) == 1 and unique[codes[0]] == max(unique.values())
    return codes[0] if is_usual else None


def _by_unique_symbols(
    unique: Counter[str], home: str | None, rows: Sequence[Row]
) -> tuple[Extracted[str], ...]:
    # The country's currency wins a tie: other symbols are offers to convert.
    ranked = sorted(unique, key=lambda code: (-unique[code], code != home))
    if home and home in unique and unique[home] * 2 >= unique[ranked[0]]:
        ranked = [home, *(code for code in ranked if code != home)]
    best = 0.98 if ranked[0] == home or len(ranked) == 1 else 0.8
    return tuple(_found(code, best if code == ranked[0] else 0.1, rows) for code in ranked)


def _found(code: str, confidence: float, rows: Sequence[Row]) -> Extracted[str]:
    for known in (currency_symbols.unique().get(code), currency_symbols.shared().get(code)):
        for row in rows if known else ():
            if known and (match := known.search(row.text)):
                # The pattern may match digits of the amount next to the symbol.
                symbol = match.group().strip(_AROUND_SYMBOL)
                start = row.text.index(symbol, match.start())
                box = row.box(start, start + len(symbol))
                return Extracted(code, confidence, symbol, row.line.page, box)
    return Extracted(code, confidence, "")
