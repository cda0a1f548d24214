"""The total: which of the printed amounts it is, or none of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.candidates import Candidates
from recibo.extract.fields import collect
from recibo.extract.model import Extracted, TextPage
from recibo.extract.resolve import assemble
from training.documents import Document
from training.fields.fitter import Fitter
from training.logistic import Choice, fit_choices

# The weight of a document with its total cut off. At 0.15, totals without a label that can be
# read were missed too; at 0, nearly every cut document got a wrong total.
_CUT_SHARE = 0.03
_PENALTY = 1.0
_SUMS = "sums."


def samples(document: Document) -> list[Choice]:
    """Return the choice among the amounts of a document, and the same with its total cut off."""
    if "total" not in document.asked:
        return []
    return list(choices(document.pages(), lambda value: document.is_right("total", value)))


def choices(
    pages: Sequence[TextPage], is_right: Callable[[Decimal | None], bool]
) -> Iterator[Choice]:
    """Yield the choice on recognized pages, given which values are right."""
    findings = collect.collect(pages)
    # The total of a fiscal document comes from its layout.
    if len(findings.totals) > 1:
        yield _choice(findings, is_right, share=1.0)
        cut = _cut(pages, [total for total in findings.totals if is_right(total.value)])
        if cut:
            yield _choice(collect.collect(cut), is_right, share=_CUT_SHARE)


def fit(known: Sequence[Choice]) -> Mapping[str, Mapping[str, float]]:
    """Return the weights of the features of an amount, and of its sums."""
    names = sorted({name for choice in known for one in choice.candidates for name in one})
    fitted = fit_choices(known, names, penalty=_PENALTY, least_spread=None)
    sums = {name: value for name, value in fitted.items() if name.startswith(_SUMS)}
    return {
        "amount": {name: value for name, value in fitted.items() if name not in sums},
        "sums": {name.removeprefix(_SUMS): value for name, value in sums.items()},
    }


FITTER = Fitter("total", samples, fit)


def _choice(
    findings: Candidates, is_right: Callable[[Decimal | None], bool], *, share: float
) -> Choice:
    """Return the amounts with their features; the last candidate is that there is no total."""
    known = findings.total_features
    candidates: list[Mapping[str, float]] = []
    right: list[bool] = []
    for total, checks in assemble.checked_totals(findings):
        of_amount = known.get(total.value) or {}
        candidates.append({**of_amount, **{_SUMS + name: holds for name, holds in checks.items()}})
        right.append(is_right(total.value))
    return Choice([*candidates, {}], [*right, not any(right)], share)


def _cut(pages: Sequence[TextPage], totals: Sequence[Extracted[Decimal]]) -> list[TextPage] | None:
    """Return the pages up to the first row with a right total."""
    places = [(total.page, total.box.y0) for total in totals if total.box]
    if not places:
        return None
    values = {str(total.value) for total in totals}
    number, top = min(places)
    for page in pages:
        for line in page.lines:
            if any(value in line.text for value in values):
                number, top = min((number, top), (page.number, line.box.y0))
    kept = [page for page in pages if page.number <= number]
    lines = tuple(line for line in kept[-1].lines if line.box.y0 < top - line.box.height / 2)
    return [*kept[:-1], replace(kept[-1], lines=lines)]
