"""Ranks the amounts that may be the document's total, and gathers those that lead to it."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import zip_longest
from statistics import median
from typing import Self

from recibo.extract.fields.labelled_amounts import Entry, Role, role_of
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.text import currency_symbols
from recibo.extract.text.currency_symbols import Marks

# Totals are rounded to the next coin.
_MOST_ROUNDING = Decimal("0.05")

# So many candidates, and parts of each kind, are enough for the sums to be tried.
_MOST_CANDIDATES, _MOST_PARTS = 30, 12
# Totals beyond this are no reading of a receipt.
_MOST = Decimal(10) ** 12

# What a label beside an amount says for its being the total, in log-odds; tuned on scanned and
# photographed receipts, on one half of the companies, and checked on the other.
_ROLE_WEIGHTS: dict[Role, float] = {
    Role.PAYABLE: 3.0,
    Role.TOTAL: 2.4,
    Role.SUM: 0.4,
    Role.CARD: 0.2,
    Role.CASH: -1.2,
    Role.SUBTOTAL: -0.6,
    Role.NONE: -2.6,
    Role.CHARGE: -3.0,
    Role.COUNT: -3.0,
    Role.DISCOUNT: -4.0,
    Role.TAX: -4.0,
    Role.ROUNDING: -4.0,
    Role.CHANGE: -4.0,
}
_BIAS = -2.2
_WEIGHTS = {
    "roles": 0.5,
    "money": 1.0,
    "largest": 1.2,
    "depth": 1.0,
    "last": 0.8,
    "height": 0.8,
    "distance": -1.5,
    "followed": -3.0,
    "below": -0.6,
    "foreign": -3.0,
    "short": -3.5,
    "settled": -5.0,
}
_TOTALS = (Role.PAYABLE, Role.TOTAL)
_ECHOES = (*_TOTALS, Role.SUM, Role.CARD, Role.SUBTOTAL)
_PAYMENTS = (Role.CASH, Role.CHANGE, Role.CARD)
# Beside a label whose amount is left to be written stand at most so many letters more.
_MOST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class _Context:
    """What every amount is compared with."""

    largest: Decimal
    last_row: int
    #: The index of the last row that shows a total above zero.
    last_total: int
    height: float
    #: The marks of currencies that others convert the amounts to.
    foreign: Sequence[Marks]
    #: The index of the last row that adds a tax, or names a total and leaves it blank.
    last_addition: int
    #: Whether a total is named, or something was paid.
    is_closed: bool
    #: The index of the first row that shows a payment, beyond the last row if none does.
    first_payment: int

    @classmethod
    def of(
        cls, entries: Sequence[Entry], currencies: Sequence[Extracted[str]], blanks: Sequence[int]
    ) -> Self:
        own = currency_symbols.own()
        foreign = [own[other.value] for other in currencies[1:] if other.value in own]
        paid = (Role.CASH, Role.CHANGE, Role.COUNT)
        native = [entry for entry in entries if not _is_marked(entry, foreign)]
        money = [entry for entry in native if entry.amount.is_money]
        due = [entry.amount.value for entry in money if entry.role not in paid]
        totals_shown = [
            entry.row.index for entry in native if _is_total(entry) and entry.amount.value > 0
        ]
        return cls(
            largest=max((value for value in due if value < _MOST), default=Decimal(0)),
            last_row=max((entry.row.index for entry in entries), default=0) or 1,
            last_total=max(totals_shown, default=0),
            height=median([entry.row.line.box.height for entry in entries] or [1]) or 1,
            foreign=foreign,
            last_addition=_last_addition(entries, blanks),
            is_closed=any(entry.role in (*_TOTALS, *_PAYMENTS, Role.SUM) for entry in entries),
            first_payment=_first_payment(entries),
        )


def totals(
    entries: Sequence[Entry],
    currencies: Sequence[Extracted[str]] = (),
    blanks: Sequence[int] = (),
) -> tuple[Extracted[Decimal], ...]:
    """Return the amounts that may be the total, best first, one entry a value.

    Args:
        entries: The amounts of the document.
        currencies: Those that it may be in, best first: it shows amounts in the others too.
        blanks: The indexes of the rows that name a total and leave its amount blank.
    """
    context = _Context.of(entries, currencies, blanks)
    ranked = []
    for same in _by_value(entries).values():
        best, score = _best(same, context)
        ranked.append(best.found(probability(_BIAS + score)))
    return tuple(sorted(ranked, key=lambda found: -found.confidence)[:_MOST_CANDIDATES])


def blanks(rows: Sequence[Row]) -> tuple[int, ...]:
    """Return the indexes of the rows that name a total whose amount is left to be written."""
    return tuple(
        row.index
        for row, below in zip_longest(rows, rows[1:])
        if not row.amounts
        and role_of([label.kind for label in row.labels]) in _TOTALS
        and _unlabelled(row) <= _MOST_LETTERS
        and (below is None or below.labels or not below.amounts)
    )


def labelled(entries: Sequence[Entry], role: Role) -> tuple[Extracted[Decimal], ...]:
    """Return the last few amounts that stand beside labels of `role`, in reading order."""
    # A volume or a rate has decimals in any currency.
    has_minor = any(entry.amount.decimals and entry.row.minor for entry in entries)
    found = [
        entry.found(0.9 if entry.distance == 0 else 0.6)
        for entry in entries
        if entry.role is role and (entry.amount.is_money or entry.amount.decimals or not has_minor)
    ]
    return tuple(found[-_MOST_PARTS:])


def probability(log_odds: float) -> float:
    """Return the probability that these log-odds stand for."""
    return 1 / (1 + math.exp(-log_odds))


def _by_value(entries: Sequence[Entry]) -> dict[Decimal, list[Entry]]:
    groups: dict[Decimal, list[Entry]] = defaultdict(list)
    has_money = any(_is_candidate(entry) and entry.amount.is_money for entry in entries)
    for entry in entries:
        # Where money is written with minor digits, a bare whole number is a count or a code.
        if _is_candidate(entry) and (entry.amount.is_money or not has_money or _is_total(entry)):
            groups[entry.amount.value].append(entry)
    return groups


def _is_candidate(entry: Entry) -> bool:
    value = entry.amount.value
    return abs(value) < _MOST and (value > 0 or _is_total(entry))


def _last_addition(entries: Sequence[Entry], blanks: Sequence[int]) -> int:
    """Return the index of the last row that adds to the amounts above, -1 if none does.

    What was paid tells by itself whether the tax is in it.
    """
    if any(entry.role in _PAYMENTS for entry in entries):
        return -1
    taxes = [
        entry.row.index
        for entry in entries
        if entry.role is Role.TAX
        and entry.amount.value > 0
        and all(label.kind != "including" for label in entry.row.labels)
    ]
    return max([*blanks, *taxes], default=-1)


def _first_payment(entries: Sequence[Entry]) -> int:
    paid = (
        entry.row.index
        for entry in entries
        if entry.role in _PAYMENTS and entry.role is not Role.CHANGE and entry.amount.value
    )
    return min(paid, default=len(entries))


def _unlabelled(row: Row) -> int:
    """Return how many letters of a row stand outside of its labels."""
    named = sum(_letters(row.text[label.start : label.end]) for label in row.labels)
    return _letters(row.text) - named


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _is_total(entry: Entry) -> bool:
    return entry.role in _TOTALS


def _best(same: Sequence[Entry], context: _Context) -> tuple[Entry, float]:
    """Return the entry that shows a value best, and the score of the value."""
    roles = {entry.role for entry in same if entry.role in _ECHOES}
    scored = [
        (_score(entry, _features(entry, roles, context)), index, entry)
        for index, entry in enumerate(same)
    ]
    score, _, best = max(scored)
    return best, score


def _score(entry: Entry, features: dict[str, float]) -> float:
    weighted = (_WEIGHTS[name] * value for name, value in features.items())
    return _ROLE_WEIGHTS[entry.role] + sum(weighted)


def _features(entry: Entry, roles: set[Role], context: _Context) -> dict[str, float]:
    return {
        "roles": min(len(roles) - 1, 2),
        "money": entry.amount.is_money,
        "largest": entry.amount.value >= context.largest - _MOST_ROUNDING,
        "depth": entry.row.index / context.last_row,
        "last": _is_total(entry) and entry.row.index >= context.last_total,
        "height": max(-0.5, min(entry.row.line.box.height / context.height - 1, 1)),
        "distance": entry.distance if entry.role in _ECHOES else 0,
        "followed": any(
            other.is_money and other.start > entry.amount.start for other in entry.row.amounts
        ),
        "below": entry.is_below,
        "foreign": _is_marked(entry, context.foreign),
        # What a tax is still added to is not the total, nor what stands above a blank one, nor
        # the last sum of a paper whose foot is cut off.
        "short": roles == {Role.SUBTOTAL}
        and (entry.row.index < context.last_addition or not context.is_closed),
        # What is left to pay once it was paid.
        "settled": not entry.amount.value and entry.row.index > context.first_payment,
    }


def _is_marked(entry: Entry, currencies: Sequence[Marks]) -> bool:
    """Tell whether a mark of one of the currencies stands beside an amount."""
    amount = entry.amount
    return any(
        match.start() <= amount.end and amount.start <= match.end()
        for known in currencies
        for match in known.pattern.finditer(entry.row.text)
    )
