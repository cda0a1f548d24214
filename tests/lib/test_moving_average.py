"""The average of work."""

import pytest

from recibo.lib.moving_average import MovingAverage


def test_pace_is_the_assumption_until_something_is_measured() -> None:
    assert 2 == MovingAverage(2).mean_seconds


def test_pace_follows_what_is_measured() -> None:
    average = MovingAverage(2)
    for _ in range(100):
        average.add(10)

    assert pytest.approx(10, abs=0.01) == average.mean_seconds


def test_one_slow_piece_of_work_does_not_decide() -> None:
    average = MovingAverage(2)
    average.add(12)

    assert average.mean_seconds <= 3
