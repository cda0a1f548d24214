"""Finds the rows that say how a document was paid: method, amount, last digits of the card."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Self

from recibo.extract.candidates import PaymentCandidate
from recibo.extract.fields.labelled_amounts import Entry, Role
from recibo.extract.layout import headings
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, Payment, PaymentMethod
from recibo.extract.text import dates, lexicon, tables
from recibo.extract.text.numbers import Number
from recibo.extract.text.phrases import Phrase, Phrasebook

_METHODS = {
    "paid_pix": PaymentMethod.PIX,
    "paid_credit": PaymentMethod.CREDIT_CARD,
    "paid_debit": PaymentMethod.DEBIT_CARD,
    "paid_voucher": PaymentMethod.VOUCHER,
    "paid_wallet": PaymentMethod.WALLET,
    "paid_check": PaymentMethod.CHECK,
    "paid_transfer": PaymentMethod.BANK_TRANSFER,
    "paid_cash": PaymentMethod.CASH,
    "paid_card": PaymentMethod.CARD,
    "paid_other": PaymentMethod.OTHER,
}
_CARDS = (PaymentMethod.CARD, PaymentMethod.CREDIT_CARD, PaymentMethod.DEBIT_CARD)
# Without a total, `NET AMOUNT` is one.
_SUMS = ((Role.TOTAL, Role.PAYABLE), (Role.SUM,))
# A note on the card may be left of the sums: `Mastercard ending 4417    VAT 20%  54.38`.
_NOT_PAID = (Role.COUNT, Role.TAX, Role.SUBTOTAL, Role.DISCOUNT, Role.CHARGE)
# Phrases that contain the name of a method: `credit note`, `cash bill`.
_NO_METHOD = "no_payment"
# The last four digits of a card, after masked digits or the words "ending in".
_MASKED = re.compile(
    r"(?P<before>[A-Za-z]*)\W{0,3}?(?:[*xX•·.#×●★☆\u4e00-\u9fff]\s?-?){3,}\s?-?(?P<digits>[0-9]{4})(?![0-9])"
)
_AFTER_ENDING = re.compile(r"\W{1,4}([0-9]{3,4})(?![0-9])")
# Of a long mask OCR may read a single sign; only next to the name of a card are these its digits.
_NEARLY_MASKED = re.compile(r"[*•·×●]\s?(?P<digits>[0-9]{4})(?:\W*$|\s\D{0,4}\d+[.,]\d\d\b)")
# `Visa - 6630`, `VISA xx6630`, `VISA ACCT 6630`, and before an amount `Visa 6630 12.50`.
_AFTER_BRAND = re.compile(
    r"(?i:\s?(?:[-\u2013…]|[x*•.]{2,}|acct\W?)\s?|\s(?=\d{4}\s\D{0,3}\d+[.,]\d\d))([0-9]{4})(?![\d.,])"
)
# The number of a terminal or a merchant is masked too.
_OF_TERMINAL = frozenset({"tid", "mid", "terminal", "merchant"})
# To whom a Pix is sent: a tax id, an address, a telephone; https://www.bcb.gov.br/pix
_PIX_KEY = re.compile(r"\d\.\d{3}/\d{4}-\d\d|\d\.\d{3}-\d\d(?!\d)|\w@\w|\d{4,5}[ -]\d{4}(?!\d)")
# `Visa final 0418, 3x de R$ 281,93`
_INSTALMENT = re.compile(r"\b\d{1,2}\s?[xX×]\s(?:de|of|von|di)\s\W{0,3}(?:R\$\s?)?$")
# The Dutch pay by `pin`; in India it is a postal code.
_POSTAL_CODE = re.compile(r"\b(?i:pin)\W{0,3}[1-9]\d{2}\s?\d{3}(?!\d)")
# Running text mentions methods too.
_MOST_LETTERS = 26
_MOST = Decimal(10) ** 9
# A row with only an amount has no words except a currency symbol.
_LONGEST_SYMBOL = 3
# Below their labels are at most a payment and its change.
_MOST_BELOW = 2
# A row that names more methods lists those that are accepted.
_MOST_METHODS = 2


def payment_candidates(
    rows: Sequence[Row], entries: Sequence[Entry]
) -> tuple[PaymentCandidate, ...]:
    """Return the rows that mention a method of payment, with the amount that belongs to it."""
    by_row: dict[int, list[Entry]] = {}
    for entry in entries:
        by_row.setdefault(entry.row.index, []).append(entry)
    page = _Page.of(rows, entries)
    return tuple(
        candidate for row in rows for candidate in _of_row(row, by_row.get(row.index, []), page)
    )


@dataclass(frozen=True, slots=True)
class _Page:
    """The rows of a document, and what they say about payments as a whole."""

    rows: Sequence[Row]
    #: The index of the first row with a total; after the last row without one.
    first_total: int
    #: Rows with the change, in which there is an amount.
    change: Sequence[Entry]
    #: The indexes of rows with the cash given.
    tendered: frozenset[int]
    #: Whether a slip says that a card was authorized.
    is_authorized: bool

    @classmethod
    def of(cls, rows: Sequence[Row], entries: Sequence[Entry]) -> Self:
        by_role = ([one.row.index for one in entries if one.role in role] for role in _SUMS)
        totals = next(filter(None, by_role), [])
        slips = lexicon.wordbook("card_slip")
        return cls(
            rows=rows,
            first_total=min(totals, default=len(rows)),
            change=[entry for entry in entries if entry.role is Role.CHANGE and entry.amount.value],
            tendered=frozenset(entry.row.index for entry in entries if entry.role is Role.CASH),
            is_authorized=any(slips.find(row.text) for row in rows),
        )

    def is_tendered(self, row: Row) -> bool:
        """Return whether a row has only an amount, and the change is in the next row."""
        return (
            row.index > self.first_total
            and any(back.row.index == row.index + 1 for back in self.change)
            and row.index + 1 not in self.tendered
            and _letters(row.text) <= _LONGEST_SYMBOL
        )


def _of_row(row: Row, entries: Sequence[Entry], page: _Page) -> Iterator[PaymentCandidate]:
    if _is_none(row):
        return
    phrases = _methods(row.text)
    if not phrases and (_NO_METHOD in _book().kinds(row.text) or _POSTAL_CODE.search(row.text)):
        return
    cards = [phrase for phrase in phrases if _METHODS[phrase.kind] in _CARDS]
    digits = _last4(row.text, cards)
    roles = {entry.role for entry in entries if not _is_of_table(entry, entries)}
    is_tendered = page.is_tendered(row)
    is_named = bool(phrases or digits or is_tendered or roles & {Role.CASH, Role.CARD})
    if Role.CHANGE in roles:
        # `CASH 20.00  CHANGE 7.10` in one row.
        entries = [entry for entry in entries if entry.role in (Role.CASH, Role.CARD)]
        is_named = bool(entries)
    if not is_named:
        return
    amount = _whole_amount(row, entries)
    if amount is None and any(row.is_money(each) and not each.value for each in row.amounts):
        # `Credits 0.00`: this is not how it was paid.
        return
    below = None
    if amount is None and phrases:
        below = _amount_below(row, page.rows)
        names = [row.text[phrase.start : phrase.end] for phrase in phrases]
        if below is None and all(map(lexicon.wordbook("receipt_title").is_all, names)):
            # `Bon 60358`: a voucher in Polish, a receipt in German.
            return
    known = [_METHODS[phrase.kind] for phrase in _behind_label(phrases, row.text)]
    if amount is None and below is None and len(set(known)) > _MOST_METHODS:
        return
    if not known:
        is_cash = Role.CASH in roles or (is_tendered and not digits)
        known = [PaymentMethod.CASH if is_cash else PaymentMethod.CARD]
    method = _specific(known)
    outside = _letters_outside(row, phrases, amount)
    found = amount or (below[1] if below else None)
    value = abs(found.value) if found else None
    box = row.box(found.start, found.end) if amount and found else row.line.box
    features = {
        "named": bool(phrases),
        "tendered_label": not phrases and Role.CASH in roles,
        "above_change": is_tendered,
        "paid_by": bool(lexicon.wordbook("paid_by").find(row.text)),
        "to_be_paid": bool(lexicon.wordbook("to_be_paid").find(row.text)),
        "after_total": row.index > page.first_total,
        "authorized": page.is_authorized,
        "below": below is not None,
        "prose": outside > _MOST_LETTERS,
        "words": min(outside / _MOST_LETTERS, 2),
        "first": bool(phrases) and not row.text[: phrases[0].start].strip(" -*.:#"),
        "debit": PaymentMethod.DEBIT_CARD in known,
        "credit": PaymentMethod.CREDIT_CARD in known,
        "loyalty": bool(lexicon.wordbook("loyalty").find(row.text)),
        "slip": bool(lexicon.wordbook("card_slip").find(row.text)),
        "total_label": bool(roles & {Role.TOTAL, Role.PAYABLE}),
        "many": len(set(known)) > _MOST_METHODS,
    }
    payment = Payment(method, value, None, digits)
    text = row.text if not below else f"{row.text}\n{below[0].text}"
    yield PaymentCandidate(Extracted(payment, 0.5, text, row.line.page, box), row.index, features)


def _behind_label(phrases: Sequence[Phrase], text: str) -> Sequence[Phrase]:
    """Return the names behind a label: `RECEBIDO EM 18/02/2026  FORMA: CARTAO DEB`."""
    label = next(iter(lexicon.wordbook("paid_by").find(text)), None)
    return [one for one in phrases if label and one.start >= label.end] or phrases


def _methods(text: str) -> list[Phrase]:
    """Return the names of methods in a text."""
    return [
        phrase
        for phrase in _book().find(text)
        if phrase.kind != _NO_METHOD
        and not _is_currency(text[phrase.start : phrase.end])
        and not _POSTAL_CODE.match(text, phrase.start)
    ]


def _is_none(row: Row) -> bool:
    """Return whether a row says how to pay, has headings, or begins as that of another amount.

    `Card surcharge 1.35% (Visa)  8.76`, `Data  Histórico  Débito  Crédito`
    """
    first = next(iter(_book().find(row.text)), None)
    if first is not None and first.kind == _NO_METHOD and not first.start:
        return True
    if first is not None and headings.is_heading(row):
        return True
    return not any(map(row.is_money, row.amounts)) and _says_how_to_pay(row)


def _says_how_to_pay(row: Row) -> bool:
    """Return whether a row lists what is accepted, or the key that a Pix is sent to."""
    if lexicon.wordbook("paid_pix").find(row.text) and _PIX_KEY.search(row.text):
        return True
    return bool(lexicon.wordbook("accepted").find(row.text))


def _is_currency(text: str) -> bool:
    """Return whether a text is the code of a currency: `PLN` looks like a misread `PIN`."""
    return text in tables.currencies()


def _is_of_table(entry: Entry, entries: Sequence[Entry]) -> bool:
    """Return whether an amount is one of many below headings, such as the credit of a tax."""
    return entry.is_below and len(entries) > _MOST_BELOW


def _specific(known: Sequence[PaymentMethod]) -> PaymentMethod:
    """Return the method of several names in a row: `Card` is the vaguest."""
    exact = [method for method in known if method is not PaymentMethod.CARD]
    return exact[0] if exact else known[0]


def _whole_amount(row: Row, entries: Sequence[Entry]) -> Number | None:
    """Return the amount of a row unless it is an instalment: what was paid is the total."""
    amount = _amount(row, entries)
    is_part = amount is not None and _INSTALMENT.search(row.text[: amount.start]) is not None
    return None if is_part else amount


def _amount(row: Row, entries: Sequence[Entry]) -> Number | None:
    """Return the last amount of a row."""
    # Without minor digits, the numbers of a day look like amounts.
    days = [range(day.start, day.end) for day in dates.days(row.text)]
    money = [
        entry.amount
        for entry in entries
        if (row.is_money(entry.amount) or _is_grouped(row, entry.amount))
        and not any(entry.amount.start in day for day in days)
        and not (entry.role in _NOT_PAID or entry.amount.has_unit)
        and 0 < abs(entry.amount.value) < _MOST
    ]
    return money[-1] if money else None


def _is_grouped(row: Row, amount: Number) -> bool:
    """Return whether an amount without minor digits has groups of thousands."""
    is_grouped = any(sign in ".," for sign in row.text[amount.start : amount.end])
    return is_grouped and not (amount.decimals or amount.is_percent)


def _amount_below(row: Row, rows: Sequence[Row]) -> tuple[Row, Number] | None:
    """Return the only amount of the next row if that has no words."""
    following = rows[row.index + 1 : row.index + 2]
    if not following or following[0].line.page != row.line.page:
        return None
    money = [
        amount for amount in following[0].amounts if following[0].is_money(amount) and amount.value
    ]
    has_words = _letters(following[0].text) > _LONGEST_SYMBOL or _tips().find(following[0].text)
    return None if has_words or len(money) != 1 else (following[0], money[0])


def _last4(text: str, cards: Sequence[Phrase]) -> str | None:
    for match in _MASKED.finditer(text):
        if match["before"].casefold() not in _OF_TERMINAL:
            return match["digits"]
    for ending in lexicon.wordbook("card_ending").find(text):
        if digits := _AFTER_ENDING.match(text, ending.end):
            return digits[1]
    for card in cards:
        if digits := _AFTER_BRAND.match(text, card.end):
            return digits[1]
    nearly = _NEARLY_MASKED.search(text) if cards else None
    return nearly["digits"] if nearly else None


def _letters_outside(row: Row, phrases: Sequence[Phrase], amount: Number | None) -> int:
    """Count the letters outside the names, up to the end of the column of the amount."""
    text = row.text
    if amount and phrases and phrases[-1].end <= amount.start:
        text = text[: row.cell_at(amount.start)[1]]
    named = sum(_letters(row.text[phrase.start : phrase.end]) for phrase in phrases)
    return _letters(text) - named


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _tips() -> Phrasebook:
    return lexicon.wordbook("tip")


@cache
def _book() -> Phrasebook:
    return lexicon.phrasebook(*_METHODS, _NO_METHOD)
