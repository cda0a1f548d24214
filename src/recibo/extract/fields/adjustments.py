"""Finds the amounts between items and payment: discount, tip, service charge, rounding."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract.candidates import AmountCandidate
from recibo.extract.fields import labelled_amounts
from recibo.extract.fields.labelled_amounts import Entry, Role
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.text import lexicon
from recibo.extract.text.folding import fold
from recibo.extract.text.numbers import Number
from recibo.extract.text.phrases import Phrase

_TOTALS = (Role.PAYABLE, Role.TOTAL)
_PAYMENTS = (Role.CASH, Role.CHANGE, Role.CARD)
# Negative amounts of these roles are not discounts.
_NO_DISCOUNT = {Role.ROUNDING, Role.TAX, *_TOTALS, *_PAYMENTS}
_MOST = Decimal(10) ** 9
# A rounding is smaller than the largest coin.
_MOST_ROUNDING = Decimal(1)
# Of amounts without decimals: Hungarian ones are rounded to 5 forints, Chilean to 10 pesos,
# Indonesian to 100 rupiah, which is no share of the sums.
_MOST_WHOLE_ROUNDING, _LARGEST_COIN, _SHARE = Decimal(5), Decimal(100), Decimal("0.001")
_MANY_LETTERS = 20
_MOST_LETTERS = 45
# Before an amount: it is subtracted.
_MINUS = "(-)"
_MOST_CANDIDATES = 12
# Shorter words are in too many others.
_LONG_WORD = 5
_SEVERAL = 2
# A sum has these features if all of its rows do.
_FEATURES_OF_ALL = ("negative", "before_total")


@dataclass(frozen=True, slots=True)
class Adjustments:
    """The candidates for each amount."""

    discounts: tuple[AmountCandidate, ...]
    tips: tuple[AmountCandidate, ...]
    service_charges: tuple[AmountCandidate, ...]
    roundings: tuple[AmountCandidate, ...]
    #: Advances and withheld taxes, which are subtracted from the total.
    withheld: tuple[Extracted[Decimal], ...]


@dataclass(frozen=True, slots=True)
class _Page:
    """The rows of a document and where its sums are."""

    rows: Sequence[Row]
    roles: dict[int, set[Role]]
    #: Indexes of rows; None without one.
    first_subtotal: int | None
    last_total: int | None
    first_payment: int | None
    suggested: frozenset[int]


def adjustments(rows: Sequence[Row], entries: Sequence[Entry]) -> Adjustments:
    """Return the candidates for the amounts that change what is paid."""
    page = _page(rows, entries)
    by_role = {
        role: [entry for entry in entries if entry.role is role and entry.amount.value]
        for role in (Role.DISCOUNT, Role.ROUNDING)
    }
    named = {entry.row.index for entry in by_role[Role.DISCOUNT]}
    sums = lexicon.phrasebook("discount_sum")
    discounts = [
        *(
            _candidate(
                entry.row,
                entry.amount,
                page,
                named=1,
                summed=bool(sums.find(entry.row.text)),
                begins=_begins(entry.row, entry.row.labels),
            )
            for entry in by_role[Role.DISCOUNT]
            if _is_money(entry.row, entry.amount)
            and not (_is_prose(entry) or _is_withheld(entry.row) or _is_offered(entry.row))
            and (entry.amount.value < 0 or not entry.row.has_negative())
        ),
        *_of_phrase("discount_sum", page, summed=1, without=named),
        *_negative(page, without=named),
    ]
    discounts += _summed(discounts)
    return Adjustments(
        discounts=tuple(_positive(discounts))[:_MOST_CANDIDATES],
        tips=tuple(_beginning(_of_phrase("tip", page)))[:_MOST_CANDIDATES],
        service_charges=tuple(_beginning(_of_phrase("service_charge", page)))[:_MOST_CANDIDATES],
        roundings=tuple(_signed(by_role[Role.ROUNDING], page))[:_MOST_CANDIDATES],
        withheld=tuple(_withheld(page))[:_MOST_CANDIDATES],
    )


def _summed(discounts: Sequence[AmountCandidate]) -> Iterator[AmountCandidate]:
    """Yield the sum of several rows that subtract a discount."""
    rows = [
        one
        for one in discounts
        if one.found.value < 0 and (one.features.get("word") or one.features.get("named"))
    ]
    if len(rows) < _SEVERAL or len({one.row for one in rows}) < len(rows):
        return
    value = sum((one.found.value for one in rows), Decimal(0))
    text = "\n".join(one.found.text for one in rows)
    shared = {name: min(one.features.get(name, 0) for one in rows) for name in _FEATURES_OF_ALL}
    found = replace(rows[0].found, value=value, text=text)
    yield AmountCandidate(found, rows[-1].row, shared | {"sum_of_rows": 1})


def _beginning(candidates: Iterator[AmountCandidate]) -> Iterator[AmountCandidate]:
    """Yield the candidates at the start of their row with no other amount: others are items."""
    return (
        one
        for one in candidates
        if one.features["begins"] and not one.features["several"] and not one.features["is_tax"]
    )


def _signed(entries: Sequence[Entry], page: _Page) -> Iterator[AmountCandidate]:
    """Yield the roundings as printed, and with a minus that may be missing."""
    sums = (abs(one.value) for row in page.rows for one in row.amounts if row.is_money(one))
    most = max(_MOST_WHOLE_ROUNDING, min(_LARGEST_COIN, max(sums, default=0) * _SHARE))
    for entry in entries:
        if not _is_money_if_any(entry):
            continue
        value = entry.amount.value
        is_small = abs(value) < _MOST_ROUNDING
        if is_small or (not entry.amount.decimals and abs(value) <= most):
            yield _candidate(entry.row, entry.amount, page)
            if value > 0:
                negative = entry.amount.negative
                is_marked = _MINUS in entry.row.text[: entry.amount.start]
                yield _candidate(entry.row, negative, page, flipped=1, marked=is_marked)


def _is_money_if_any(entry: Entry) -> bool:
    """Return whether an amount is money if its row has any: `Round of drafts  0.5  340.00`."""
    row = entry.row
    return row.is_money(entry.amount) or not any(map(row.is_money, row.amounts))


def _page(rows: Sequence[Row], entries: Sequence[Entry]) -> _Page:
    roles: dict[int, set[Role]] = {}
    for entry in entries:
        roles.setdefault(entry.row.index, set()).add(entry.role)
    subtotals = [index for index, own in roles.items() if Role.SUBTOTAL in own]
    totals = [index for index, own in roles.items() if own & set(_TOTALS)]
    paid = [index for index, own in roles.items() if own & set(_PAYMENTS)]
    return _Page(
        rows=rows,
        roles=roles,
        first_subtotal=min(subtotals, default=None),
        last_total=max(totals, default=None),
        first_payment=min(paid, default=None),
        suggested=labelled_amounts.suggestions(rows),
    )


def _of_phrase(
    role: str, page: _Page, *, without: frozenset[int] | set[int] = frozenset(), **features: float
) -> Iterator[AmountCandidate]:
    """Yield the last amount of each row that has a phrase of a role."""
    book = lexicon.wordbook(role)
    for row in page.rows:
        if not row.amounts or row.index in page.suggested or row.index in without:
            continue
        phrases = book.find(row.text)
        money = [amount for amount in row.amounts if _is_money(row, amount) and amount.value]
        if not phrases or not money:
            continue
        after = [amount for amount in money if amount.start >= phrases[0].start]
        yield _candidate(row, (after or money)[-1], page, begins=_begins(row, phrases), **features)


def _is_prose(entry: Entry) -> bool:
    """Return whether there is much text in the row, from the cell with the label on."""
    row = entry.row
    labels = [one.start for one in row.labels if one.kind == Role.DISCOUNT.value]
    start, _ = row.cell_at(max(labels, default=0))
    return sum(map(str.isalpha, row.text[start:])) > _MOST_LETTERS


def _is_offered(row: Row) -> bool:
    """Return whether a row says what is off if it is paid soon: `2 % Skonto (62,71)`."""
    return bool(lexicon.wordbook("conditional").find(row.text))


def _is_withheld(row: Row) -> bool:
    """Return whether a row subtracts an advance or a tax that is withheld."""
    is_withheld = bool(lexicon.wordbook("withheld").find(row.text))
    return is_withheld and not lexicon.wordbook("discount_word").find(row.text)


def _withheld(page: _Page) -> Iterator[Extracted[Decimal]]:
    """Yield the last amount of each row that subtracts an advance or a withheld tax."""
    for row in page.rows:
        money = [one for one in row.amounts if row.is_money(one) and one.value]
        if money and _is_withheld(row) and not page.roles.get(row.index, set()) & set(_TOTALS):
            yield _candidate(row, money[-1], page).found


def _begins(row: Row, phrases: Sequence[Phrase]) -> bool:
    """Return whether a row begins with the first of some phrases, or with a rate or day and that.

    A more general word may be before it: `Acréscimos R$ (Taxa de Serviço 10%)  37,19`.
    """
    if not phrases:
        return False
    before = row.text[: phrases[0].start].strip(" -*.:#(/0123456789%")
    return not before or lexicon.wordbook("surcharge_word").is_all(before)


def _negative(page: _Page, *, without: set[int]) -> Iterator[AmountCandidate]:
    for row in page.rows:
        roles = page.roles.get(row.index, set()) & _NO_DISCOUNT
        if any(amount.is_percent for amount in row.amounts):
            # `10% MEMBER CARD -1.14`: a percentage is no payment.
            roles = roles.difference(_PAYMENTS)
        if row.index in without or roles or _is_withheld(row) or _is_offered(row):
            continue
        if lexicon.wordbook("voided").find(row.text):
            continue
        money = [amount for amount in row.amounts if row.is_money(amount) and amount.value < 0]
        for amount in money[-1:]:
            yield _candidate(row, amount, page, minus=1, word=_has_discount_word(row))


def _has_discount_word(row: Row) -> bool:
    """Return whether a word of the row names a discount, or contains a long one that does.

    A percentage with a negative amount names one too: `SR CARD 10% -1.14`.
    """
    if any(amount.is_percent for amount in row.amounts):
        return True
    words = re.findall(r"[^\W\d_]+", fold(row.text))
    return any(
        word == name or (len(name) >= _LONG_WORD and name in word)
        for word in words
        for name in lexicon.labels()["discount_word"]
    )


def _positive(candidates: Sequence[AmountCandidate]) -> Iterator[AmountCandidate]:
    for one in candidates:
        yield replace(one, found=replace(one.found, value=abs(one.found.value)))


def _is_money(row: Row, amount: Number) -> bool:
    if row.is_money(amount):
        return abs(amount.value) < _MOST
    is_grouped = any(sign in ".," for sign in row.text[amount.start : amount.end])
    return is_grouped and not (amount.decimals or amount.is_percent)


def _values(row: Row) -> set[Decimal]:
    """Return the amounts of a row, without signs and rates: `$3 off -$3.00`, `0,06/L -2,32`."""
    money = (one for one in row.amounts if row.is_money(one))
    return {abs(one.value) for one in money if not row.text.startswith("/", one.end)}


def _candidate(row: Row, amount: Number, page: _Page, **features: float) -> AmountCandidate:
    index = row.index
    roles = page.roles.get(index, set())
    letters = sum(map(str.isalpha, row.text))
    after_subtotal = page.first_subtotal is not None and index > page.first_subtotal
    before_total = page.last_total is not None and index < page.last_total
    known = {
        "after_subtotal": after_subtotal,
        "before_total": before_total,
        "between": after_subtotal and before_total,
        "after_total": page.last_total is not None and index > page.last_total,
        "after_payment": page.first_payment is not None and index > page.first_payment,
        "negative": amount.value < 0,
        "percent": any(other.is_percent for other in row.amounts),
        "several": len(_values(row)) > 1,
        "long": letters > _MANY_LETTERS,
        "is_total": bool(roles & set(_TOTALS)),
        "is_tax": Role.TAX in roles,
        "is_paid": bool(roles & set(_PAYMENTS)),
    }
    box = row.box(amount.start, amount.end)
    found = Extracted(amount.value, 0.5, row.text, row.line.page, box)
    return AmountCandidate(found, index, known | {k: float(v) for k, v in features.items()})
