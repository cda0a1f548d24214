"""Ranks the candidates of a field by fitted weights: one of them is right, or none."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from recibo.extract.model import Extracted

T = TypeVar("T")


def ranked(
    found: Iterable[tuple[Extracted[T], Mapping[str, float]]], fitted: Mapping[str, float]
) -> tuple[Extracted[T], ...]:
    """Return the candidates with their probabilities, the likeliest first, each value once.

    The score of "none of them" is 0. A value that is found several times has the sum.
    """
    scored = [
        (sum(fitted.get(name, 0) * value for name, value in features.items()), one)
        for one, features in found
    ]
    best = max([0.0, *(score for score, _ in scored)])
    whole = math.exp(-best) + sum(math.exp(score - best) for score, _ in scored)
    by_value: dict[T, Extracted[T]] = {}
    for score, one in sorted(scored, key=lambda pair: -pair[0]):
        known = by_value.setdefault(one.value, replace(one, confidence=0))
        sure = known.confidence + math.exp(score - best) / whole
        by_value[one.value] = replace(known, confidence=sure)
    return tuple(sorted(by_value.values(), key=lambda one: -one.confidence))
