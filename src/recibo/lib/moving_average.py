"""A moving average of durations."""


class MovingAverage:
    """An exponential moving average of durations in seconds, from an initial value."""

    # About the last ten durations dominate.
    _WEIGHT = 0.1

    def __init__(self, assumed_seconds: float) -> None:
        self._mean = assumed_seconds

    @property
    def mean_seconds(self) -> float:
        """The current average."""
        return self._mean

    def add(self, seconds: float) -> None:
        """Add a duration."""
        self._mean += self._WEIGHT * (seconds - self._mean)
