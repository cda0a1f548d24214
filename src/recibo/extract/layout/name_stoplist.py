"""Detects text that is not a seller's name: labels, headings, thanks, salutations, customers."""

import re
from functools import cache

from recibo.extract.layout import headings
from recibo.extract.layout.headings import Role
from recibo.extract.text import lexicon, tables
from recibo.extract.text.phrases import Phrasebook

# Titles in wide type: `請 求 書`.
_SPACED = re.compile(
    r"(?<=[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af])\s(?=[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af])"
)
# The header of a mail: `De: Vento <recibos@vento.example>`.
_MAIL_ADDRESS = re.compile(r"<[^<>\s@]{1,64}@[^<>\s@]{1,80}")
_WEB_PAGE = re.compile(r"\w\.[a-z]{2,10}/\w", re.IGNORECASE)
# Two headings may be a name ("Total Service"); three are not.
_FEWEST_HEADINGS = 3
_MEASURED = frozenset({Role.QTY, Role.UNIT_PRICE, Role.TOTAL})
# The end of a letter's first line, unlike a shop's name.
_END_OF_SALUTATION = re.compile(r"[,:]\s*$")
_MOST_SALUTATION_WORDS = 4
_COLON = re.compile(r"\s*[:\uff1a]")
# "Bill to", "Spett.le": no name begins like this by chance.
_TWO_WORDS = re.compile(r"[^\W_][\s.]+[^\W_]")
# `Order confirmation #20447`: a number behind a sign.
_NUMBER_AT_END = re.compile(r"\s*#\s?[\w/.-]{0,30}\d[\w/.-]{0,30}$")
_CARD_WORDS = ("paid_card", "paid_credit", "paid_debit", "card_slip")
# Labels of these, with a colon, are those of a form; without one they may be a shop: `Markt`.
_NUMBERS = ("number", "other_number", "order_number")
_FORM_LABELS = (*_NUMBERS, "date", "other_date", "due_date")
_LONGEST_LABEL = 60
_COLON_AND_NUMBER = re.compile(r"[\s.]*[:\uff1a]\s*\S*\d")


def is_not_name(text: str) -> bool:
    """Return whether a text is a label, a salutation, a number or about the customer."""
    return (
        are_labels(text)
        or (_SPACED.search(text) is not None and are_labels(_SPACED.sub("", text)))
        or is_salutation(text)
        or begins_with_customer_label(text)
        or _begins_with_number(text)
        or _is_numbered(text)
        or _MAIL_ADDRESS.search(text) is not None
        or is_web_page(text)
    )


def is_web_page(text: str) -> bool:
    """Return whether a text has the address of a page: `Consulte em dfe-portal.example/NFCom`."""
    return _WEB_PAGE.search(text) is not None


def are_labels(text: str) -> bool:
    """Return whether a text consists only of item headings, titles, labels, payments or thanks.

    A shop's name may consist of greetings and titles ("Bon Store"), so at least one phrase must be
    a label.
    """
    title = _NUMBER_AT_END.sub("", text)
    is_listed = _phrasebook("labels", "notice").is_all(title) and bool(
        _phrasebook("labels").find(title)
    )
    is_listed = is_listed or _phrasebook("prefixes").is_all(text)
    is_listed = is_listed or lexicon.wordbook("invoice_title", "receipt_title").is_all(title)
    is_listed = is_listed or (":" in text and lexicon.wordbook(*_FORM_LABELS).is_all(text))
    return is_listed or are_column_headings(text) or _is_payment(text)


def _is_payment(text: str) -> bool:
    """Return whether all words are about a payment by card: `VISA CREDITO A VISTA`, `AUTH`."""
    if len(text.split()) > 1:
        return is_card(text)
    return lexicon.wordbook("card_slip").is_all(text)


def is_card(text: str) -> bool:
    """Return whether all words are about a card: `MASTERCARD`, `CREDITO A VISTA`."""
    return lexicon.wordbook(*_CARD_WORDS).is_all(text)


def is_title(text: str) -> bool:
    """Return whether a text is only the title of a document or of a letter with it."""
    return _phrasebook("titles").is_all(text)


def are_column_headings(text: str) -> bool:
    """Return whether a text is the heading row of an item table."""
    words = text.split()
    return (
        len(words) >= _FEWEST_HEADINGS
        and headings.are_headings(text)
        and any(headings.role_of(word) in _MEASURED for word in words)
    )


def is_salutation(text: str) -> bool:
    """Return whether a text is a salutation, "Dear Mrs Hill", and not a shop, "Dear Cafe"."""
    salutation = next(
        (word for word in _phrasebook("salutations").find(text) if word.start == 0), None
    )
    if salutation is None:
        return False
    rest = text[salutation.end :]
    if _phrasebook("trades").find(rest):
        return False
    is_titled = any(
        not rest[: word.start].strip(" .") for word in _phrasebook("persons").find(rest)
    )
    return is_titled or (
        _END_OF_SALUTATION.search(text) is not None and len(text.split()) <= _MOST_SALUTATION_WORDS
    )


def begins_with_customer_label(text: str) -> bool:
    """Return whether a text begins with the buyer's label, "Bill to: X"; one word needs a colon."""
    book = _phrasebook("billed", "buyer", "billed_alone")
    label = next((word for word in book.find(text) if word.start == 0), None)
    return label is not None and (
        _TWO_WORDS.search(text[: label.end]) is not None
        or _COLON.match(text[label.end :]) is not None
    )


def is_customer_label(text: str) -> bool:
    """Return whether a text is only the buyer's label, so that the buyer is below it."""
    return _phrasebook("billed", "buyer").is_all(text) and begins_with_customer_label(text)


def _is_numbered(text: str) -> bool:
    """Return whether a text is a label and a number of a document: "FACTURE N° F2026-0457"."""
    label, _, number = text.strip().rpartition(" ")
    has_digit = any(character.isdigit() for character in number)
    is_short = 0 < len(label) <= _LONGEST_LABEL
    return has_digit and is_short and lexicon.wordbook(*_NUMBERS).is_all(label)


def _begins_with_number(text: str) -> bool:
    """Return whether a text begins with a company's number or telephone: "CNPJ: 11.222"."""
    label = next((word for word in _phrasebook("contact").find(text) if word.start == 0), None)
    return label is not None and _COLON_AND_NUMBER.match(text[label.end :]) is not None


@cache
def _phrasebook(*kinds: str) -> Phrasebook:
    return Phrasebook({kind: tables.merchants()[kind] for kind in kinds}, joined=False)
