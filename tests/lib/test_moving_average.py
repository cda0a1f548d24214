"""The pace of work."""

import pytest

from recibo.lib.moving_average import MovingAverage


def test_pace_is_the_assumption_until_something_is_measured() -> None:
    assert 2 == MovingAverage(2).mean_seconds


def test_pace_follows_what_is_measured() -> None:
    pace = MovingAverage(2)
    for _ in range(100):
        pace.note(10)

    assert pytest.approx(10, abs=0.01) == pace.mean_seconds


def test_one_slow_piece_of_work_does_not_decide() -> None:
    pace = MovingAverage(2)
    pace.note(12)

    assert pace.mean_seconds <= 3
