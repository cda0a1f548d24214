"""Computes the probability that each field, and the whole receipt, is right.

A finder's score ranks candidates; it does not say how likely the best one is right. Here each
chosen value gets a probability from that score, its lead over the others, and how well its words
and its page were read. The weights in `confidence.toml` are fitted by
`training/fields/confidence.py`.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from itertools import chain
from typing import Self, TypeVar

from recibo.extract import weights
from recibo.extract.candidates import Candidates
from recibo.extract.layout import headings
from recibo.extract.model import (
    Alternative,
    Box,
    Details,
    Extracted,
    Header,
    LineItem,
    Receipt,
    TextPage,
    Word,
    around,
)
from recibo.extract.probabilities import log_odds, probability
from recibo.extract.resolve import assemble
from recibo.extract.text import lexicon, tables
from recibo.extract.text.folding import normalize

T = TypeVar("T")

# Larger log-odds and leads are clamped to these.
_MOST_SCORE, _MOST_LEAD = 5.0, 5.0
# So much less a score says where all letters are doubtful.
_LESS_IF_DOUBTFUL = 5.0
# The expected number of misread letters is clamped to this.
_MOST_DOUBT = 2.0
_SURELY_READ = 0.9
# A digit between letters, a letter between digits, a capital after a small letter.
_MIXED = re.compile(r"[^\W\d_]\d(?=[^\W\d_])|\d[^\W\d_](?=\d)|[a-z](?=[A-Z])")
_MOST_MIXED = 3
_BRACKETS = re.compile(r"\(.*?\)")

# The confidence of a receipt without a total, the one counted for a missing date or name, and their
# weight. The total decides, since it matters most; the others change the confidence by a few
# points. At a weight of 0.25 a sixth of the right totals fell below 0.9; at 0 a wrong name changed
# nothing.
_WITHOUT_TOTAL, _MISSING, _OTHERS_WEIGHT = 0.1, 0.3, 0.1

# With two documents on a page, either may be meant.
_ONE_OF_TWO = 0.5
# An amount without a label is to be checked.
_UNLABELLED = 0.65

_MOST_ALTERNATIVES = 3
# A name above a table may overlap it a little on a tilted page.
_MOST_SHARED = 0.25

#: The features of a value, by name.
Features = Mapping[str, float]


def with_confidence(
    receipt: Receipt, candidates: Candidates, text_pages: Sequence[TextPage]
) -> Receipt:
    """Return a receipt with the confidence of its fields and of the whole."""
    known = features(receipt, candidates, text_pages)
    fields = replace(
        receipt,
        merchant_name=_with_confidence(receipt.merchant_name, "merchant_name", known),
        issued_at=_with_confidence(receipt.issued_at, "issued_at", known),
        total=_less_if_unsure(_with_confidence(receipt.total, "total", known), candidates),
        subtotal=_with_confidence(receipt.subtotal, "subtotal", known),
        tax=_with_confidence(receipt.tax, "tax", known),
        document_number=_with_confidence(receipt.document_number, "document_number", known),
    )
    return replace(_with_alternatives(fields, candidates), confidence=of_whole(fields))


def _with_alternatives(fields: Receipt, candidates: Candidates) -> Receipt:
    """Return the receipt in which each value knows the next best ones."""
    names = _outside_items(_without_labels(candidates.merchant_names), fields.line_items)
    return replace(
        fields,
        merchant_name=_among(fields.merchant_name, names),
        merchant_tax_id=_among(fields.merchant_tax_id, candidates.merchant_tax_ids),
        issued_at=_among(fields.issued_at, candidates.moments),
        total=_among(fields.total, assemble.ranked_totals(candidates)),
        subtotal=_among(fields.subtotal, candidates.subtotals),
        tax=_among(fields.tax, candidates.taxes),
        currency=_among(fields.currency, candidates.currencies),
        document_number=_among(fields.document_number, candidates.document_numbers),
        document_key=_among(fields.document_key, candidates.document_keys),
        details=_details(fields, candidates),
    )


def _details(fields: Receipt, candidates: Candidates) -> Details:
    details, found = fields.details, candidates.parties
    customers = _outside_items(_without_labels(found.customer_names), fields.line_items)
    return replace(
        details,
        merchant_address=_among(details.merchant_address, found.merchant_addresses),
        customer_name=_among(details.customer_name, customers),
        customer_tax_id=_among(details.customer_tax_id, found.customer_tax_ids),
        due_date=_among(details.due_date, found.due_dates),
    )


def _without_labels(names: Sequence[Extracted[str]]) -> list[Extracted[str]]:
    """Return the candidates without headings of columns, currencies and other labels."""
    return [one for one in names if not _is_label(one.value)]


def _outside_items(
    names: Sequence[Extracted[str]], items: Sequence[Extracted[LineItem]]
) -> list[Extracted[str]]:
    """Return the candidates that have no row between the first and the last line item."""
    boxes = [(one.page, one.whole_box or one.box) for one in items]
    tables_ = {
        page: around([box for at, box in boxes if box and at == page])
        for page in {at for at, box in boxes if box}
    }
    return [one for one in names if not _is_between(one, tables_.get(one.page))]


def _is_between(name: Extracted[str], table: Box | None) -> bool:
    if table is None or name.box is None:
        return False
    shared = min(name.box.y1, table.y1) - max(name.box.y0, table.y0)
    return shared > _MOST_SHARED * name.box.height


def _is_label(text: str) -> bool:
    # What is in brackets belongs to a heading: `Amt (RM)`.
    bare = _BRACKETS.sub("", text).strip() or text
    letters = normalize(bare).letters
    return (
        headings.role_of(bare) is not None
        or bare.upper() in tables.currencies()
        or letters in _labels()
    )


@cache
def _labels() -> frozenset[str]:
    phrases = chain.from_iterable(lexicon.labels().values())
    return frozenset(normalize(one).letters for one in phrases)


def _among(found: Extracted[T] | None, candidates: Sequence[Extracted[T]]) -> Extracted[T] | None:
    if found is None:
        return None
    others: list[Alternative[T]] = []
    # One of them at most is right.
    most = 1 - found.confidence
    for other in candidates:
        if other.value not in (found.value, *(one.value for one in others)):
            others.append(Alternative(other.value, min(other.confidence, most)))
    return replace(found, alternatives=tuple(others[:_MOST_ALTERNATIVES]))


def _less_if_unsure(
    total: Extracted[Decimal] | None, candidates: Candidates
) -> Extracted[Decimal] | None:
    """Halve the confidence of a total if the page shows two documents.

    One without a label is to be checked, unless it is on the proof of a transfer.
    """
    if total is None:
        return None
    is_alone = candidates.total_features.get(total.value, {}).get("alone", 0) > 0
    share = _UNLABELLED if is_alone and candidates.transfer is None else 1.0
    share *= _ONE_OF_TWO if assemble.are_several(candidates) else 1.0
    return replace(total, confidence=total.confidence * share)


def of_whole(fields: Header) -> float:
    """Return the probability that the whole receipt is right, mainly that of its total."""
    found = (fields.total, fields.issued_at, fields.merchant_name)
    return overall(*(field.confidence if field else None for field in found))


def overall(total: float | None, issued_at: float | None, merchant_name: float | None) -> float:
    """Return the same from the confidences of these fields; None where one is missing."""
    others = (issued_at, merchant_name)
    rest = math.prod(_MISSING if known is None else known for known in others)
    return (_WITHOUT_TOTAL if total is None else total) * rest**_OTHERS_WEIGHT


def features(
    receipt: Receipt, candidates: Candidates, text_pages: Sequence[TextPage]
) -> Mapping[str, Features]:
    """Return the features of each field that has a value and weights, by its name."""
    page = _Reading.of_pages(text_pages)
    known: dict[str, Features] = {}
    if name := receipt.merchant_name:
        mixed = min(len(_MIXED.findall(name.value)), _MOST_MIXED)
        known["merchant_name"] = page.of(name, candidates.merchant_names) | {"mixed": mixed}
    if moment := receipt.issued_at:
        is_timed = moment.value.time is not None
        known["issued_at"] = page.of(moment, candidates.moments) | {"timed": is_timed}
    if total := receipt.total:
        is_off = assemble.is_off_by_change(total, candidates)
        ranked = assemble.ranked_totals(candidates)
        known["total"] = page.of(total, ranked) | {"change_off": is_off}
    is_summed = receipt.total is not None and assemble.is_summed_up(receipt.total, candidates)
    if subtotal := receipt.subtotal:
        known["subtotal"] = page.of(subtotal, candidates.subtotals) | {"parts": is_summed}
    if tax := receipt.tax:
        known["tax"] = page.of(tax, candidates.taxes) | {"parts": is_summed}
    if number := receipt.document_number:
        known["document_number"] = page.of(number, candidates.document_numbers)
    return known


def _with_confidence(
    found: Extracted[T] | None, field: str, known: Mapping[str, Features]
) -> Extracted[T] | None:
    if found is None:
        return None
    own = weights.weights("confidence")[field]
    score = own["always"] + sum(own.get(name, 0) * value for name, value in known[field].items())
    return replace(found, confidence=probability(score))


@dataclass(frozen=True, slots=True)
class _Reading:
    """The quality of the recognized pages."""

    words: tuple[Word, ...]
    #: The share of letters in words with a low confidence.
    doubtful: float
    is_exact: bool

    @classmethod
    def of_pages(cls, text_pages: Sequence[TextPage]) -> Self:
        words = tuple(
            word for text_page in text_pages for line in text_page.lines for word in line.words
        )
        letters = sum(len(word.text) for word in words) or 1
        unsure = sum(len(word.text) for word in words if word.confidence < _SURELY_READ)
        is_exact = all(text_page.is_exact for text_page in text_pages)
        return cls(words, unsure / letters, is_exact)

    def of(self, found: Extracted[T], candidates: Sequence[Extracted[T]]) -> dict[str, float]:
        """Return the features of a value among its candidates, and of its words."""
        own = [_log_odds(same) for same in candidates if same.value == found.value]
        others = [_log_odds(other) for other in candidates if other.value != found.value]
        score = max(own, default=_log_odds(found))
        lead = score - max(others) if others else _MOST_LEAD
        doubt = sum((1 - word.confidence) * len(word.text) for word in self._words_of(found))
        return {
            "score": score,
            "legible_score": score / (1 + _LESS_IF_DOUBTFUL * self.doubtful),
            "lead": max(-1.0, min(lead, _MOST_LEAD)),
            "alone": not others,
            "doubt": min(doubt, _MOST_DOUBT),
            "doubtful": math.sqrt(self.doubtful),
            "exact": self.is_exact,
        }

    def _words_of(self, found: Extracted[T]) -> list[Word]:
        """Return the words from which a value was read; none if it is from a code."""
        box = found.box
        if box is None:
            return []
        return [
            word for word in self.words if word.page == found.page and _is_across(word.box, box)
        ]


def _is_across(word: Box, box: Box) -> bool:
    return box.y0 <= word.y_center <= box.y1 and word.x0 < box.x1 and box.x0 < word.x1


def _log_odds(found: Extracted[T]) -> float:
    return max(-_MOST_SCORE, min(log_odds(found.confidence), _MOST_SCORE))
