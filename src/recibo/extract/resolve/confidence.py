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
from typing import Self, TypeVar

from recibo.extract import weights
from recibo.extract.model import Box, Candidates, Extracted, Header, Receipt, TextPage, Word
from recibo.extract.resolve import assemble

T = TypeVar("T")

# Log-odds and leads beyond these say nothing more.
_MOST_SCORE, _MOST_LEAD = 5.0, 5.0
# So many letters of a value may be misread by the engine's own account; more is no worse.
_MOST_DOUBT = 2.0
_SURELY_READ = 0.9
# A figure between letters, a letter between figures, a capital behind a small letter.
_MIXED = re.compile(r"[^\W\d_]\d(?=[^\W\d_])|\d[^\W\d_](?=\d)|[a-z](?=[A-Z])")
_MOST_MIXED = 3

# What the whole is worth without a total, and what a date or a name that is missing counts for.
# The total speaks for the whole, for it is what receipts are read for; the others move it by a few
# points. At a weight of 0.25 a sixth of the right totals lost their 0.9, at 0 a wrong name cost
# nothing.
_WITHOUT_TOTAL, _MISSING, _OTHERS_WEIGHT = 0.1, 0.3, 0.1

# With two documents on a page, either may be meant.
_ONE_OF_TWO = 0.5

#: What speaks for and against a value, by name.
Features = Mapping[str, float]


def weighed(receipt: Receipt, findings: Candidates, text_pages: Sequence[TextPage]) -> Receipt:
    """Return the receipt of these findings with the confidence of its fields and its own."""
    known = features(receipt, findings, text_pages)
    fields = replace(
        receipt,
        merchant_name=_weighed(receipt.merchant_name, "merchant_name", known),
        issued_at=_weighed(receipt.issued_at, "issued_at", known),
        total=_of_one(_weighed(receipt.total, "total", known), findings),
        subtotal=_weighed(receipt.subtotal, "subtotal", known),
        tax=_weighed(receipt.tax, "tax", known),
        document_number=_weighed(receipt.document_number, "document_number", known),
    )
    return replace(fields, confidence=of_whole(fields))


def _of_one(total: Extracted[Decimal] | None, findings: Candidates) -> Extracted[Decimal] | None:
    """Halve the confidence of a total if the page shows two documents."""
    if total is None or not assemble.are_several(findings):
        return total
    return replace(total, confidence=total.confidence * _ONE_OF_TWO)


def of_whole(fields: Header) -> float:
    """Return how likely the whole is right: that is the total first of all."""
    total = fields.total.confidence if fields.total else _WITHOUT_TOTAL
    others = (fields.issued_at, fields.merchant_name)
    rest = math.prod(field.confidence if field else _MISSING for field in others)
    return total * rest**_OTHERS_WEIGHT


def features(
    receipt: Receipt, findings: Candidates, text_pages: Sequence[TextPage]
) -> Mapping[str, Features]:
    """Return what speaks for and against each field that is there and has weights, by its name."""
    page = _Reading.of_sheets(text_pages)
    known: dict[str, Features] = {}
    if name := receipt.merchant_name:
        mixed = min(len(_MIXED.findall(name.value)), _MOST_MIXED)
        known["merchant_name"] = page.of(name, findings.merchant_names) | {"mixed": mixed}
    if moment := receipt.issued_at:
        is_timed = moment.value.time is not None
        known["issued_at"] = page.of(moment, findings.moments) | {"timed": is_timed}
    if total := receipt.total:
        is_off = assemble.is_off_by_change(total, findings)
        ranked = assemble.ranked_totals(findings)
        known["total"] = page.of(total, ranked) | {"change_off": is_off}
    is_summed = receipt.total is not None and assemble.is_summed_up(receipt.total, findings)
    if subtotal := receipt.subtotal:
        known["subtotal"] = page.of(subtotal, findings.subtotals) | {"parts": is_summed}
    if tax := receipt.tax:
        known["tax"] = page.of(tax, findings.taxes) | {"parts": is_summed}
    if number := receipt.document_number:
        known["document_number"] = page.of(number, findings.document_numbers)
    return known


def _weighed(
    found: Extracted[T] | None, field: str, known: Mapping[str, Features]
) -> Extracted[T] | None:
    if found is None:
        return None
    own = weights.weights("confidence")[field]
    log_odds = own["always"] + sum(own.get(name, 0) * value for name, value in known[field].items())
    return replace(found, confidence=1 / (1 + math.exp(-log_odds)))


@dataclass(frozen=True, slots=True)
class _Reading:
    """How well the pages were read."""

    words: tuple[Word, ...]
    #: The share of letters that stand in words which were not surely read.
    doubtful: float
    is_exact: bool

    @classmethod
    def of_sheets(cls, text_pages: Sequence[TextPage]) -> Self:
        words = tuple(
            word for text_page in text_pages for line in text_page.lines for word in line.words
        )
        letters = sum(len(word.text) for word in words) or 1
        unsure = sum(len(word.text) for word in words if word.confidence < _SURELY_READ)
        is_exact = all(text_page.is_exact for text_page in text_pages)
        return cls(words, unsure / letters, is_exact)

    def of(self, found: Extracted[T], candidates: Sequence[Extracted[T]]) -> dict[str, float]:
        """Return what is known of every value: among its candidates, and of its words."""
        own = [_log_odds(same) for same in candidates if same.value == found.value]
        others = [_log_odds(other) for other in candidates if other.value != found.value]
        score = max(own, default=_log_odds(found))
        lead = score - max(others) if others else _MOST_LEAD
        doubt = sum((1 - word.confidence) * len(word.text) for word in self._behind(found))
        return {
            "score": score,
            "lead": max(-1.0, min(lead, _MOST_LEAD)),
            "alone": not others,
            "doubt": min(doubt, _MOST_DOUBT),
            "doubtful": self.doubtful,
            "exact": self.is_exact,
        }

    def _behind(self, found: Extracted[T]) -> list[Word]:
        """Return the words that a value was read from; none if a code said it."""
        box = found.box
        if box is None:
            return []
        return [
            word for word in self.words if word.page == found.page and _is_across(word.box, box)
        ]


def _is_across(word: Box, box: Box) -> bool:
    return box.y0 <= word.y_centre <= box.y1 and word.x0 < box.x1 and box.x0 < word.x1


def _log_odds(found: Extracted[T]) -> float:
    log_odds = assemble.log_odds(found.confidence)
    return max(-_MOST_SCORE, min(log_odds, _MOST_SCORE))
