"""Tells what is nobody's name: labels, headings, thanks and salutations, and the customer."""

import re
from functools import cache

from recibo.extract.layout import headings
from recibo.extract.layout.headings import Role
from recibo.extract.text import tables
from recibo.extract.text.phrases import Phrasebook

# Two headings may be a name ("Total Service"); no seller is called by three.
_FEWEST_HEADINGS = 3
_MEASURED = frozenset({Role.QTY, Role.UNIT_PRICE, Role.TOTAL})
# A letter's first line ends so; a sign does not.
_CALLING = re.compile(r"[,:]\s*$")
_MOST_CALLED = 4
_ASIDE = re.compile(r"\s*[:\uff1a]")
# "Bill to", "Spett.le": no name begins so by chance.
_PARTED = re.compile(r"[^\W_][\s.]+[^\W_]")
_NUMBER_ASIDE = re.compile(r"[\s.]*[:\uff1a]\s*\S*\d")


def is_no_name(text: str) -> bool:
    """Tell whether all of a text is of the paper, or about its reader."""
    return (
        are_labels(text) or is_salutation(text) or names_customer(text) or _begins_with_number(text)
    )


def are_labels(text: str) -> bool:
    """Tell whether a text is made of headings of goods, titles, labels, payments or thanks alone.

    Words that only greet or title a paper may be a shop's too ("Bon Store"), so one at least is
    told by its own list.
    """
    is_said = _book("labels", "notice").is_all(text) and bool(_book("labels").find(text))
    return is_said or are_columns(text)


def are_columns(text: str) -> bool:
    """Tell whether a text is the row that heads a list of goods."""
    words = text.split()
    return (
        len(words) >= _FEWEST_HEADINGS
        and headings.are_headings(text)
        and any(headings.role_of(word) in _MEASURED for word in words)
    )


def is_salutation(text: str) -> bool:
    """Tell whether a text calls its reader: "Dear Mrs Hill"; "Dear Cafe" is a shop."""
    called = next((word for word in _book("salutations").find(text) if word.start == 0), None)
    if called is None:
        return False
    rest = text[called.end :]
    if _book("trades").find(rest):
        return False
    is_titled = any(not rest[: word.start].strip(" .") for word in _book("persons").find(rest))
    return is_titled or (_CALLING.search(text) is not None and len(text.split()) <= _MOST_CALLED)


def names_customer(text: str) -> bool:
    """Tell whether the buyer's label begins a text: "Bill to: X"; a single word with its colon."""
    label = next((word for word in _book("billed", "buyer").find(text) if word.start == 0), None)
    return label is not None and (
        _PARTED.search(text[: label.end]) is not None or _ASIDE.match(text[label.end :]) is not None
    )


def heads_customer(text: str) -> bool:
    """Tell whether a text is the buyer's label alone, so that the buyer stands below it."""
    return _book("billed", "buyer").is_all(text) and names_customer(text)


def _begins_with_number(text: str) -> bool:
    """Tell whether a text begins with a company's number or telephone: "CNPJ: 11.222"."""
    label = next((word for word in _book("contact").find(text) if word.start == 0), None)
    return label is not None and _NUMBER_ASIDE.match(text[label.end :]) is not None


@cache
def _book(*kinds: str) -> Phrasebook:
    return Phrasebook({kind: tables.merchants()[kind] for kind in kinds}, glued=False)
