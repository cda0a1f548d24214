"""Taxes, payments, discount, tip, service charge and rounding: which of their options is right."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache, partial
from typing import Any

from benchmarks import bookkeeping_truth
from benchmarks.bookkeeping_truth import Truth
from recibo.extract.candidates import Candidates
from recibo.extract.fields import collect
from recibo.extract.model import Payment, PaymentMethod, Receipt, TaxLine
from recibo.extract.resolve import adjusted, assemble, paid, tax_lines
from recibo.extract.resolve.choices import Option
from training.documents import Document
from training.fields import generated
from training.fields.fitter import Fitter
from training.logistic import Choice, fit_choices
from training.receipts.truth import Bookkeeping

# The penalties with which most choices of left-out documents are right.
_PENALTY = 0.3
_PENALTIES = {paid.FIELD: 1.0, "discount": 0.1}
# The weight of a generated document: real ones decide where both disagree.
_GENERATED = 0.1

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


def fit(
    field: str, options: _Options, known: Sequence[Choice]
) -> Mapping[str, Mapping[str, float]]:
    """Return the weights of the features of an option, also by generated documents."""
    every = [*known, *_generated(field, options)]
    names = sorted({name for choice in every for one in choice.candidates for name in one})
    penalty = _PENALTIES.get(field, _PENALTY)
    return {"option": fit_choices(every, names, penalty=penalty, least_spread=None)}


# Cached, since weights are fitted once for each fold.
@cache
def _generated(field: str, options: _Options) -> Sequence[Choice]:
    """Return the choices of generated documents; one whose truth was not found says nothing."""
    choices = []
    for document in generated.documents():
        found = options(document.candidates, document.header)
        right = [_is_generated(field, option.value, document.truth) for option in found]
        is_printed = bool(getattr(document.truth, field))
        if found and (any(right) or not is_printed):
            candidates = [*(option.features for option in found), {}]
            choices.append(Choice(candidates, [*right, not is_printed], _GENERATED))
    return choices


def _is_generated(field: str, value: Any, truth: Bookkeeping) -> bool:
    """Return whether an option is what a generated document prints."""
    printed = getattr(truth, field)
    expected: list[tuple[str | None, ...]]
    read: list[tuple[str | None, ...]]
    if field == tax_lines.FIELD:
        expected = [(tax.rate, tax.base, tax.amount) for tax in printed]
        read = [
            (_text(one.value.rate), _text(one.value.base), _text(one.value.amount)) for one in value
        ]
        return _normal(expected) == _normal(read)
    if field == paid.FIELD:
        expected = [(one.method, one.amount, one.tendered, one.last4) for one in printed]
        read = [_paid(one.value) for one in value]
        return _normal(expected) == _normal(read)
    return printed is not None and Decimal(printed) == value.value


def _paid(payment: Payment) -> tuple[str | None, ...]:
    method = PaymentMethod.CARD if payment.method in paid.CARDS else payment.method
    return method.value, _text(payment.amount), _text(payment.tendered), payment.last4


def _normal(rows: Sequence[tuple[str | None, ...]]) -> list[tuple[str, ...]]:
    """Return rows in order, with their numbers without final zeros."""
    return sorted(tuple(map(_without_zeros, row)) for row in rows)


def _without_zeros(text: str | None) -> str:
    try:
        return str(Decimal(text or "").normalize())
    except InvalidOperation:
        return text or ""


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
    return Fitter(field, partial(samples, field, options), partial(fit, field, options))


FITTERS = (
    _fitter(tax_lines.FIELD, _tax_options),
    _fitter(paid.FIELD, paid.options),
    *(_fitter(field, partial(adjusted.options, field)) for field in adjusted.FIELDS),
)
