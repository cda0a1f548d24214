"""Chooses the payments of a document: those that add up to its total."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations

from recibo.extract.candidates import Candidates, PaymentCandidate
from recibo.extract.model import DocumentType, Extracted, Payment, PaymentMethod, Receipt
from recibo.extract.resolve import choices
from recibo.extract.resolve.choices import Option

FIELD = "payments"

_INVOICES = (DocumentType.INVOICE, DocumentType.NFE, DocumentType.NFSE)
CARDS = (PaymentMethod.CARD, PaymentMethod.CREDIT_CARD, PaymentMethod.DEBIT_CARD)
_CENT = Decimal("0.01")
# Cash is rounded to the next coin.
_MOST_ROUNDING = Decimal("0.05")
_MOST_MENTIONS, _MOST_PARTS = 10, 3
_MOST_REPEATED = 3
# Cash is at most so many times the total.
_MUCH = 10

# The features of a payment that one of its rows has, and those that all have.
_ANY = ("named", "first", "slip", "paid_by", "after_total", "above_change")
_ALL = ("to_be_paid", "tendered_label", "below", "prose", "words", "many", "loyalty", "total_label")

#: Payments that may be all of a document, each with the rows that mention it.
Payments = tuple[Extracted[Payment], ...]


@dataclass(frozen=True, slots=True)
class _Mention:
    """All rows that mention one payment: the same kind of method and the same amount."""

    rows: tuple[PaymentCandidate, ...]
    method: PaymentMethod
    amount: Decimal | None
    #: Whether the kind of card is that of its row, not the one that the slip names.
    is_own: bool = False

    @property
    def first(self) -> PaymentCandidate:
        return self.rows[0]


@dataclass(frozen=True, slots=True)
class _Sums:
    """The amounts that payments must agree with."""

    total: Decimal | None
    change: Sequence[Decimal]
    #: Roundings of the total to the next coin.
    roundings: Sequence[Decimal]
    is_change_printed: bool
    is_invoice: bool
    #: The total with its evidence.
    total_found: Extracted[Decimal] | None = None


def chosen(candidates: Candidates, header: Receipt) -> Payments:
    """Return the payments of a document with the probability that each is right."""
    if candidates.transfer and header.total:
        paid, total = Payment(candidates.transfer, header.total.value), header.total
        return (Extracted(paid, total.confidence, total.text, total.page, total.box),)
    found = options(candidates, header)
    known = choices.probabilities(FIELD, found)
    if sum(known) < choices.LEAST:
        return ()
    best = known.index(max(known))
    return tuple(
        replace(payment, confidence=_probability(payment.value, found, known))
        for payment in found[best].value
    )


def _probability(
    payment: Payment, found: Sequence[Option[Payments]], known: Sequence[float]
) -> float:
    """Return the probability of all options with a payment."""
    return sum(
        probability
        for option, probability in zip(found, known, strict=True)
        if any(other.value == payment for other in option.value)
    )


def options(candidates: Candidates, header: Receipt) -> list[Option[Payments]]:
    """Return the payments that may be those of the document, each set once."""
    change = [abs(back.value) for back in candidates.change]
    sums = _Sums(
        header.total.value if header.total else None,
        [back for back in change if back],
        [rounding.value for rounding in candidates.roundings if rounding.value],
        bool(change),
        header.type.value in _INVOICES,
        header.total,
    )
    every = candidates.amounts.payments
    mentions = _mentions(every)[:_MOST_MENTIONS]
    last4 = _last4(every)
    by_value: dict[tuple[Payment, ...], Option[Payments]] = {}
    for some in _sets(mentions, sums):
        for option in _variants(some, mentions, every, last4, sums):
            key = tuple(payment.value for payment in option.value)
            by_value.setdefault(key, option)
    return list(by_value.values())


def _mentions(every: Sequence[PaymentCandidate]) -> list[_Mention]:
    grouped: dict[tuple[PaymentMethod, Decimal | None], list[PaymentCandidate]] = {}
    for one in every:
        payment = one.found.value
        if one.features.get("prose") and payment.amount is None:
            continue
        kind = PaymentMethod.CARD if payment.method in CARDS else payment.method
        grouped.setdefault((kind, payment.amount), []).append(one)
    found = [
        _Mention(tuple(rows), kind, amount)
        for (kind, amount), rows in grouped.items()
        if not _repeats_another(kind, amount, rows, grouped)
    ]
    # A printed amount is better evidence than one that is implied.
    return sorted(_with_own_kinds(found), key=lambda mention: mention.amount is None)


def _with_own_kinds(mentions: Sequence[_Mention]) -> list[_Mention]:
    """Return the mentions; two kinds of cards, each with an amount, are two cards."""
    kinds: dict[int, PaymentMethod] = {}
    for place, mention in enumerate(mentions):
        named = {row.found.value.method for row in mention.rows} & {*CARDS[1:]}
        if mention.amount is not None and len(named) == 1:
            kinds[place] = named.pop()
    if len(set(kinds.values())) < len(CARDS[1:]):
        return list(mentions)
    return [
        replace(mention, method=kinds[place], is_own=True) if place in kinds else mention
        for place, mention in enumerate(mentions)
    ]


def _repeats_another(
    kind: PaymentMethod,
    amount: Decimal | None,
    rows: Sequence[PaymentCandidate],
    grouped: Collection[tuple[PaymentMethod, Decimal | None]],
) -> bool:
    """Return whether a sum that was received, `Valor recebido`, has a method in another row."""
    is_sum = kind is PaymentMethod.CASH and all(one.features.get("total_label") for one in rows)
    return is_sum and any(other != kind and same == amount for other, same in grouped)


def _last4(every: Sequence[PaymentCandidate]) -> list[PaymentCandidate]:
    """Return the rows with the last digits of a card, those of loyalty cards last."""
    with_digits = [one for one in every if one.found.value.last4]
    return sorted(with_digits, key=lambda one: (one.features["loyalty"], not one.features["named"]))


def _sets(mentions: Sequence[_Mention], sums: _Sums) -> Iterator[tuple[_Mention, ...]]:
    priced = [mention for mention in mentions if mention.amount is not None]
    equal = list(_equal_parts(priced, sums))
    yield from equal
    split = [parts[0].amount for parts in equal]
    for mention in mentions:
        if mention.amount is None or mention.amount not in split:
            yield (mention,)
    if sums.total is None:
        return
    for count in range(2, min(len(priced), _MOST_PARTS) + 1):
        for some in combinations(priced, count):
            whole = sum((mention.amount or Decimal(0) for mention in some), Decimal(0))
            backs = [Decimal(0), *sums.change]
            if any(_is_total(whole - back, sums) for back in backs):
                yield some


def _equal_parts(priced: Sequence[_Mention], sums: _Sums) -> Iterator[tuple[_Mention, ...]]:
    """Yield rows with the same amount as separate payments if they make up the total."""
    for mention in priced:
        named = [row for row in mention.rows if row.features["named"]]
        whole = (mention.amount or Decimal(0)) * len(named)
        if 1 < len(named) <= _MOST_PARTS and _is_total(whole, sums):
            yield tuple(
                _Mention((row,), row.found.value.method, mention.amount, is_own=True)
                for row in named
            )


def _is_total(amount: Decimal, sums: _Sums) -> bool:
    if sums.total is None:
        return False
    totals = [sums.total, *(sums.total + rounding for rounding in sums.roundings)]
    return any(abs(amount - total) <= _CENT / 2 for total in totals)


def _is_nearly(amount: Decimal, sums: _Sums) -> bool:
    """Return whether an amount is the total, which cash may round to the next coin."""
    is_near = sums.total is not None and abs(amount - sums.total) <= _MOST_ROUNDING
    return is_near or _is_total(amount, sums)


def _variants(
    some: Sequence[_Mention],
    mentions: Sequence[_Mention],
    every: Sequence[PaymentCandidate],
    last4: Sequence[PaymentCandidate],
    sums: _Sums,
) -> Iterator[Option[Payments]]:
    """Yield the payments of some mentions, with each kind of card that the document names."""
    cards = [mention for mention in some if mention.method in CARDS]
    for kind in _kinds(cards, every):
        payments = tuple(_payment(mention, some, kind, last4, sums) for mention in some)
        features = _features(some, payments, mentions, sums)
        yield Option(payments, features | _kind_features(kind, cards, every))


def _kinds(cards: Sequence[_Mention], every: Sequence[PaymentCandidate]) -> Sequence[PaymentMethod]:
    if not cards:
        return (PaymentMethod.CARD,)
    if cards[0].is_own:
        return (cards[0].method,)
    kinds = [PaymentMethod.CARD]
    if any(one.features.get("debit") for one in every):
        kinds.append(PaymentMethod.DEBIT_CARD)
    if any(one.features.get("credit") for one in every):
        kinds.append(PaymentMethod.CREDIT_CARD)
    return kinds


def _kind_features(
    kind: PaymentMethod, cards: Sequence[_Mention], every: Sequence[PaymentCandidate]
) -> dict[str, float]:
    """Return how the kind of a card agrees with what its rows and the slip say."""
    if not cards:
        return {}
    own = [row for mention in cards if mention.method in (kind, CARDS[0]) for row in mention.rows]
    features: dict[str, float] = {}
    for name in ("debit", "credit"):
        is_own = any(row.features.get(name) for row in own)
        others = [one for one in every if one not in own and one.features.get(name)]
        is_near = any(not one.features.get("prose") for one in others)
        features |= {
            f"{kind}_if_own_{name}": is_own,
            f"{kind}_if_slip_{name}": not is_own and is_near,
            f"{kind}_if_prose_{name}": not is_own and not is_near and bool(others),
        }
    return features | {f"kind_{kind}": 1}


def _payment(
    mention: _Mention,
    some: Sequence[_Mention],
    kind: PaymentMethod,
    last4: Sequence[PaymentCandidate],
    sums: _Sums,
) -> Extracted[Payment]:
    found = mention.first.found
    method = kind if mention.method in CARDS and not mention.is_own else mention.method
    amount, tendered = mention.amount, None
    if amount is None:
        amount = sums.total
    elif _gives_change(mention, some):
        others = sum((one.amount or Decimal(0) for one in some if one is not mention), Decimal(0))
        back = next((b for b in sums.change if _is_nearly(others + amount - b, sums)), None)
        is_cash = mention.method is PaymentMethod.CASH
        if back is not None:
            amount, tendered = amount - back, amount
        elif sums.is_change_printed and not sums.change and is_cash:
            tendered = amount
        elif is_cash and len(some) == 1 and _is_above_total(amount, sums):
            amount, tendered = sums.total, amount
    digits = _digits(mention, some, last4)
    return replace(found, value=Payment(method, amount, tendered, digits))


def _is_above_total(amount: Decimal, sums: _Sums) -> bool:
    """Return whether cash is more than the total, but not so much more that it is misread."""
    return sums.total is not None and sums.total < amount <= _MUCH * sums.total


def _digits(
    mention: _Mention, some: Sequence[_Mention], last4: Sequence[PaymentCandidate]
) -> str | None:
    """Return the last digits of the card: in its rows, else in the first row below them."""
    own = [row.found.value.last4 for row in mention.rows if row.found.value.last4]
    is_card = mention.method in CARDS
    is_only = mention.method is PaymentMethod.VOUCHER and len(some) == 1
    if own or not (is_card or is_only):
        return own[0] if own else None
    of_others = {row.row for one in some if one is not mention for row in one.rows}
    free = [one for one in last4 if one.row not in of_others]
    # Several cards have their digits below each of them; a single one may have them above.
    are_several = sum(one.method in CARDS for one in some) > 1
    below = (one for one in free if one.row > mention.first.row)
    found = below if are_several else free
    return next((one.found.value.last4 for one in found), None)


def _gives_change(mention: _Mention, some: Sequence[_Mention]) -> bool:
    """Return whether the change is that of a payment: of the cash, if there is any."""
    is_cash = mention.method is PaymentMethod.CASH
    return is_cash or all(one.method is not PaymentMethod.CASH for one in some)


def _has_change(payment: Payment) -> bool:
    return payment.tendered is not None and payment.tendered != payment.amount


def _is_after_total(row: PaymentCandidate, sums: _Sums) -> bool:
    """Return whether a row is below a labelled total, or below the chosen one."""
    if row.features.get("after_total"):
        return True
    total, found = sums.total_found, row.found
    if total is None or total.box is None or found.box is None:
        return False
    return (found.page, found.box.y0) > (total.page, total.box.y1 - total.box.height / 2)


def _features(
    some: Sequence[_Mention],
    payments: Payments,
    mentions: Sequence[_Mention],
    sums: _Sums,
) -> dict[str, float]:
    whole = sum((payment.value.amount or Decimal(0) for payment in payments), Decimal(0))
    priced = [mention for mention in mentions if mention.amount is not None]
    used = {mention.amount for mention in some} | {payment.value.amount for payment in payments}
    used |= {whole}
    rows = [row for mention in some for row in mention.rows]
    method = payments[0].value.method
    family = "card" if method in CARDS else method.value
    is_implied = any(mention.amount is None for mention in some)
    features: dict[str, float] = {
        "always": 1,
        "more": len(some) - 1,
        "is_total": _is_nearly(whole, sums),
        "off_total": sums.total is not None and not _is_nearly(whole, sums),
        "below_total": sums.total is not None and whole < sums.total - _MOST_ROUNDING,
        "no_total": sums.total is None,
        "implied": is_implied,
        "invoice": sums.is_invoice,
        "invoice_implied": sums.is_invoice and is_implied,
        "implied_first": is_implied and any(row.features.get("first") for row in rows),
        "implied_paid_by": is_implied and any(row.features.get("paid_by") for row in rows),
        "implied_authorized": is_implied
        and any(row.features.get("authorized") and _is_after_total(row, sums) for row in rows),
        "implied_after_total": is_implied and any(_is_after_total(row, sums) for row in rows),
        "implied_last4": is_implied and any(payment.value.last4 for payment in payments),
        "much": sums.total is not None and whole > 2 * sums.total,
        "tendered_much": any(
            (payment.value.tendered or 0) > _MUCH * (payment.value.amount or 0)
            for payment in payments
        ),
        "no_change": not sums.change and any(_has_change(payment.value) for payment in payments),
        "implied_but_priced": bool(priced) and is_implied,
        "left_out": min(sum(mention.amount not in used for mention in priced), 3),
        "tendered": any(payment.value.tendered is not None for payment in payments),
        "change_unused": bool(sums.change)
        and all(payment.value.tendered is None for payment in payments),
        "repeated": min(len(rows) - len(some), _MOST_REPEATED),
        "last4": any(payment.value.last4 for payment in payments),
        family: 1,
        "other_family": len({mention.method for mention in priced}) > len(some),
    }
    for name in (*_ANY, *_ALL):
        of_rows = max if name in _ANY else min
        best = [of_rows(row.features.get(name, 0.0) for row in mention.rows) for mention in some]
        features[f"own_{name}"] = sum(best) / len(best)
    return features
