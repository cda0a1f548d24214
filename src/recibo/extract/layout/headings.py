"""Finds the column headings of item tables, and the role of each column."""

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from recibo.extract import resources
from recibo.extract.layout.rows import Row
from recibo.extract.text import lexicon
from recibo.extract.text.folding import fold
from recibo.extract.text.normalized_lines import normalize_label


class Role(StrEnum):
    """The content of a column."""

    CODE = "code"
    NAME = "name"
    #: A second name column: `Activity`, `Description`.
    DETAIL = "detail"
    QTY = "qty"
    UNIT = "unit"
    UNIT_PRICE = "unit_price"
    TOTAL = "total"
    DISCOUNT = "discount"
    TAX = "tax"
    DATE = "date"
    OTHER = "other"


#: Columns of item tables; tables of taxes have the other columns too.
_DECISIVE = frozenset({Role.CODE, Role.NAME, Role.QTY, Role.UNIT_PRICE, Role.TOTAL})
_WORD = re.compile(r"[^\s|.()\[\]]+[.)]?")
#: The most words of a heading.
_LONGEST = 5
#: Headings are at least this share of the letters of their row.
_LEAST_SHARE = 0.6
#: The share if they include quantity, price and total: other columns may have any name.
_LEAST_SHARE_OF_SURE = 0.35
_SURE = frozenset({Role.QTY, Role.UNIT_PRICE, Role.TOTAL})


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and its extent in x."""

    text: str
    role: Role
    x0: float
    x1: float


@functools.cache
def _phrases() -> tuple[tuple[str, Role], ...]:
    known = resources.table("item_headings.toml")
    return tuple((phrase, Role(role)) for role, phrases in known.items() for phrase in phrases)


@functools.cache
def roles() -> Mapping[str, Role]:
    """Return the role of each heading by its normalized text; the first role that has it wins."""
    return _by_text(normalize_label)


@functools.cache
def _exact_roles() -> Mapping[str, Role]:
    return _by_text(_plain)


def _by_text(normal: Callable[[str], str]) -> Mapping[str, Role]:
    known: dict[str, Role] = {}
    for phrase, role in _phrases():
        known.setdefault(normal(phrase), role)
    known.pop("", None)
    return known


def _plain(text: str) -> str:
    return "".join(sign for sign in fold(text) if sign.isalnum())


@functools.lru_cache(maxsize=8192)
def role_of(text: str) -> Role | None:
    """Return the role of a heading, an exact match first: `DTO` is not a misread `QTD`."""
    return _exact_roles().get(_plain(text)) or roles().get(normalize_label(text))


def read(row: Row) -> list[Heading]:
    """Return the headings in a row from left to right, the longest ones that match."""
    words = list(_WORD.finditer(row.text))
    found: list[Heading] = []
    index = first = last = 0
    while index < len(words):
        length, role = _longest(row.text, words[index : index + _LONGEST])
        if found and _is_bracketed(row.text[last : words[index].end()]):
            last = words[index].end()
            found[-1] = replace(found[-1], x1=row.x_at(last - 1) + row.height * 0.4)
        elif role is not None:
            start, end = words[index].start(), words[index + length - 1].end()
            is_rest = bool(found) and role is Role.TAX and _is_qualifier(row.text[last:end])
            first = first if is_rest else start
            x0, x1 = row.x_at(first), row.x_at(end - 1) + row.height * 0.4
            whole = Heading(row.text[first:end], found.pop().role if is_rest else role, x0, x1)
            found.append(whole)
            last = end
        index += length
    return found


def _is_bracketed(text: str) -> bool:
    """Return whether a word is in brackets after a heading, mostly a currency: `Rate (N)`."""
    return re.fullmatch(r"\)? ?\([^\s()]+\)", text) is not None


def _is_qualifier(text: str) -> bool:
    """Return whether a tax only qualifies the heading before it: `incl. VAT`, `s DPH`."""
    return "\t" not in text and bool(lexicon.wordbook("including", "excluding").find(text))


def are_headings(text: str) -> bool:
    """Return whether a text consists only of headings."""
    words = list(_WORD.finditer(text))
    index = 0
    while index < len(words):
        length, role = _longest(text, words[index : index + _LONGEST])
        if role is None:
            return False
        index += length
    return index > 1


def _longest(text: str, words: list[re.Match[str]]) -> tuple[int, Role | None]:
    """Return how many of the words are one heading, and its role; 1 and None if none are."""
    for length in range(len(words), 0, -1):
        phrase = text[words[0].start() : words[length - 1].end()]
        if "\t" not in phrase and "|" not in phrase and (role := role_of(phrase)):
            return length, role
    return 1, None


def is_heading(row: Row) -> bool:
    """Return whether a row is the heading of an item table: two decisive columns, little else."""
    if any(figure.is_money for figure in row.numbers):
        return False
    found = read(row)
    roles_found = {heading.role for heading in found}
    covered = sum(sum(sign.isalpha() for sign in heading.text) for heading in found)
    # Tables of taxes have rates, amounts and codes too, but neither names nor quantities.
    is_summary = Role.TAX in roles_found and not roles_found & {Role.NAME, Role.QTY}
    share = _LEAST_SHARE_OF_SURE if roles_found >= _SURE else _LEAST_SHARE
    return len(roles_found & _DECISIVE) > 1 and covered >= share * row.letters and not is_summary
