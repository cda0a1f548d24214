"""The headings over goods: which words head a column, and of what."""

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from recibo.extract import resources
from recibo.extract.layout.item_rows import Row
from recibo.extract.text.folding import fold
from recibo.extract.text.squeezed import squeeze


class Role(StrEnum):
    """What stands in a column."""

    CODE = "code"
    NAME = "name"
    #: A second name beside the first: `Activity`, `Description`.
    DETAIL = "detail"
    QTY = "qty"
    UNIT = "unit"
    UNIT_PRICE = "unit_price"
    TOTAL = "total"
    DISCOUNT = "discount"
    TAX = "tax"
    DATE = "date"
    OTHER = "other"


#: Columns that lists of goods have; the others stand in summaries of taxes too.
_DECISIVE = frozenset({Role.CODE, Role.NAME, Role.QTY, Role.UNIT_PRICE, Role.TOTAL})
_WORD = re.compile(r"[^\s|.()\[\]]+[.)]?")
#: No heading has more words than this.
_LONGEST = 5
#: Headings make up this share of the letters of their row.
_LEAST_SHARE = 0.6
#: With a quantity, a price and a total among them so much is enough: the others have any name.
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
    """Return the role of each heading by its squeezed text; the first role that claims it wins."""
    return _by_text(squeeze)


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
    """Return the role of a heading, as printed if it is known so: `DTO` is no misread `QTD`."""
    return _exact_roles().get(_plain(text)) or roles().get(squeeze(text))


def read(row: Row) -> list[Heading]:
    """Return the headings in a row from left to right, the longest that fit."""
    words = list(_WORD.finditer(row.text))
    found: list[Heading] = []
    index = 0
    while index < len(words):
        length, role = _longest(row.text, words[index : index + _LONGEST])
        if role is not None:
            start, end = words[index].start(), words[index + length - 1].end()
            x0, x1 = row.x_at(start), row.x_at(end - 1) + row.height * 0.4
            found.append(Heading(row.text[start:end], role, x0, x1))
        index += length
    return found


def are_headings(text: str) -> bool:
    """Tell whether a text is made of headings alone."""
    words = list(_WORD.finditer(text))
    index = 0
    while index < len(words):
        length, role = _longest(text, words[index : index + _LONGEST])
        if role is None:
            return False
        index += length
    return index > 1


def _longest(text: str, words: list[re.Match[str]]) -> tuple[int, Role | None]:
    """Return how many of the words make one heading, and its role; 1 and None if none do."""
    for length in range(len(words), 0, -1):
        phrase = text[words[0].start() : words[length - 1].end()]
        if "\t" not in phrase and "|" not in phrase and (role := role_of(phrase)):
            return length, role
    return 1, None


def is_heading(row: Row) -> bool:
    """Tell whether a row heads a list of goods: two decisive columns, and little else."""
    if any(figure.is_money for figure in row.figures):
        return False
    found = read(row)
    roles_found = {heading.role for heading in found}
    covered = sum(sum(sign.isalpha() for sign in heading.text) for heading in found)
    # Summaries of taxes have rates, amounts and codes too, but neither names nor quantities.
    is_summary = Role.TAX in roles_found and not roles_found & {Role.NAME, Role.QTY}
    share = _LEAST_SHARE_OF_SURE if roles_found >= _SURE else _LEAST_SHARE
    return len(roles_found & _DECISIVE) > 1 and covered >= share * row.letters and not is_summary
