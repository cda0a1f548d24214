"""The date of issue: which of the dates it is, or none of them."""

import datetime as dt
from collections.abc import Mapping, Sequence

from recibo.extract.fields import collect, date
from recibo.extract.layout.rows import rows
from training.documents import Document
from training.fields.fitter import Fitter
from training.logistic import Choice, fit_choices

# What the weights are held to: few documents have several dates, and hardly any of them is read
# wrongly, so most features would get no weight.
_PRIOR = {
    "always": 0.5,
    "date": 2.0,
    "weak_date": 0.8,
    "aside_date": -0.7,
    "start_date": -2.0,
    "other_date": -4.0,
    "listed": -1.2,
    "timed": 1.5,
    "repeated": 0.8,
    "early": 0.8,
    "ambiguous": -0.7,
    "named_month": 0.5,
    "run": 0.0,
    "unlabelled_run": -1.5,
    "misread": -1.0,
}
_PENALTY = 1.0


def samples(document: Document) -> list[Choice]:
    """Return the choice among the dates of a document; the last candidate is "not printed"."""
    if date.FIELD not in document.asked:
        return []
    lines = rows(document.pages())
    place, _ = collect.located(lines)
    known = {found.value.date: features for found, features in date.ranked(lines, place)}
    if not known:
        return []
    right = [_is_right(document, day) for day in known]
    return [Choice([*known.values(), {}], [*right, not any(right)])]


def fit(known: Sequence[Choice]) -> Mapping[str, Mapping[str, float]]:
    """Return the weights of the features of a date."""
    names = list(_PRIOR)
    return {"day": fit_choices(known, names, penalty=_PENALTY, prior=_PRIOR, least_spread=None)}


FITTER = Fitter(date.FIELD, samples, fit)


def _is_right(document: Document, day: dt.date) -> bool:
    """Return whether a day is right, whatever its time is."""
    others = document.alternatives.get(date.FIELD)
    values = [document.truth[date.FIELD], *(others if isinstance(others, list) else ())]
    spelled = day.isoformat()
    return any(one is not None and str(one).startswith(spelled) for one in values) or (
        document.is_right(date.FIELD, spelled)
    )
