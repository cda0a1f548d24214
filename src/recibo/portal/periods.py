"""The period of a page: a preset such as this month, or two dates of the user."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from recibo.errors import ValidationFailed
from recibo.portal.translations import LazyText, lazy_gettext
from recibo.portal.translations import gettext as _
from recibo.services.reading import spend
from recibo.services.reading.spend import Period

#: The fields of the form, and of the URL of a page.
PRESET, FIRST, LAST = "period", "from", "to"
_MOST_YEARS = 10
_FIRST_YEAR = 1970
_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Preset:
    """A period that moves with the calendar."""

    value: str
    name: LazyText
    of: Callable[[dt.date], Period]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The period of a page and how it was chosen."""

    period: Period
    #: None if the user named the dates.
    preset: Preset | None
    #: The query by which links keep it.
    query: Mapping[str, str] = field(default_factory=dict)


def month_of(day: dt.date) -> Period:
    """Return the month of a day."""
    return Period(day.replace(day=1), spend.month_end(day))


def _last_month(today: dt.date) -> Period:
    end = today.replace(day=1) - _DAY
    return Period(end.replace(day=1), end)


def _last_months(today: dt.date) -> Period:
    first = dt.date(today.year - 1, today.month, 1)
    # Of the month a year ago nothing is counted, so that there are twelve.
    return Period((first + 31 * _DAY).replace(day=1), spend.month_end(today))


def _this_quarter(today: dt.date) -> Period:
    first = today.replace(month=3 * ((today.month - 1) // 3) + 1, day=1)
    return Period(first, spend.month_end(first.replace(month=first.month + 2)))


def _this_year(today: dt.date) -> Period:
    return Period(dt.date(today.year, 1, 1), dt.date(today.year, 12, 31))


def _last_year(today: dt.date) -> Period:
    return Period(dt.date(today.year - 1, 1, 1), dt.date(today.year - 1, 12, 31))


LAST_MONTHS = Preset("last-12-months", lazy_gettext("Last 12 months"), _last_months)
_MONTHS = (
    Preset("this-month", lazy_gettext("This month"), month_of),
    Preset("last-month", lazy_gettext("Last month"), _last_month),
    Preset("this-quarter", lazy_gettext("This quarter"), _this_quarter),
)
_THIS_YEAR = Preset("this-year", lazy_gettext("This year"), _this_year)
#: What books are kept and exported by.
OF_BOOKS = (*_MONTHS, _THIS_YEAR)
PRESETS = (
    *_MONTHS,
    LAST_MONTHS,
    _THIS_YEAR,
    Preset("last-year", lazy_gettext("Last year"), _last_year),
)


def year_of(day: dt.date) -> Period:
    """Return the year of a day."""
    return _this_year(day)


def submitted(query: Mapping[str, str]) -> dict[str, str]:
    """Return what a query says about the period, without empty values."""
    return {name: query[name].strip() for name in (PRESET, FIRST, LAST) if query.get(name)}


def form_values(period: Period, given: Mapping[str, str]) -> dict[str, str]:
    """Return the two dates for the form: what was submitted, or those of the period."""
    dates = {FIRST: f"{period.first}", LAST: f"{period.last}"}
    return {name: given.get(name, date) for name, date in dates.items()}


def default(today: dt.date) -> Chosen:
    """Return the last twelve months."""
    return Chosen(LAST_MONTHS.of(today), LAST_MONTHS)


def dates(period: Period) -> Chosen:
    """Return a period as if the user had named its dates."""
    return Chosen(period, None, {FIRST: f"{period.first}", LAST: f"{period.last}"})


def chosen(given: Mapping[str, str], today: dt.date) -> Chosen:
    """Return the period that a query names; the last twelve months if it names none.

    Raises:
        ValidationFailed: it names no period, or one that is too long.
    """
    if FIRST in given or LAST in given:
        return Chosen(_between(given, today), None, {n: given[n] for n in given if n != PRESET})
    if PRESET not in given:
        return default(today)
    for preset in PRESETS:
        if preset.value == given[PRESET]:
            return Chosen(preset.of(today), preset, {PRESET: preset.value})
    raise ValidationFailed.of(PRESET, _("There is no such period."))


def _between(given: Mapping[str, str], today: dt.date) -> Period:
    last = _date(given, LAST, today) or today
    first = _date(given, FIRST, today) or last.replace(month=1, day=1)
    if first > last:
        raise ValidationFailed.of(LAST, _("The last day must not be before the first day."))
    if last.year - first.year > _MOST_YEARS:
        raise ValidationFailed.of(FIRST, _("Choose at most %(years)s years.", years=_MOST_YEARS))
    return Period(first, last)


def _date(given: Mapping[str, str], name: str, today: dt.date) -> dt.date | None:
    if name not in given:
        return None
    try:
        day = dt.date.fromisoformat(given[name])
    except ValueError:
        message = _("Choose a date, such as %(date)s.", date="2026-03-14")
        raise ValidationFailed.of(name, message) from None
    if not _FIRST_YEAR <= day.year <= today.year + 1:
        raise ValidationFailed.of(name, _("Choose a date after 1970 and no later than next year."))
    return day
