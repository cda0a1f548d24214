"""Random issue dates, and how they are printed."""

import datetime as dt
import random
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from training.receipts.countries import Country
from training.receipts.truth import Precision

# Some taxes were introduced then.
_FIRST_DAY = dt.date(2018, 1, 1)
_DAYS = 2900


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment in the time zone of the country."""

    at: dt.datetime
    date: str
    #: Empty if no time is printed.
    time: str
    precision: Precision

    @property
    def wire(self) -> str:
        """The moment in the format of the API, as precise as printed."""
        at = self.at if self.precision == "second" else self.at.replace(second=0)
        return (at.replace(hour=0, minute=0) if self.precision == "date" else at).isoformat()

    @property
    def offset(self) -> str:
        """The UTC offset, such as `+08:00`."""
        return self.at.isoformat()[-6:]


def moment(rng: random.Random, country: Country, *, has_time: bool = True) -> Moment:
    """Return a moment within some eight years."""
    day = _FIRST_DAY + dt.timedelta(days=rng.randrange(_DAYS))
    clock = dt.time(rng.randint(7, 22), rng.randint(0, 59), rng.randint(0, 59))
    at = dt.datetime.combine(day, clock, ZoneInfo(country.zone))
    time = rng.choice(country.times) if has_time else ""
    precision: Precision = "second" if "%S" in time else "minute" if time else "date"
    return Moment(at, at.strftime(rng.choice(country.dates)), at.strftime(time), precision)
