"""Ranks the amounts that may be the document's total, and gathers those that lead to it."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from statistics import median

from recibo.extract.fields.figures import Figure, Role
from recibo.extract.model import Found

# Totals are rounded to the next coin.
_MOST_ROUNDING = Decimal("0.05")

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
}
_TOTALS = (Role.PAYABLE, Role.TOTAL)
_ECHOES = (*_TOTALS, Role.SUM, Role.CARD, Role.SUBTOTAL)


def totals(figures: Sequence[Figure]) -> tuple[Found[Decimal], ...]:
    """Return the amounts that may be the total, best first, one entry a value."""
    ranked = []
    for figures_of_value in _by_value(figures).values():
        best, score = _best(figures_of_value, figures)
        ranked.append(best.found(probability(_BIAS + score)))
    return tuple(sorted(ranked, key=lambda found: -found.confidence))


def labelled(figures: Sequence[Figure], role: Role) -> tuple[Found[Decimal], ...]:
    """Return the amounts that stand beside labels of `role`, in reading order."""
    return tuple(
        figure.found(0.9 if figure.distance == 0 else 0.6)
        for figure in figures
        if figure.role is role and (figure.amount.is_money or figure.amount.decimals)
    )


def probability(log_odds: float) -> float:
    """Return the probability that these log-odds stand for."""
    return 1 / (1 + math.exp(-log_odds))


def _by_value(figures: Sequence[Figure]) -> dict[Decimal, list[Figure]]:
    groups: dict[Decimal, list[Figure]] = defaultdict(list)
    has_money = any(_is_candidate(figure) and figure.amount.is_money for figure in figures)
    for figure in figures:
        # Where money is written with minor digits, a bare whole number is a count or a code.
        if _is_candidate(figure) and (figure.amount.is_money or not has_money or _is_total(figure)):
            groups[figure.amount.value].append(figure)
    return groups


def _is_candidate(figure: Figure) -> bool:
    value = figure.amount.value
    return abs(value) < _MOST and (value > 0 or _is_total(figure))


def _is_total(figure: Figure) -> bool:
    return figure.role in _TOTALS


def _best(same: Sequence[Figure], figures: Sequence[Figure]) -> tuple[Figure, float]:
    """Return the figure that shows a value best, and the score of the value."""
    scored = [(_features(figure, same, figures), figure) for figure in same]
    ranked = [
        (_score(features, figure), index, figure) for index, (features, figure) in enumerate(scored)
    ]
    score, _, best = max(ranked)
    return best, score


def _score(features: dict[str, float], figure: Figure) -> float:
    return _ROLE_WEIGHTS[figure.role] + sum(
        _WEIGHTS[name] * value for name, value in features.items()
    )


def _features(
    figure: Figure, same: Sequence[Figure], figures: Sequence[Figure]
) -> dict[str, float]:
    last = figures[-1].row.index or 1
    totals_below = any(
        _is_total(other) and other.row.index > figure.row.index and other.amount.value > 0
        for other in figures
    )
    return {
        "roles": min(len({other.role for other in same if other.role in _ECHOES}) - 1, 2),
        "money": figure.amount.is_money,
        "largest": figure.amount.value >= _largest(figures) - _MOST_ROUNDING,
        "depth": figure.row.index / last,
        "last": _is_total(figure) and not totals_below,
        "height": _relative_height(figure, figures),
        "distance": figure.distance if figure.role in _ECHOES else 0,
        "followed": any(
            other.is_money and other.start > figure.amount.start for other in figure.row.amounts
        ),
        "below": figure.is_below,
    }


def _largest(figures: Iterable[Figure]) -> Decimal:
    paid = (Role.CASH, Role.CHANGE, Role.COUNT)
    return max(
        (
            figure.amount.value
            for figure in figures
            if figure.role not in paid and figure.amount.is_money and figure.amount.value < _MOST
        ),
        default=Decimal(0),
    )


def _relative_height(figure: Figure, figures: Sequence[Figure]) -> float:
    usual = median(other.row.line.box.height for other in figures) or 1
    return max(-0.5, min(figure.row.line.box.height / usual - 1, 1))
