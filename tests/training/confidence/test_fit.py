"""Weights come out as the samples were made, whatever the sellers."""

import random

import pytest

from training.confidence import fit
from training.confidence.samples import Sample

NAMES = ("score", "doubt")


def drawn(count: int) -> list[Sample]:
    """Return samples whose log-odds are 1 + 2 x score - 3 x doubt."""
    chance = random.Random(7)  # noqa: S311  # no secret
    samples = []
    for place in range(count):
        features = {"score": chance.gauss(0, 1), "doubt": chance.random()}
        log_odds = 1 + 2 * features["score"] - 3 * features["doubt"]
        is_right = chance.random() < 1 / (1 + 2.718281828**-log_odds)
        samples.append(Sample(f"seller {place % 40}", "clean", 1.0, features, 0.5, is_right))
    return samples


def test_the_weights_that_made_the_samples_are_found() -> None:
    weights = fit.fitted(drawn(20_000), NAMES)

    assert weights == pytest.approx({"score": 2, "doubt": -3, "always": 1}, abs=0.15)


def test_a_share_of_nothing_teaches_nothing() -> None:
    known = drawn(2_000)
    liars = [Sample("liar", "clean", 0.0, {"score": 9, "doubt": 0}, 0.5, is_right=False)] * 500

    assert fit.fitted([*known, *liars], ("score",))["score"] > 0


def test_what_a_seller_taught_is_not_asked_of_it_again() -> None:
    """One seller alone is always wrong: who learned from the others does not know."""
    known = [sample for sample in drawn(2_000) if sample.is_right]
    odd = [Sample("odd one", "clean", 1.0, {"score": 0.5, "doubt": 0.5}, 0.5, is_right=False)] * 40

    sure = fit.held_out([*known, *odd], NAMES)

    assert sure[-40:].min() > 0.9
