"""The time of business."""

import datetime as dt

from recibo.lib import clock

DAY = dt.timedelta(days=1)


def test_time_is_utc() -> None:
    assert dt.UTC == clock.now().tzinfo


def test_moved_clock_comes_back() -> None:
    before = clock.now()
    with clock.moved(DAY):
        moved = clock.now()
        with clock.moved(-3 * DAY):
            back = clock.now()
    after = clock.now()

    assert before + DAY <= moved < before + 2 * DAY
    assert back < before <= after < moved
