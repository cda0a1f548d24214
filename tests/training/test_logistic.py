"""The weights that generated samples are found."""

import math
import random

import pytest

from training.logistic import Answer, Choice, fit_answers, fit_choices

NAMES = ("score", "doubt")
TRUE = {"score": 2.0, "doubt": -3.0}


def features(chance: random.Random) -> dict[str, float]:
    return {"score": chance.gauss(0, 1), "doubt": chance.random()}


def with_confidence(candidate: dict[str, float]) -> float:
    return sum(TRUE[name] * candidate[name] for name in NAMES)


def answers(count: int) -> list[Answer]:
    """Return samples whose log-odds are 1 + 2 x score - 3 x doubt."""
    chance = random.Random(7)
    drawn = [features(chance) for _ in range(count)]
    return [
        Answer(one, chance.random() < 1 / (1 + math.exp(-1 - with_confidence(one))))
        for one in drawn
    ]


def choices(count: int) -> list[Choice]:
    """Return choices among four, made with odds of exp(2 x score - 3 x doubt)."""
    chance = random.Random(7)
    made = []
    for _ in range(count):
        candidates = [features(chance) for _ in range(4)]
        odds = [math.exp(with_confidence(one)) for one in candidates]
        (chosen,) = chance.choices(range(4), odds)
        made.append(Choice(candidates, [place == chosen for place in range(4)]))
    return made


def test_the_weights_behind_the_answers_are_found() -> None:
    found = fit_answers(answers(20_000), NAMES)

    assert found == pytest.approx({**TRUE, "always": 1}, abs=0.15)


def test_an_answer_with_zero_weight_is_ignored() -> None:
    liars = [Answer({"score": 9.0}, is_right=False, share=0.0)] * 500

    assert fit_answers([*answers(2_000), *liars], ("score",))["score"] > 0


def test_the_weights_behind_the_choices_are_found() -> None:
    assert fit_choices(choices(10_000), NAMES) == pytest.approx(TRUE, abs=0.2)


def test_any_of_several_right_candidates_may_be_chosen() -> None:
    """Both candidates are right, so their common features get a weight."""
    one, other, wrong = {"label": 1.0, "top": 1.0}, {"label": 1.0}, {"top": 0.5}
    found = fit_choices([Choice([one, other, wrong], [True, True, False])] * 200, ("label", "top"))

    assert found["label"] > 1
    assert abs(found["top"]) < found["label"]


def test_a_choice_without_a_right_candidate_is_ignored() -> None:
    known = choices(200)
    blind = Choice([{"score": 9.0}, {"score": -9.0}], [False, False])

    assert fit_choices([*known, blind], NAMES) == fit_choices(known, NAMES)


def test_a_larger_penalty_keeps_weights_nearer_to_zero() -> None:
    known = choices(300)

    loose, tight = (fit_choices(known, NAMES, penalty=penalty) for penalty in (1, 100))

    assert abs(tight["score"]) < abs(loose["score"])


def test_without_samples_there_is_no_preference() -> None:
    assert fit_choices([], NAMES) == {"score": 0, "doubt": 0}


def test_rare_features_keep_their_prior() -> None:
    same = [Choice([{"label": 1.0}, {}], [True, False])] * 30
    prior = {"label": 2.0, "buyer": -3.0}

    found = fit_choices(same, ["label", "buyer"], penalty=1.0, least_spread=None, prior=prior)

    assert found["label"] > prior["label"]
    assert found["buyer"] == pytest.approx(prior["buyer"])
