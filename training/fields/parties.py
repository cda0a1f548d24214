"""The parties and the due date: the right candidate of each field, or none of them.

The truth is that of `benchmarks.bookkeeping`; the addresses of scanned receipts are in their keys.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from benchmarks import bookkeeping_truth
from benchmarks.bookkeeping_truth import Truth
from recibo.extract.brazil import fiscal
from recibo.extract.fields import address, customer, date, due_date, merchant, tax_id
from recibo.extract.fields.locale_detection import Place, locate
from recibo.extract.fields.parties import Known
from recibo.extract.layout.rows import Row, rows
from training.documents import SROIE, Document
from training.fields.fitter import Fitter
from training.logistic import Choice, Features, fit_choices

#: The candidates of a field: values and features.
Found = Sequence[tuple[object, Features]]
Finder = Callable[[Sequence[Row], Place, Known], Found]

# Scanned receipts are of one country, and many of one seller.
_SHARE_OF_SCANNED = 0.25
# Documents whose layout names the parties are read by layout: they count less.
_SHARE_OF_FISCAL = 0.3
_LEAST_SPREAD = 0.05
# Prior weights, since few documents have a customer or a due date.
_PRIOR_OF_NAMES = {
    "always": -1.0,
    "right": 1.5,
    "step0": 1.5,
    "colon": 1.0,
    "step1": -0.5,
    "step2": -1.0,
    "no_name": -3.0,
    "digits": -2.0,
    "many_digits": -1.0,
    "seller": -3.0,
    "address": -2.0,
    "label": -2.0,
    "stop": -3.0,
    "notice": -1.0,
    "contact": -3.0,
    "dated": -2.0,
    "money": -3.0,
    "heading_words": -2.0,
    "weak_label": -1.5,
    "form": 1.0,
    "letter": 1.5,
    "addresses_person": 1.5,
    "tax_number_below": 2.0,
    "place_below": 0.5,
    "numbered_below": 0.5,
    "has_address": 1.0,
    "mentioned": 0.5,
}
_PRIOR_OF_TAX_IDS = {
    "always": -3.0,
    "labelled": 0.5,
    "passed": 1.5,
    "weak": -1.5,
    "any_shape": -1.0,
    "buyer": 2.0,
    "named_buyer": 1.0,
    "named": 2.0,
    "near": 1.5,
}
_PRIOR_OF_DATES = {"always": 1.5, "right": 1.0, "below": 1.0, "before_issue": -2.0, "far": -1.0}


def _addresses(lines: Sequence[Row], _: Place, known: Known) -> Found:
    own = [row for row in lines if row.index not in known.others]
    return [(one.value, one.features) for one in address.candidates(own, known.sellers)]


def _names(lines: Sequence[Row], _: Place, known: Known) -> Found:
    found = customer.name_candidates(lines, known.sellers)
    return [(one.found.value, one.features) for one in found]


def _tax_ids(lines: Sequence[Row], place: Place, known: Known) -> Found:
    seller = known.tax_ids[0].value if known.tax_ids else None
    numbers = tax_id.candidates(lines, place.country)
    found = customer.tax_id_candidates(numbers, lines, seller)
    return [(one.found.value, features) for one, features in found]


def _due_dates(lines: Sequence[Row], place: Place, known: Known) -> Found:
    issued = known.moments[0].value.date if known.moments else None
    found = due_date.candidates(lines, date.orders(lines, place), issued)
    return [(one.found.value, one.features) for one in found]


def samples(field: str, find: Finder, document: Document) -> list[Choice]:
    """Return the choice on a document; its last candidate is that nothing is printed."""
    truth = _truth(document)
    if truth is None or field not in truth.values:
        return []
    pages = document.pages()
    lines = rows(pages)
    if not lines:
        return []
    place, known = _known(document, lines)
    found = find(lines, place, known)
    right = [truth.is_right(field, str(value)) for value, _ in found]
    if truth.is_printed(field) and not any(right):
        # It was misread, or is not among the candidates.
        return []
    return [
        Choice(
            [*(features for _, features in found), {}],
            [*right, not any(right)],
            _share(document, known),
        )
    ]


def fit(
    penalty: float, prior: Mapping[str, float] | None, known: Sequence[Choice]
) -> Mapping[str, float]:
    """Return the fitted weights of all features that occur."""
    names = sorted({name for choice in known for one in choice.candidates for name in one})
    spread = _LEAST_SPREAD if prior is None else None
    return fit_choices(known, names, penalty=penalty, least_spread=spread, prior=prior)


def _fitter(
    field: str, find: Finder, *, penalty: float = 1.0, prior: Mapping[str, float] | None = None
) -> Fitter[Choice]:
    return Fitter(field, partial(samples, field, find), partial(fit, penalty, prior))


FITTERS = (
    _fitter(address.FIELD, _addresses, penalty=2.0),
    _fitter(customer.NAME, _names, prior=_PRIOR_OF_NAMES),
    _fitter(customer.TAX_ID, _tax_ids, prior=_PRIOR_OF_TAX_IDS),
    _fitter(due_date.FIELD, _due_dates, prior=_PRIOR_OF_DATES),
)


def _truth(document: Document) -> Truth | None:
    if document.data_set != SROIE:
        return _truths().get(document.key.split(":")[0])
    file = document.path.parents[1] / "key" / f"{document.path.stem}.json"
    printed = json.loads(file.read_text("utf-8", "replace")).get("address")
    if not printed:
        return None
    value = bookkeeping_truth.hashed(printed)
    return bookkeeping_truth.of_entry({"id": document.key, address.FIELD: value})


@cache
def _truths() -> Mapping[str, Truth]:
    return bookkeeping_truth.load()


def _known(document: Document, lines: Sequence[Row]) -> tuple[Place, Known]:
    """Return what other finders find, as `collect` does."""
    place = locate(lines, hints=tax_id.countries(lines))
    tax_ids = tax_id.tax_ids(lines, place.country)
    if place.country is None and tax_ids:
        place = locate(lines, hints=[tax_ids[0].number.country])
    found = fiscal.identify(document.pages())
    return place, Known(
        merchant.merchants(lines),
        [one.found for one in tax_ids],
        date.moments(lines, place),
        found.lines_of_others() if found else frozenset(),
    )


def _share(document: Document, known: Known) -> float:
    if document.data_set == SROIE:
        return _SHARE_OF_SCANNED
    return _SHARE_OF_FISCAL if known.others else 1.0
