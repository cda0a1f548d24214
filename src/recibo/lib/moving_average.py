"""How long a kind of work takes at present."""


class MovingAverage:
    """A moving mean of durations in seconds, from an assumption on."""

    # The last ten or so decide.
    _WEIGHT = 0.1

    def __init__(self, assumed_seconds: float) -> None:
        self._mean = assumed_seconds

    @property
    def mean_seconds(self) -> float:
        """The mean so far."""
        return self._mean

    def note(self, seconds: float) -> None:
        """Take one more duration in."""
        self._mean += self._WEIGHT * (seconds - self._mean)
