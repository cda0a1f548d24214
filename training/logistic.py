"""Fits logistic weights by Newton's method, held to zero (L2) in units of each feature's spread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_Numbers = npt.NDArray[np.float64]

Features = Mapping[str, float]

_MOST_STEPS = 60
_SMALLEST_STEP = 1e-6
_HALVINGS = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """One value: its features, and whether it is right."""

    features: Features
    is_right: bool
    #: Its weight.
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Choice:
    """The candidates of one document, of which one is chosen; several may be right."""

    candidates: Sequence[Features]
    right: Sequence[bool]
    share: float = 1.0


def fit_answers(
    answers: Sequence[Answer], names: Sequence[str], *, penalty: float = 10.0
) -> dict[str, float]:
    """Return the weights whose sum is the log-odds of being right, with that of "always"."""
    table = _table([answer.features for answer in answers], names)
    spread = np.append(table.std(axis=0) + 1e-9, 1.0)
    table = np.column_stack([table, np.ones(len(table))]) / spread
    shares = np.array([answer.share for answer in answers])
    right = np.array([float(answer.is_right) for answer in answers])
    held = np.append(np.full(len(names), penalty), 0.0)
    weights = np.zeros(len(names) + 1)
    for _ in range(_MOST_STEPS):
        sure = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (shares * (right - sure)) - held * weights
        bend = (table * (shares * sure * (1 - sure))[:, None]).T @ table + np.diag(held)
        step = np.linalg.solve(bend, slope)
        weights += step
        if np.abs(step).max() < _SMALLEST_STEP:
            break
    return dict(zip((*names, "always"), (weights / spread).tolist(), strict=True))


def fit_choices(
    choices: Sequence[Choice],
    names: Sequence[str],
    *,
    penalty: float = 10.0,
    least_spread: float | None = 1e-9,
    prior: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Fit a conditional logit: return the weights with which the right candidates rank first.

    A choice without a right candidate, or without a wrong one, is ignored.

    Args:
        choices: The choices of all documents.
        names: The features that get a weight.
        penalty: The L2 penalty on the distance of weights to zero, or to `prior`.
        least_spread: The penalty is in units of the features' spread, of this at least. If None,
            it is not, and features of few documents get weights near zero or the prior.
        prior: Prior weights of some features.
    """
    taught = [choice for choice in choices if any(choice.right) and not all(choice.right)]
    known = dict.fromkeys(names, 0.0) | dict(prior or {})
    if not taught:
        return known
    names = list(known)
    stack = _Stack.of(taught, known, least_spread)
    weights = stack.prior
    loss = stack.loss(weights, penalty)
    for _ in range(_MOST_STEPS):
        step = stack.step(weights, penalty)
        for _ in range(_HALVINGS):
            if (new := stack.loss(weights + step, penalty)) <= loss:
                break
            step /= 2
        else:
            break
        weights, loss = weights + step, new
        if np.abs(step).max() < _SMALLEST_STEP:
            break
    return dict(zip(names, (weights / stack.spread).tolist(), strict=True))


def _table(features: Sequence[Features], names: Sequence[str]) -> _Numbers:
    """Return one row per sample; a missing feature is 0."""
    rows = [[float(one.get(name, 0)) for name in names] for one in features]
    return np.array(rows, dtype=float).reshape(len(rows), len(names))


@dataclass(frozen=True, slots=True)
class _Stack:
    """The candidates of all choices, one below the other."""

    table: _Numbers
    spread: _Numbers
    #: The index of the first candidate of each choice.
    starts: npt.NDArray[np.intp]
    counts: npt.NDArray[np.intp]
    right: npt.NDArray[np.bool_]
    shares: _Numbers
    prior: _Numbers

    @classmethod
    def of(
        cls, choices: Sequence[Choice], prior: Mapping[str, float], least: float | None
    ) -> "_Stack":
        table = _table([one for choice in choices for one in choice.candidates], list(prior))
        spread = np.ones(len(prior)) if least is None else np.maximum(table.std(axis=0), least)
        counts = np.array([len(choice.candidates) for choice in choices])
        return cls(
            table / spread,
            spread,
            np.append(0, np.cumsum(counts)[:-1]),
            counts,
            np.array([one for choice in choices for one in choice.right], dtype=bool),
            np.array([choice.share for choice in choices]),
            np.array(list(prior.values())) * spread,
        )

    def loss(self, weights: _Numbers, penalty: float) -> float:
        scores, _ = self._scores(weights)
        every = np.add.reduceat(np.exp(scores), self.starts)
        right = np.add.reduceat(np.exp(scores) * self.right, self.starts)
        likelihood = self.shares @ (np.log(right + 1e-300) - np.log(every))
        off = weights - self.prior
        return float(penalty * (off @ off) / 2 - likelihood)

    def step(self, weights: _Numbers, penalty: float) -> _Numbers:
        """Return Newton's step, with constant probabilities among the right candidates."""
        scores, shares = self._scores(weights)
        likely = self._normalized(np.exp(scores))
        wanted = self._normalized(np.exp(scores) * self.right)
        slope = self.table.T @ (shares * (wanted - likely)) - penalty * (weights - self.prior)
        means = np.add.reduceat(self.table * likely[:, None], self.starts)
        centered = self.table - np.repeat(means, self.counts, axis=0)
        bend = (centered * (shares * likely)[:, None]).T @ centered
        bend += np.diag(np.full(len(weights), penalty))
        step: _Numbers = np.linalg.solve(bend, slope)
        return step

    def _scores(self, weights: _Numbers) -> tuple[_Numbers, _Numbers]:
        """Return the scores less the best of their choice, and the shares, by candidate."""
        scores = self.table @ weights
        best = np.maximum.reduceat(scores, self.starts)
        return scores - np.repeat(best, self.counts), np.repeat(self.shares, self.counts)

    def _normalized(self, numbers: _Numbers) -> _Numbers:
        sums = np.add.reduceat(numbers, self.starts) + 1e-300
        normalized: _Numbers = numbers / np.repeat(sums, self.counts)
        return normalized
