"""Taxes, payments, discount, tip, service charge and rounding: which of their options is right."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from benchmarks import bookkeeping_truth
from benchmarks.bookkeeping_truth import Truth
from recibo.extract.candidates import Candidates
from recibo.extract.fields import collect
from recibo.extract.model import Payment, Receipt, TaxLine
from recibo.extract.resolve import adjusted, assemble, paid, tax_lines
from recibo.extract.resolve.choices import Option
from training.documents import Document
from training.fields.fitter import Fitter
from training.logistic import Choice, fit_choices

_PENALTY = 0.3

# What was read of each document, by its key: one for all fields.
_KNOWN: dict[str, tuple[Candidates, Receipt]] = {}

_Options = Callable[[Candidates, Receipt], Sequence[Option[Any]]]


def samples(field: str, options: _Options, document: Document) -> list[Choice]:
    """Return the choice of a document, in which the last candidate is that nothing is printed."""
    truth = _truths().get(document.key.split(":")[0])
    if truth is None or (field not in truth.lists and field not in truth.values):
        return []
    found = options(*_read(document))
    if not found:
        return []
    right = [_is_right(field, option.value, truth) for option in found]
    # If what is printed is not among the options, none is right.
    return [Choice([*(option.features for option in found), {}], [*right, not any(right)])]


def _read(document: Document) -> tuple[Candidates, Receipt]:
    """Return the candidates and the header, which all six fields need."""
    if document.key not in _KNOWN:
        candidates = collect.collect(document.pages())
        _KNOWN[document.key] = candidates, assemble.assemble(candidates)
    return _KNOWN[document.key]


def fit(known: Sequence[Choice]) -> Mapping[str, Mapping[str, float]]:
    """Return the weights of the features of an option."""
    names = sorted({name for choice in known for one in choice.candidates for name in one})
    return {"option": fit_choices(known, names, penalty=_PENALTY, least_spread=None)}


def _is_right(field: str, value: Any, truth: Truth) -> bool:
    if field not in truth.lists:
        return truth.is_right(field, str(value.value))
    spelled = [_SPELLED[field](one.value) for one in value]
    pairs = bookkeeping_truth.matched(field, truth.lists[field], spelled)
    return all(
        one is not None
        and other is not None
        and bookkeeping_truth.agreement(field, one, other) == 1
        for one, other in pairs
    )


def _tax(line: TaxLine) -> dict[str, Any]:
    return {
        "rate": _text(line.rate),
        "base": _text(line.base),
        "amount": _text(line.amount),
        "informational": line.is_informational,
    }


def _payment(payment: Payment) -> dict[str, Any]:
    return {
        "method": payment.method.value,
        "amount": _text(payment.amount),
        "tendered": _text(payment.tendered),
        "last4": payment.last4,
    }


_SPELLED: Mapping[str, Callable[[Any], dict[str, Any]]] = {"taxes": _tax, "payments": _payment}


def _text(value: object) -> str | None:
    return None if value is None else str(value)


@cache
def _truths() -> Mapping[str, Truth]:
    return bookkeeping_truth.load()


def _tax_options(candidates: Candidates, header: Receipt) -> Sequence[Option[Any]]:
    if candidates.amounts.fiscal_taxes is not None:
        return []
    return [
        Option(tuple(line.found for line in option.value), option.features)
        for option in tax_lines.options(candidates.amounts, header)
    ]


def _fitter(field: str, options: _Options) -> Fitter[Choice]:
    return Fitter(field, partial(samples, field, options), fit)


FITTERS = (
    _fitter(tax_lines.FIELD, _tax_options),
    _fitter(paid.FIELD, paid.options),
    *(_fitter(field, partial(adjusted.options, field)) for field in adjusted.FIELDS),
)
