"""Finds the seller's name: who stands in the head of the paper, with the legal form if any."""

from collections.abc import Sequence

from recibo.extract.fields.name_candidates import Candidate, candidates
from recibo.extract.fields.name_features import Context, features
from recibo.extract.fields.rows import Row
from recibo.extract.fields.total import probability
from recibo.extract.model import Found

# Log-odds, tuned on one half of the companies and checked on the other.
_BIAS = 0.3
_WEIGHTS = {
    "strong_form": 2.6,
    "form": 1.6,
    "trade": 0.9,
    "rank": -0.35,
    "height": 1.0,
    "registered": 0.8,
    "notice": -1.6,
    "notice_only": -4.0,
    "address": -2.4,
    "contact": -3.0,
    "figures": -3.0,
    "money": -3.0,
    "dated": -3.0,
    "lower": -1.0,
    "short": -2.0,
    "body": -2.0,
    "echo": 0.8,
    "joined": 0.0,
    "wrapped": 1.2,
    "complete": -1.5,
    "open": -1.5,
    "billed": -3.0,
    "unsure": -1.5,
}


def merchants(rows: Sequence[Row]) -> tuple[Found[str], ...]:
    """Return the names that may be the seller's, best first, none twice."""
    if not rows:
        return ()
    first_page = [row for row in rows if row.line.page == rows[0].line.page]
    context = Context.of(first_page)
    best: dict[str, Found[str]] = {}
    for candidate in candidates(first_page):
        found = _found(candidate, _score(candidate, context))
        known = best.get(found.value)
        if known is None or known.confidence < found.confidence:
            best[found.value] = found
    return tuple(sorted(best.values(), key=lambda found: -found.confidence))


def _score(candidate: Candidate, context: Context) -> float:
    values = features(candidate, context)
    return _BIAS + sum(_WEIGHTS[name] * value for name, value in values.items())


def _found(candidate: Candidate, score: float) -> Found[str]:
    return Found(
        candidate.name,
        probability(score),
        candidate.text,
        candidate.rows[0].line.page,
        candidate.box,
    )
