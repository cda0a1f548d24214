"""Finds the seller's name: the candidate with the best features."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from recibo.extract.fields import addressees, company_names, recipients
from recibo.extract.fields.name_candidates import Candidate, candidates, pieces_of
from recibo.extract.fields.name_features import features
from recibo.extract.fields.name_page import Context, book
from recibo.extract.fields.recipients import Column
from recibo.extract.layout.name_stoplist import (
    are_labels,
    is_card,
    is_customer_label,
    is_not_name,
)
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.text.folding import normalize, without_accents
from recibo.extract.text.numbers import CENTS
from recibo.extract.weights import weights

_FIELD = "merchant_name"
# The features of a name next to an amount that show that it is one, not an item.
_EVIDENT = ("domain", "repeated", "form", "strong_form")
# The greatest confidence of a name, since any name may be misread.
_MOST_CONFIDENCE = 0.95
_SURE = 0.95
# The name of a bank is in one of so many rows on top.
_SLIP_ROWS = 2
# The fewest letters per wrong one: in a web address, and in another row.
_LEAST_ADDRESS, _LEAST_MENTION = 4, 6


def merchants(rows: Sequence[Row], *, is_unaccented: bool = False) -> tuple[Extracted[str], ...]:
    """Return the candidates for the seller's name, best first, without duplicates.

    Args:
        rows: The rows of the document.
        is_unaccented: Whether accents are only stains, since the language has none.
    """
    scores = _scores(rows)
    if not scores:
        return ()
    ranked = sorted(scores.values(), key=lambda pair: -pair[0])
    best = ranked[0][0]
    # The choice among the candidates, or none of them.
    whole = math.exp(weights(_FIELD)["none"] - best) + sum(
        math.exp(score - best) for score, _ in ranked
    )
    found = (_found(candidate, math.exp(score - best) / whole) for score, candidate in ranked)
    if is_unaccented:
        found = (replace(name, value=without_accents(name.value)) for name in found)
    return tuple(found)


def described(rows: Sequence[Row]) -> list[tuple[Candidate, Mapping[str, float]]]:
    """Return the candidates on the first page with their features."""
    if not rows:
        return []
    page = [row for row in rows if row.line.page == rows[0].line.page]
    context = Context.of(page)
    labels = [row for row in page if is_customer_label(row.text)]
    found = [
        (respelled(candidate, context), features(candidate, context))
        for candidate in candidates(page)
        if not any(is_not_name(text) for text in _texts(candidate))
        and not _is_customer(candidate, labels)
        and not _is_owner(candidate)
        and not _is_greeting(candidate)
        and not _is_bank(candidate, page)
        and addressees.before_honorific(candidate.text) is None
    ]
    # A buyer's name may be on a page twice, once without its label.
    columns = recipients.of_buyer(page)
    own = [pair for pair in found if not _is_in(pair[0], columns)]
    billed = {candidate.name for candidate, values in found if values["billed"]}
    billed |= {candidate.name for candidate, _ in found if _is_in(candidate, columns)}
    return [
        (one, {**values, "billed": one.name in billed})
        for one, values in own or found
        if not _is_item(one, values)
    ]


def _is_greeting(candidate: Candidate) -> bool:
    """Return whether a text thanks the customer for something, perhaps in the largest type."""
    found = book("greetings").find(candidate.name)
    return any(not any(map(str.isalnum, candidate.name[: one.start])) for one in found)


def _is_bank(candidate: Candidate, page: Sequence[Row]) -> bool:
    """Return whether a candidate is the bank on top of the slip of a card: a card is below it.

    Or it says whose copy it is.
    """
    first, last = (candidate.rows[place].index - page[0].index for place in (0, -1))
    below = page[first + 1 : last + 2]
    is_on_slip = any(is_card(row.text) or book("copies").is_all(row.text) for row in below)
    return last < _SLIP_ROWS and is_on_slip


def _is_item(candidate: Candidate, values: Mapping[str, float]) -> bool:
    """Return whether a candidate is in a row of an item, and nothing shows that it is a name."""
    is_priced = any(
        amount.decimals == CENTS
        for row in candidate.rows
        if not row.labels
        for amount in row.amounts
    )
    return bool(values["body"]) and is_priced and not any(values[name] for name in _EVIDENT)


def _texts(candidate: Candidate) -> Iterator[str]:
    """Yield the texts that are no names if the candidate is one: itself, and its first row."""
    yield from (candidate.name, candidate.text)
    if len(candidate.pieces) > 1 and are_labels(candidate.pieces[0].text):
        yield candidate.pieces[0].text


def _is_owner(candidate: Candidate) -> bool:
    """Return whether a candidate is the person who owns the shop above: `Inhaberin Anna Berg`."""
    is_below = candidate.rows[0].index > 0
    is_labelled = any(one.start == 0 for one in book("owned").find(candidate.text))
    return is_below and is_labelled and company_names.legal_ending(candidate.name) is None


def _is_in(candidate: Candidate, columns: Sequence[Column]) -> bool:
    page = candidate.rows[0].line.page
    return any(column.holds(candidate.box, page) for column in columns)


def _scores(rows: Sequence[Row]) -> dict[str, tuple[float, Candidate]]:
    """Return the best score of each name, and its candidate."""
    by_feature = weights(_FIELD)
    best: dict[str, tuple[float, Candidate]] = {}
    for candidate, values in described(rows):
        score = sum(by_feature.get(name, 0) * value for name, value in values.items())
        if candidate.name not in best or best[candidate.name][0] < score:
            best[candidate.name] = (score, candidate)
    return best


def _is_customer(candidate: Candidate, labels: Sequence[Row]) -> bool:
    """Return whether a candidate contains the buyer's label or is right below it."""
    return any(
        candidate.rows[0].index - 1 <= label.index <= candidate.rows[-1].index
        and candidate.box.x0 < label.line.box.x1
        and label.line.box.x0 < candidate.box.x1
        for label in labels
    )


def _found(candidate: Candidate, confidence: float) -> Extracted[str]:
    page = candidate.rows[0].line.page
    sure = min(confidence, _MOST_CONFIDENCE)
    return Extracted(candidate.name, sure, candidate.text, page, candidate.box)


def respelled(candidate: Candidate, context: Context) -> Candidate:
    """Return an uncertain candidate with the spelling of a mention with a higher confidence."""
    confidence = min(piece.confidence for piece in candidate.pieces)
    if confidence >= _SURE:
        return candidate
    letters = normalize(candidate.name).letters
    for core, printed in context.domains.items():
        if " " not in candidate.name and _is_near(letters, core, _LEAST_ADDRESS):
            return replace(candidate, name=_cased(printed, candidate.name))
    for row in context.rows:
        for piece in pieces_of(row):
            is_surer = piece.confidence >= _SURE
            if is_surer and _is_near(letters, normalize(piece.text).letters, _LEAST_MENTION):
                return replace(candidate, name=piece.text.strip(" .,:;*-"))
    return candidate


def _is_near(letters: str, others: str, least: int) -> bool:
    """Return whether at least one, and at most one in `least` letters differ."""
    if len(letters) != len(others) or len(letters) < least:
        return False
    differences = sum(one != other for one, other in zip(letters, others, strict=True))
    return 0 < differences <= len(letters) // least


def _cased(printed: str, name: str) -> str:
    is_upper = sum(map(str.isupper, name)) > sum(map(str.islower, name))
    return printed.upper() if is_upper else printed.capitalize()
