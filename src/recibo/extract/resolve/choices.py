"""Chooses one of several options, or none, by fitted weights; says how likely each is right."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from recibo.extract.weights import weights

T = TypeVar("T")

Features = Mapping[str, float]

#: The probability from which one of the options is chosen: likelier than that nothing is printed.
LEAST = 0.5


@dataclass(frozen=True, slots=True)
class Option(Generic[T]):
    """A value that may be chosen, with its features."""

    value: T
    features: Features


def probabilities(field: str, options: Sequence[Option[T]]) -> list[float]:
    """Return the probability of each option by the weights of a field; the rest is for none."""
    known = weights(field)["option"]
    scores = [
        sum(known.get(name, 0.0) * value for name, value in option.features.items())
        for option in options
    ]
    most = max([0.0, *scores])
    shares = [math.exp(score - most) for score in scores]
    whole = sum(shares) + math.exp(-most)
    return [share / whole for share in shares]
