"""What a person should check on a receipt, in plain sentences, and how its amounts add up."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.lib import money
from recibo.portal import amount_inputs, formats
from recibo.portal.translations import LazyText, _, lazy_gettext, ngettext
from recibo.schemas import sums
from recibo.schemas.receipts import Receipt, Review, ReviewReason
from recibo.schemas.states import ReviewCode, ReviewStatus

_ITEMS = lazy_gettext("Items")
_ITEMS_AND_MORE = lazy_gettext("Items with discounts and charges")
_TAXES = lazy_gettext("Taxes by rate")
_PAYMENTS = lazy_gettext("Payments")
_SUBTOTAL_AND_TAX = lazy_gettext("Subtotal and tax")
_SUBTOTAL_AND_MORE = lazy_gettext("Subtotal, tax, discounts and charges")
_SUBTOTAL_WITH_TAX = lazy_gettext("Subtotal with tax included")
# As they are named within a sentence.
_WHOLES = {
    "total": lazy_gettext("the total"),
    "subtotal": lazy_gettext("the subtotal"),
    "tax": lazy_gettext("the tax"),
}


@dataclass(frozen=True, slots=True)
class Ledger:
    """Two amounts that should be equal."""

    #: What adds up to the first one.
    parts: LazyText
    added: Decimal
    #: The field with the second one.
    whole: str
    expected: Decimal
    currency: str | None

    @property
    def gap(self) -> Decimal:
        """What must be added to the parts to reach the whole."""
        return self.expected - self.added

    @property
    def is_short(self) -> bool:
        """Whether the parts lack something; amounts of a credit note are negative."""
        return self.gap * self.expected > 0

    @property
    def sentence(self) -> str:
        """Both amounts and their difference."""
        texts = {
            "parts": self.parts,
            "added": self.amount(self.added),
            "whole": self.whole_name,
            "expected": self.amount(self.expected),
            "gap": self.amount(abs(self.gap)),
        }
        if self.is_short:
            return _(
                "%(parts)s add up to %(added)s, %(whole)s is %(expected)s: %(gap)s missing.",
                **texts,
            )
        return _(
            "%(parts)s add up to %(added)s, %(whole)s is %(expected)s: %(gap)s too much.", **texts
        )

    def amount(self, value: Decimal) -> str:
        """Return an amount as it is shown."""
        return formats.number(money.in_minor_digits(value, self.currency))

    @property
    def whole_name(self) -> LazyText:
        """The field with the second amount, as it is named within a sentence."""
        return _WHOLES[self.whole]

    @property
    def missing(self) -> str:
        """What the parts lack, as it is typed into a field."""
        return amount_inputs.shown(money.in_minor_digits(self.gap, self.currency))

    @property
    def agreement(self) -> str:
        """That both amounts are equal."""
        if self.parts in (_ITEMS, _ITEMS_AND_MORE):
            return _("Items add up to %(whole)s", whole=self.whole_name)
        if self.parts == _TAXES:
            return _("Taxes by rate add up to %(whole)s", whole=self.whole_name)
        if self.parts == _PAYMENTS:
            return _("Payments add up to %(whole)s", whole=self.whole_name)
        if self.parts == _SUBTOTAL_WITH_TAX:
            return _("Subtotal and total agree, tax included")
        return _("Subtotal and tax add up")


@dataclass(frozen=True, slots=True)
class Check:
    """A field in doubt, or the receipt as a whole, with the reasons."""

    #: The field; empty for the whole receipt.
    field: str
    sentences: tuple[str, ...]
    ledger: Ledger | None = None
    is_missing: bool = False
    #: For lines that lack an amount: what each sum that they may add up to lacks, nearest first.
    offers: tuple[Ledger, ...] = ()


@dataclass(frozen=True, slots=True)
class Sum:
    """A sentence that says whether amounts add up."""

    text: str
    #: `ok`, or `off` if something is missing or too much; `near` if that may be rounding.
    state: str


def ranked(review: Review) -> list[ReviewReason]:
    """Return why a person should look at a receipt, the most serious reason first.

    The confidence of the whole says nothing more where one of its fields is missing or doubtful.
    """
    is_named = any(
        one.field in _WHOLE and one.code in (ReviewCode.MISSING, ReviewCode.LOW_CONFIDENCE)
        for one in review.reasons
    )
    return sorted(
        (one for one in review.reasons if not (is_named and _is_about_whole(one))), key=_rank
    )


def _is_about_whole(reason: ReviewReason) -> bool:
    return reason.code is ReviewCode.LOW_CONFIDENCE and reason.field is None


def _rank(reason: ReviewReason) -> tuple[int, int]:
    place = _WHOLE.index(reason.field) if reason.field in _WHOLE else len(_WHOLE)
    return _SERIOUS.index(reason.code), len(_WHOLE) + 1 if _is_about_whole(reason) else place


def of(receipt: Receipt, *, despite_approval: bool = False) -> list[Check]:
    """Return what to check, one entry a field, the most serious first.

    Duplicates are not among them. An approved receipt has nothing to check, unless one asks.
    """
    review = receipt.review
    if review is None or review.status is ReviewStatus.READY:
        return []
    if review.status is ReviewStatus.APPROVED and not despite_approval:
        return []
    by_field: dict[str, list[ReviewReason]] = {}
    for one in ranked(review):
        if one.code is not ReviewCode.POSSIBLE_DUPLICATE:
            by_field.setdefault(one.field or "", []).append(one)
    checks = [_check(receipt, field, reasons) for field, reasons in by_field.items()]
    # Amounts that were read with confidence are no reason for a review, but are seen in one.
    total = None if "total" in by_field else _total(receipt)
    if checks and total and abs(total.gap) > sums.tolerance(receipt.currency):
        checks.append(Check("total", (total.sentence,), total))
    return checks


def heading(count: int) -> str:
    """Return how many things are left to check."""
    if not count:
        return _("Nothing left to check")
    return ngettext("%(num)s thing to check", "%(num)s things to check", count)


def ledger(receipt: Receipt, field: str) -> Ledger | None:
    """Return the amounts that should agree with a field: a list, or `total`."""
    return _LEDGERS[field](receipt) if field in _LEDGERS else None


def added_up(receipt: Receipt, *, unknown: Collection[str] = ()) -> dict[str, Sum]:
    """Return how the amounts of a receipt add up, by the field that shows it.

    Nothing is said where an amount of the receipt is `unknown`.
    """
    names = [name for name, needed in _NEEDED.items() if needed.isdisjoint(unknown)]
    ledgers = {name: ledger(receipt, name) for name in names}
    return {name: _sum(one) for name, one in ledgers.items() if one is not None}


def _sum(one: Ledger) -> Sum:
    if not one.gap:
        return Sum(one.agreement, "ok")
    is_near = abs(one.gap) <= sums.tolerance(one.currency)
    return Sum(one.sentence, "near" if is_near else "off")


def _check(receipt: Receipt, field: str, reasons: list[ReviewReason]) -> Check:
    codes = {one.code for one in reasons}
    disagreeing = _disagreeing(receipt, field) if ReviewCode.AMOUNTS_DISAGREE in codes else None
    sentences = [_sentence(receipt, one, disagreeing) for one in reasons]
    offers = _offers(receipt, field) if disagreeing else ()
    return Check(field, tuple(sentences), disagreeing, ReviewCode.MISSING in codes, offers)


def _offers(receipt: Receipt, field: str) -> tuple[Ledger, ...]:
    """Return the sums that lines may add up to and do not reach, one for each amount missing."""
    found: list[Ledger | None] = []
    if field == "line_items":
        found = [_items(receipt, name) for name in ("subtotal", "total")]
    elif field == "taxes":
        found = [_taxes(receipt)]
    by_gap = {one.gap: one for one in found if one and one.is_short}
    return tuple(by_gap[gap] for gap in sorted(by_gap, key=abs))


def _disagreeing(receipt: Receipt, field: str) -> Ledger | None:
    """Return amounts that are not equal; items may disagree with one whole, and not another."""
    found = ledger(receipt, field)
    if found and not found.gap and field == "line_items":
        found = _items(receipt, "subtotal")
    return found if found and found.gap else None


def _sentence(receipt: Receipt, reason: ReviewReason, disagreeing: Ledger | None) -> str:
    if reason.code is ReviewCode.AMOUNTS_DISAGREE and disagreeing:
        return disagreeing.sentence
    if _is_about_whole(reason):
        share = formats.percent(receipt.confidence or 0)
        return _(
            "%(share)s sure that merchant, date and total are all right. Compare them.",
            share=share,
        )
    if reason.code is ReviewCode.MISSING and reason.field in receipt.corrected_fields:
        return _("This field was cleared.")
    if reason.code is ReviewCode.LOW_CONFIDENCE and reason.field in _LISTS:
        return _("Some lines are not certain. They are marked below.")
    return str(_SENTENCES.get(reason.code, _("Compare it with the document.")))


def _items(receipt: Receipt, *names: str) -> Ledger | None:
    totals = [item.total for item in receipt.line_items]
    known = [Decimal(one) for one in totals if one is not None]
    wholes = {
        name: Decimal(value)
        for name in names or ("total", "subtotal")
        if (value := getattr(receipt, name)) is not None
    }
    if not known or not wholes or len(known) != len(totals):
        return None
    added = sum(known, Decimal(0))
    # Prices may contain tax and discounts or not, so the nearer amount is the one that is meant.
    pairs = [(step, name) for step in _ordered_steps(receipt) for name in wholes]
    step, whole = min(pairs, key=lambda pair: abs(wholes[pair[1]] - added - pair[0]))
    is_off = wholes[whole] != added + step
    if is_off and "subtotal" in wholes and _is_total_after_steps(receipt):
        step, whole = Decimal(0), "subtotal"
    return Ledger(
        _ITEMS_AND_MORE if step else _ITEMS, added + step, whole, wholes[whole], receipt.currency
    )


def _is_total_after_steps(receipt: Receipt) -> bool:
    """Return whether discounts and charges alone lead from the subtotal to the total."""
    if receipt.total is None or receipt.subtotal is None:
        return False
    step = Decimal(receipt.total) - Decimal(receipt.subtotal)
    return bool(step) and step in sums.steps(receipt)


def _total(receipt: Receipt) -> Ledger | None:
    if receipt.total is None or receipt.subtotal is None:
        return None
    total, subtotal, tax = (
        Decimal(one or 0) for one in (receipt.total, receipt.subtotal, receipt.tax)
    )
    # The prices of fiscal documents contain the tax; freight and other charges have no field.
    is_fiscal = receipt.type in sums.FISCAL
    if (tax or is_fiscal) and total - subtotal in sums.steps(receipt):
        return Ledger(_SUBTOTAL_WITH_TAX, total, "total", total, receipt.currency)
    if is_fiscal:
        return None
    step = min(_ordered_steps(receipt), key=lambda one: abs(total - subtotal - tax - one))
    parts = _SUBTOTAL_AND_MORE if step else _SUBTOTAL_AND_TAX
    return Ledger(parts, subtotal + tax + step, "total", total, receipt.currency)


def _taxes(receipt: Receipt) -> Ledger | None:
    charged = [one.amount for one in receipt.taxes if not one.informational]
    found = _all(receipt, _TAXES, charged, "tax")
    # Different amounts are no error where `tax` is not the sum.
    return found if found and (not found.gap or sums.taxes_differ(receipt)) else None


def _payments(receipt: Receipt) -> Ledger | None:
    amounts = [one.amount for one in receipt.payments]
    found = _all(receipt, _PAYMENTS, amounts, "total")
    # The payments of a refund are positive, its total is negative.
    if found and found.expected < 0 < found.added:
        found = replace(found, added=-found.added)
    # Tips and rounding may be between the two.
    return found if found and (not found.gap or sums.payments_differ(receipt)) else None


def _all(
    receipt: Receipt, parts: LazyText, amounts: Sequence[str | None], whole: str
) -> Ledger | None:
    """Return amounts that are nothing but parts of another one, if all are known."""
    known = [Decimal(one) for one in amounts if one is not None]
    expected = getattr(receipt, whole)
    if expected is None or not known or len(known) != len(amounts):
        return None
    return Ledger(parts, sum(known, Decimal(0)), whole, Decimal(expected), receipt.currency)


def _ordered_steps(receipt: Receipt) -> list[Decimal]:
    """Return what may be between two amounts, nothing first."""
    return sorted(sums.steps(receipt), key=abs)


# What is known to be wrong comes before what is only uncertain.
_SERIOUS = (
    ReviewCode.MISSING,
    ReviewCode.POSSIBLE_DUPLICATE,
    ReviewCode.AMOUNTS_DISAGREE,
    ReviewCode.EMBEDDED_DIFFERS,
    ReviewCode.LOW_CONFIDENCE,
)
# The fields of which the confidence of the whole is, the most useful first.
_WHOLE = ("total", "issued_at", "merchant_name")
_SENTENCES: Mapping[ReviewCode, LazyText] = {
    ReviewCode.MISSING: lazy_gettext("Not found on the document."),
    ReviewCode.LOW_CONFIDENCE: lazy_gettext("Not certain. Compare it with the document."),
    ReviewCode.AMOUNTS_DISAGREE: lazy_gettext("The amounts do not add up."),
    ReviewCode.EMBEDDED_DIFFERS: lazy_gettext("The e-invoice in the file and the page differ."),
}
_LISTS = ("line_items", "taxes", "payments")
_LEDGERS: Mapping[str, Callable[[Receipt], Ledger | None]] = {
    "line_items": _items,
    "total": _total,
    "taxes": _taxes,
    "payments": _payments,
}
_BETWEEN = frozenset({"discount", "service_charge", "tip", "rounding"})
# The amounts of the receipt that each of them compares.
_NEEDED: Mapping[str, frozenset[str]] = {
    "line_items": _BETWEEN | {"total", "subtotal"},
    "total": _BETWEEN | {"total", "subtotal", "tax"},
    "taxes": frozenset({"tax"}),
    "payments": frozenset({"total"}),
}
