"""Finds the seller's name: who stands in the head of the paper, with the legal form if any."""

from collections.abc import Sequence
from dataclasses import replace

from recibo.extract.fields.name_candidates import Candidate, candidates
from recibo.extract.fields.name_features import Context, features
from recibo.extract.fields.total import probability
from recibo.extract.layout.name_stoplist import heads_customer, is_no_name
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.text.folding import without_accents

# What each feature adds to a candidate's score. Set by hand, then moved a little by a fit (a
# choice among the candidates of a page, held close to the hand's figures): with companies held
# out it finds 88 % of the names on scanned receipts and 89 % on foreign papers, as it does with
# all of them at hand. Fitted freely it found 75 %, so the figures are not to be sharpened.
_WEIGHTS = {
    "wrapped": 4.5,
    "strong_form": 3.8,
    "form": 1.7,
    "height": 1.7,
    "trade": 1.6,
    "addressed": 1.3,
    "registered": 1.2,
    "echo": 1.1,
    "top": 1.0,
    "tall": 0.4,
    "upper": 0.3,
    "single": 0.1,
    "rank": -0.2,
    "joined": -0.3,
    "lower": -0.9,
    "body": -1.5,
    "notice": -1.5,
    "open": -1.5,
    "generic": -1.5,
    "address": -2.0,
    "place": -2.0,
    "bare_form": -3.0,
    "form_first": -1.0,
    "complete": -2.0,
    "contact": -2.0,
    "dated": -2.0,
    "money": -2.0,
    "short": -2.0,
    "billed": -2.5,
    "figures": -2.5,
    "owned": -2.7,
    "junk": -3.0,
    "notice_only": -3.0,
    "restyled": -0.8,
    "slogan": -1.5,
    "uneven": -4.3,
    "unsure": -4.6,
}
# How sure the best one is follows from its lead over the next, up to a point.
_AT_PAR, _BY_LEAD, _MOST_LEAD = 0.7, 0.6, 3.7
# A score that low means that nothing on the page looks like a seller's name.
_NOTHING = 1.0


def merchants(rows: Sequence[Row], *, is_unaccented: bool = False) -> tuple[Extracted[str], ...]:
    """Return the names that may be the seller's, best first, none twice.

    Args:
        rows: The rows of the document.
        is_unaccented: Whether accents are none in truth, but stains over the letters.
    """
    if not rows:
        return ()
    scores = _scores([row for row in rows if row.line.page == rows[0].line.page])
    if not scores:
        return ()
    ranked = sorted(scores.values(), key=lambda pair: -pair[0])
    best, second = ranked[0][0], ranked[min(1, len(ranked) - 1)][0]
    leads = [best - second, *(score - best for score, _ in ranked[1:])]
    found = (
        _found(candidate, score, lead)
        for (score, candidate), lead in zip(ranked, leads, strict=True)
    )
    if is_unaccented:
        found = (replace(name, value=without_accents(name.value)) for name in found)
    return tuple(found)


def _scores(rows: Sequence[Row]) -> dict[str, tuple[float, Candidate]]:
    """Return for each name its best score, and the candidate that has it."""
    context = Context.of(rows)
    labels = [row for row in rows if heads_customer(row.text)]
    best: dict[str, tuple[float, Candidate]] = {}
    for candidate in candidates(rows):
        if any(is_no_name(text) for text in (candidate.name, candidate.text)):
            continue
        if _is_customer(candidate, labels):
            continue
        score = _score(features(candidate, context))
        if candidate.name not in best or best[candidate.name][0] < score:
            best[candidate.name] = (score, candidate)
    return best


def _is_customer(candidate: Candidate, labels: Sequence[Row]) -> bool:
    """Tell whether a candidate stands right below the buyer's label, in its column."""
    return any(
        candidate.rows[0].index == label.index + 1
        and candidate.box.x0 < label.line.box.x1
        and label.line.box.x0 < candidate.box.x1
        for label in labels
    )


def _score(values: dict[str, float]) -> float:
    return sum(_WEIGHTS[name] * value for name, value in values.items())


def _found(candidate: Candidate, score: float, lead: float) -> Extracted[str]:
    by_lead = _AT_PAR + _BY_LEAD * min(lead, _MOST_LEAD)
    confidence = probability(min(by_lead, score - _NOTHING))
    page = candidate.rows[0].line.page
    return Extracted(candidate.name, confidence, candidate.text, page, candidate.box)
