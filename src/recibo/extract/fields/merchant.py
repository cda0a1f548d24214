"""Finds the seller's name: who stands in the head of the paper, with the legal form if any."""

from collections.abc import Sequence

from recibo.extract.fields.name_candidates import Candidate, candidates
from recibo.extract.fields.name_features import Context, features
from recibo.extract.fields.rows import Row
from recibo.extract.fields.total import probability
from recibo.extract.model import Found

# What each feature adds to a candidate's score. Fitted as a choice among the candidates of a
# page (multinomial logit) on receipts of 128 companies and 44 foreign papers, then rounded;
# with companies held out it finds the right one four points less often.
_WEIGHTS = {
    "wrapped": 5.0,
    "strong_form": 5.2,
    "trade": 2.7,
    "height": 2.7,
    "addressed": 2.5,
    "form": 1.8,
    "top": 1.4,
    "echo": 1.1,
    "registered": 0.8,
    "tall": 0.7,
    "upper": 0.5,
    "single": 0.3,
    "joined": 0.0,
    "filled": 0.0,
    "rank": -0.2,
    "dated": -1.0,
    "money": -0.6,
    "lower": -0.8,
    "open": -1.2,
    "address": -1.3,
    "notice": -1.4,
    "contact": -1.4,
    "complete": -2.6,
    "short": -1.8,
    "notice_only": -2.0,
    "billed": -2.2,
    "body": -2.3,
    "junk": -2.4,
    "figures": -2.8,
    "owned": -3.0,
    "uneven": -8.0,
    "unsure": -12.0,
}
# How sure the best one is follows from its lead over the next, up to a point.
_AT_PAR, _BY_LEAD, _MOST_LEAD = 0.6, 0.6, 4.0
# A score that low means that nothing on the page looks like a name.
_NOTHING = -1.0


def merchants(rows: Sequence[Row]) -> tuple[Found[str], ...]:
    """Return the names that may be the seller's, best first, none twice."""
    if not rows:
        return ()
    scores = _scores([row for row in rows if row.line.page == rows[0].line.page])
    if not scores:
        return ()
    ranked = sorted(scores.values(), key=lambda pair: -pair[0])
    best, second = ranked[0][0], ranked[min(1, len(ranked) - 1)][0]
    leads = [best - second, *(score - best for score, _ in ranked[1:])]
    return tuple(
        _found(candidate, score, lead)
        for (score, candidate), lead in zip(ranked, leads, strict=True)
    )


def _scores(rows: Sequence[Row]) -> dict[str, tuple[float, Candidate]]:
    """Return for each name its best score, and the candidate that has it."""
    context = Context.of(rows)
    best: dict[str, tuple[float, Candidate]] = {}
    for candidate in candidates(rows):
        score = _score(features(candidate, context))
        if candidate.name not in best or best[candidate.name][0] < score:
            best[candidate.name] = (score, candidate)
    return best


def _score(values: dict[str, float]) -> float:
    return sum(_WEIGHTS[name] * value for name, value in values.items())


def _found(candidate: Candidate, score: float, lead: float) -> Found[str]:
    by_lead = _AT_PAR + _BY_LEAD * min(lead, _MOST_LEAD)
    confidence = probability(min(by_lead, score - _NOTHING))
    page = candidate.rows[0].line.page
    return Found(candidate.name, confidence, candidate.text, page, candidate.box)
