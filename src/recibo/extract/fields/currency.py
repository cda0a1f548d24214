"""Finds the currency: by the symbols next to amounts, else by the country."""

from collections import Counter
from collections.abc import Mapping, Sequence

from recibo.extract.fields.locale_detection import Place
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.text import currency_symbols
from recibo.extract.text.currency_symbols import Marks

# A dollar sign without any hint of a country is most often American.
_DEFAULT_DOLLAR = "USD"


def currencies(rows: Sequence[Row], place: Place) -> tuple[Extracted[str], ...]:
    """Return the currencies that the page may be in, best first."""
    shared = _counts(rows, currency_symbols.shared())
    printed = _counts(rows, currency_symbols.own())
    own = _of_document(printed, shared)
    # Where the only hint of a country is the money that was offered, there is none.
    home = place.currency if place.currency in own or place.currency not in printed else None
    if own:
        return _by_own_marks(own, home, rows)
    if home:
        confidence = 0.95 if home in shared or not shared else 0.6
        return (_found(home, confidence, rows),)
    # Each Spanish- or French-speaking country has its own dollar or peso.
    if _DEFAULT_DOLLAR in shared and place.language in (None, "en"):
        return (_found(_DEFAULT_DOLLAR, 0.6, rows),)
    return ()


def _counts(rows: Sequence[Row], known: Mapping[str, Marks]) -> Counter[str]:
    page = "\n".join(row.text for row in rows)
    seen = {code: own for code, own in known.items() if own.search(page)}
    return +Counter({code: sum(own.count(row.text) for row in rows) for code, own in seen.items()})


def _of_document(own: Counter[str], shared: Counter[str]) -> Counter[str]:
    """Return the own marks without those of what the document's amounts were converted to.

    Most amounts bear a mark that several currencies share, and the other is none of these.
    """
    most = max(shared.values(), default=0)
    kept = (code for code in own if code in shared or own[code] * 2 > most)
    return Counter({code: own[code] for code in kept})


def _by_own_marks(
    own: Counter[str], home: str | None, rows: Sequence[Row]
) -> tuple[Extracted[str], ...]:
    # The country's own currency wins a tie: other marks are offers to convert.
    ranked = sorted(own, key=lambda code: (-own[code], code != home))
    if home and home in own and own[home] * 2 >= own[ranked[0]]:
        ranked = [home, *(code for code in ranked if code != home)]
    best = 0.98 if ranked[0] == home or len(ranked) == 1 else 0.8
    return tuple(_found(code, best if code == ranked[0] else 0.1, rows) for code in ranked)


def _found(code: str, confidence: float, rows: Sequence[Row]) -> Extracted[str]:
    for known in (currency_symbols.own().get(code), currency_symbols.shared().get(code)):
        for row in rows if known else ():
            if known and (match := known.search(row.text)):
                box = row.box(match.start(), match.end())
                return Extracted(code, confidence, match.group().strip(), row.line.page, box)
    return Extracted(code, confidence, "")
