"""Probabilities and their log-odds."""

import math


def probability(log_odds: float) -> float:
    """Convert log-odds to a probability."""
    return 1 / (1 + math.exp(-log_odds))


def log_odds(probability: float) -> float:
    """Return the log-odds of a probability, which is clamped to avoid 0 and 1."""
    bounded = min(max(probability, 1e-9), 1 - 1e-9)
    return math.log(bounded / (1 - bounded))
