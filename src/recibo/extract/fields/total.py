"""Ranks the candidates for the total by fitted weights."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import zip_longest
from statistics import median
from typing import Self

from recibo.extract.fields.labelled_amounts import Entry, Role, role_of
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.probabilities import probability
from recibo.extract.text import currency_symbols
from recibo.extract.text.currency_symbols import CurrencySymbols
from recibo.extract.weights import weights

# Totals are rounded to the next coin.
_MOST_ROUNDING = Decimal("0.05")
# The most candidates, and amounts of each role, for which sums are tried.
_MOST_CANDIDATES, _MOST_PARTS = 30, 12
# The confidence of an amount without a label if there are only a few, and their number.
_ALONE, _FEW = 0.7, 3
# Larger totals are misread.
_MOST = Decimal(10) ** 12
# A row with a blank amount has at most this many letters other than its label.
_MOST_LETTERS = 4

_TOTALS = (Role.PAYABLE, Role.TOTAL)
_PAYMENTS = (Role.CASH, Role.CHANGE, Role.CARD)
# If a value is printed several times, the first of these roles is the evidence.
_EVIDENCE_ROLES = (*_TOTALS, Role.SUM, Role.CARD, Role.SUBTOTAL)


@dataclass(frozen=True, slots=True)
class _Context:
    """The context of the amounts of a document."""

    largest: Decimal
    #: The largest amount labelled as a total.
    largest_named: Decimal
    has_change: bool
    last_row: int
    #: The index of the last row with a total above zero.
    last_total: int
    height: float
    #: The right edge of the amounts, in pixels.
    edge: float
    #: The symbols of currencies to which amounts are converted.
    foreign: Sequence[CurrencySymbols]
    #: The index of the last row with an added tax, or with a blank total.
    last_addition: int
    #: The index of the first row with a payment; after the last row if there is none.
    first_payment: int
    #: The roles in each row that has any.
    roles: Mapping[int, Role]

    @classmethod
    def of(
        cls, entries: Sequence[Entry], currencies: Sequence[Extracted[str]], blanks: Sequence[int]
    ) -> Self:
        own = currency_symbols.unique()
        foreign = [own[other.value] for other in currencies[1:] if other.value in own]
        paid = (Role.CASH, Role.CHANGE, Role.COUNT)
        native = [entry for entry in entries if not _has_symbol_of(entry, foreign)]
        money = [entry for entry in native if entry.amount.is_money]
        due = [entry.amount.value for entry in money if entry.role not in paid]
        totals_shown = [
            entry.row.index for entry in native if _is_total(entry) and entry.amount.value > 0
        ]
        named = [entry.amount.value for entry in native if _is_total(entry)]
        # If returns are deducted, the largest amount is not the total.
        has_returns = any(value < 0 for value in named)
        return cls(
            largest=_MOST
            if has_returns
            else max((v for v in due if v < _MOST), default=Decimal(0)),
            largest_named=_MOST if has_returns else max(named, default=Decimal(0)),
            has_change=any(entry.role is Role.CHANGE and entry.amount.value for entry in entries),
            last_row=max((entry.row.index for entry in entries), default=0) or 1,
            last_total=max(totals_shown, default=0),
            height=median([entry.row.line.box.height for entry in entries] or [1]) or 1,
            edge=median([entry.box().x1 for entry in money] or [0]),
            foreign=foreign,
            last_addition=_last_addition(entries, blanks),
            first_payment=_first_payment(entries),
            roles={entry.row.index: entry.role for entry in entries if entry.role is not Role.NONE},
        )


def totals(
    entries: Sequence[Entry],
    currencies: Sequence[Extracted[str]] = (),
    blanks: Sequence[int] = (),
) -> tuple[Extracted[Decimal], ...]:
    """Return the candidates for the total, best first, one per value."""
    return tuple(found for found, _ in ranked(entries, currencies, blanks))


def ranked(
    entries: Sequence[Entry],
    currencies: Sequence[Extracted[str]] = (),
    blanks: Sequence[int] = (),
) -> Sequence[tuple[Extracted[Decimal], Mapping[str, float]]]:
    """Return the candidates for the total with their features, best first.

    A confidence above 0.5 means: likelier than that the total is not printed.

    Args:
        entries: The amounts of the document.
        currencies: Its possible currencies, best first; the others may be of conversions.
        blanks: The indexes of the rows with a total whose amount is blank.
    """
    known = weights("total")["amount"]
    context = _Context.of(entries, currencies, blanks)
    scored = []
    for same in _by_value(entries).values():
        best = min(same, key=_evidence_rank)
        # The balance after a payment is not the total.
        if not best.amount.value and best.row.index > context.first_payment:
            continue
        features = _features(best, same, context)
        score = sum(known.get(name, 0.0) * value for name, value in features.items())
        scored.append((best.found(probability(score)), features))
    if (place := _alone(scored, entries)) is not None:
        found, features = scored[place]
        scored[place] = (replace(found, confidence=_ALONE), {**features, "alone": 1})
    return sorted(scored, key=lambda pair: -pair[0].confidence)[:_MOST_CANDIDATES]


def _alone(
    scored: Sequence[tuple[Extracted[Decimal], Mapping[str, float]]], entries: Sequence[Entry]
) -> int | None:
    """Return the place of the only amount that is alone in its row, next to a symbol of a currency.

    Others are smaller and have a name, such as a fee, but none has the label of a total.
    """
    money = [entry for entry in entries if entry.amount.is_money]
    if not 0 < len(money) <= _FEW or any(entry.role is not Role.NONE for entry in money):
        return None
    bare = [
        place
        for place, (found, features) in enumerate(scored)
        if features["symbol"] > 0 and sum(map(str.isalpha, found.text)) <= _MOST_LETTERS
    ]
    if len(money) > 1 and len(bare) != 1:
        return None
    best = bare[0] if bare else 0
    found, features = scored[best]
    is_most = all(found.value >= entry.amount.value for entry in money)
    is_clear = is_most and features["symbol"] > 0 and found.confidence < _ALONE
    return best if is_clear else None


def blanks(rows: Sequence[Row]) -> tuple[int, ...]:
    """Return the indexes of the rows with a total whose amount is to be written by hand."""
    return tuple(
        row.index
        for row, below in zip_longest(rows, rows[1:])
        if not row.amounts
        and role_of([label.kind for label in row.labels]) in _TOTALS
        and _unlabelled(row) <= _MOST_LETTERS
        and (below is None or below.labels or not below.amounts)
    )


def labelled(entries: Sequence[Entry], role: Role) -> tuple[Extracted[Decimal], ...]:
    """Return the last few amounts with this role, in reading order."""
    # Volumes, rates and distances have decimals in any currency.
    named = [entry for entry in entries if entry.role is not Role.NONE]
    has_minor = any(entry.amount.decimals and entry.row.minor for entry in named)
    found = [
        entry.found(0.9 if entry.distance == 0 else 0.6)
        for entry in entries
        if entry.role is role and (entry.amount.is_money or entry.amount.decimals or not has_minor)
    ]
    return tuple(found[-_MOST_PARTS:])


def _by_value(entries: Sequence[Entry]) -> dict[Decimal, list[Entry]]:
    groups: dict[Decimal, list[Entry]] = defaultdict(list)
    has_money = any(_is_candidate(entry) and entry.amount.is_money for entry in entries)
    for entry in entries:
        # If amounts have minor digits, a whole number without a symbol is a count or a code, and a
        # zero next to a label is a misread `@`: `Total (incl GST 0 6%)`.
        is_named = _is_total(entry) and bool(entry.amount.value) and not entry.amount.is_code
        if _is_candidate(entry) and (entry.amount.is_money or not has_money or is_named):
            groups[entry.amount.value].append(entry)
    if _are_mostly_negative(entries):
        # A credit note mentions its total without the sign, too.
        credited = [
            value for value, same in groups.items() if value < 0 and any(map(_is_total, same))
        ]
        for value in credited:
            groups.pop(-value, None)
    return groups


def _are_mostly_negative(entries: Sequence[Entry]) -> bool:
    signs = [entry.amount.value < 0 for entry in entries if entry.amount.is_money]
    return 2 * sum(signs) > len(signs)


def _is_candidate(entry: Entry) -> bool:
    value = entry.amount.value
    return abs(value) < _MOST and (value > 0 or _is_total(entry))


def _last_addition(entries: Sequence[Entry], blanks: Sequence[int]) -> int:
    """Return the index of the last row that adds to the amounts above; -1 if there is none.

    If a payment is printed, it is known whether the tax is included.
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
    last = max((entry.row.index for entry in entries), default=0)
    return min(paid, default=last + 1)


def _unlabelled(row: Row) -> int:
    """Return the number of letters of a row outside its labels."""
    named = sum(_letters(row.text[label.start : label.end]) for label in row.labels)
    return _letters(row.text) - named


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _is_total(entry: Entry) -> bool:
    return entry.role in _TOTALS


def _evidence_rank(entry: Entry) -> tuple[int, int, int]:
    rank = (
        _EVIDENCE_ROLES.index(entry.role) if entry.role in _EVIDENCE_ROLES else len(_EVIDENCE_ROLES)
    )
    return rank, entry.distance, -entry.row.index


def _features(best: Entry, same: Sequence[Entry], context: _Context) -> dict[str, float]:
    amount, index = best.amount, best.row.index
    roles = {entry.role for entry in same}
    return {
        "always": 1,
        **{role.value: 1.0 for role in roles},
        **_around(index, context),
        "echoes": max(0, min(len(roles & set(_EVIDENCE_ROLES)) - 1, 2)),
        "repeated": math.log2(min(len(same), 4)),
        "money": amount.is_money,
        "symbol": amount.has_symbol,
        "largest": amount.value >= context.largest - _MOST_ROUNDING,
        "largest_named": _is_total(best) and amount.value >= context.largest_named,
        "given": context.has_change and roles <= {Role.CASH, Role.NONE, Role.CHANGE},
        "depth": index / context.last_row,
        "last": _is_total(best) and index >= context.last_total,
        "height": max(-0.5, min(best.row.line.box.height / context.height - 1, 1)),
        "distance": min(best.distance, 2) if best.role in _EVIDENCE_ROLES else 0,
        "followed": any(
            other.is_money and other.start > amount.start for other in best.row.amounts
        ),
        "below": best.is_below,
        "edge": abs(best.box().x1 - context.edge) < best.row.line.box.height,
        "doubt": 1 - best.row.line.confidence,
        "foreign": _has_symbol_of(best, context.foreign),
        "negative": amount.value < 0,
        "zero": not amount.value,
        # A tax is still to be added, or the total is blank.
        "short": roles.isdisjoint((*_TOTALS, Role.SUM)) and index < context.last_addition,
    }


def _around(index: int, context: _Context) -> dict[str, float]:
    """Return the nearest labelled rows above and below a row."""
    above = max((row for row in context.roles if row < index), default=None)
    below = min((row for row in context.roles if row > index), default=None)
    return {
        f"above_{context.roles[above] if above is not None else 'nothing'}": 1,
        f"below_{context.roles[below] if below is not None else 'nothing'}": 1,
    }


def _has_symbol_of(entry: Entry, currencies: Sequence[CurrencySymbols]) -> bool:
    """Return whether a symbol of one of the currencies is next to an amount."""
    amount = entry.amount
    return any(
        match.start() <= amount.end and amount.start <= match.end()
        for known in currencies
        for match in known.pattern.finditer(entry.row.text)
    )
