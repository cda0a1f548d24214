"""Subtotal and tax: which of those that may be printed with the total are right."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache, partial

from recibo.extract.fields import collect
from recibo.extract.model import TextPage
from recibo.extract.resolve import assemble, parts
from recibo.extract.resolve.parts import Amount, Parts
from training.documents import Document
from training.fields import generated
from training.fields.fitter import Fitter
from training.logistic import Choice, fit_choices
from training.receipts.truth import Truth

# With these most documents of left-out sources are right, and most generated ones.
_PENALTY = 0.1
_GENERATED = 0.2

#: Returns whether an amount, or none, is the value of a field.
_IsRight = Callable[[str, Amount | None], bool]


def samples(document: Document) -> Sequence[Choice]:
    """Return the choice of a document, in which the last candidate is that nothing is printed."""
    if not {"subtotal", "tax"} & set(document.asked):
        return []

    def is_right(field: str, found: Amount | None) -> bool:
        return field not in document.asked or document.is_right(field, found and found.value)

    return list(_choices(document.pages(), is_right, share=1.0))


def fit(known: Sequence[Choice]) -> Mapping[str, Mapping[str, float]]:
    """Return the weights of the features of an option, also by generated documents."""
    every = [*known, *_generated()]
    names = sorted({name for choice in every for one in choice.candidates for name in one})
    return {"option": fit_choices(every, names, penalty=_PENALTY, least_spread=None)}


FITTER = Fitter(parts.FIELD, samples, fit)


# Cached, since weights are fitted once for each fold.
@cache
def _generated() -> Sequence[Choice]:
    return tuple(
        choice
        for document in generated.headers()
        for choice in _choices(
            document.pages, partial(_is_generated, document.truth), share=_GENERATED
        )
    )


def _is_generated(truth: Truth, field: str, found: Amount | None) -> bool:
    """Return whether an amount is what a generated document prints."""
    printed = getattr(truth, field)
    if printed is None and found is not None and field == "subtotal" and truth.total:
        # It has no label, but a tax table has it.
        return found.value == Decimal(truth.total) - Decimal(truth.tax or 0)
    return (found and found.value) == (printed and Decimal(printed))


def _choices(pages: Sequence[TextPage], is_right: _IsRight, *, share: float) -> Iterator[Choice]:
    """Yield the choice of a document; one whose total is misread says nothing."""
    candidates = collect.collect(pages)
    total = assemble.likeliest_total(candidates)
    if not is_right("total", total):
        return
    options = parts.options(candidates, total)
    right = [
        is_right("subtotal", one.subtotal) and is_right("tax", one.tax)
        for one in (*(option.value for option in options), Parts())
    ]
    yield Choice([*(option.features for option in options), {}], right, share)
