"""The words of each language: labels by role, months, frequent words.

`data/languages/` has a file for each language. docs/languages.md explains the roles, and how to
add a label or a language.
"""

import functools
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from recibo.extract import resources
from recibo.extract.text.folding import fold
from recibo.extract.text.phrases import Phrasebook

_MONTHS = "months"
# Roles that say nothing about the language of a page: names, brands and words of several languages.
_SHARED_ROLES = frozenset(
    {
        *(
            "due_date",
            "customer",
            "delivery",
            "addressed",
            "honorific",
            "tip",
            "service_charge",
            "taxable",
        ),
        *("discount_sum", "discount_word", "surcharge_word", "zero_rated", "loyalty", "no_payment"),
        *(
            "no_label",
            "signed_number",
            "card_ending",
            "voided",
            "accepted",
            "withheld",
            "tax_column",
            "currency_label",
        ),
    }
)
_PAID = "paid_"
#: The kinds of phrases with which a row may begin.
_ROW_KINDS = ("end", "on_item", "item", "final", "summary")


@cache
def labels() -> Mapping[str, tuple[str, ...]]:
    """Return the phrases of each role in all languages."""
    gathered: dict[str, list[str]] = {}
    for roles in _languages().values():
        for role, phrases in roles.items():
            gathered.setdefault(role, []).extend(phrases)
    return MappingProxyType({role: tuple(phrases) for role, phrases in gathered.items()})


@cache
def phrases_by_language() -> Mapping[str, tuple[str, ...]]:
    """Return all phrases of each language, by which the language of a page is detected."""
    return MappingProxyType(
        {
            language: tuple(
                phrase
                for role, phrases in roles.items()
                if role not in _SHARED_ROLES and not role.startswith(_PAID)
                for phrase in phrases
            )
            for language, roles in _languages().items()
        }
    )


@cache
def _words() -> tuple[str, ...]:
    """Return the words of all labels, which are no misread words."""
    texts = (text for phrases in labels().values() for text in phrases)
    return tuple({word for text in texts for word in text.split()})


@cache
def phrasebook(*roles: str) -> Phrasebook:
    """Return the phrasebook of some roles; a phrase of two roles has the first one."""
    return Phrasebook(
        {role: labels()[role] for role in roles}, repaired=labels()["repaired"], exact=_words()
    )


@cache
def wordbook(*roles: str) -> Phrasebook:
    """Return the phrasebook of some roles for running text, in which spaces are never missing."""
    return Phrasebook({role: labels()[role] for role in roles}, joined=False)


@cache
def months(*languages: str) -> Mapping[str, int]:
    """Return the number of each month by its folded names, in some languages or in all."""
    return MappingProxyType(
        {
            fold(name): number
            for language, roles in resources.tables("languages").items()
            if not languages or language in languages
            for number, names in enumerate(roles.get(_MONTHS, ()), start=1)
            for name in names
        }
    )


def _languages() -> Mapping[str, Mapping[str, list[str]]]:
    """Return the roles of each language without its months."""
    return {
        language: {role: phrases for role, phrases in roles.items() if role != _MONTHS}
        for language, roles in resources.tables("languages").items()
    }


@functools.cache
def _known() -> Mapping[str, list[str]]:
    return resources.table("item_words.toml")


@functools.cache
def _row_phrases() -> Phrasebook:
    return Phrasebook({kind: _known()[kind] for kind in _ROW_KINDS})


def row_kind(label: str) -> str | None:
    """Return the kind of the phrase with which a label begins; None if there is none."""
    found = _row_phrases().find(label)
    is_first = found and not any(map(str.isalnum, label[: found[0].start]))
    return found[0].kind if is_first else None


def measure_kind(label: str) -> str | None:
    """Return `measures` or `rates` if a label means a quantity or a unit price."""
    found = _measure_phrases().find(label)
    letters = sum(map(str.isalpha, label))
    covered = sum(sum(map(str.isalpha, label[each.start : each.end])) for each in found)
    return found[0].kind if found and covered * 2 > letters else None


@functools.cache
def _measure_phrases() -> Phrasebook:
    known = _known()
    return Phrasebook({"rates": known["rates"], "measures": known["measures"] + known["quantity"]})


def is_returned(name: str) -> bool:
    """Return whether a name is that of a deposit or a returned article, not of a discount."""
    return row_kind(name) == "item" or bool(_returns().find(name))


@functools.cache
def _returns() -> Phrasebook:
    return Phrasebook({"returns": _known()["returns"]}, joined=False)


def is_of(word: str) -> bool:
    """Return whether a word after `total` shows that it is a total of something, not a name."""
    return word.lower() in _known()["of"]


def is_joining(word: str) -> bool:
    """Return whether no name ends with a word; a single capital letter may be a code."""
    known = _known()["joining"]
    return word in known or (len(word) > 1 and word.lower() in known)


def named_product(text: str) -> str | None:
    """Return the name after a label for the product of a pump, `GRADE: REGULAR`."""
    match = _product().match(text)
    return match["name"] if match else None


@functools.cache
def _product() -> re.Pattern[str]:
    return re.compile(
        rf"\W*(?:{_alternatives('product')})\s?[\s:.]\s*(?P<name>\S.*)", re.IGNORECASE
    )


def is_fuel(text: str) -> bool:
    """Return whether a text is the name of a fuel and little else."""
    return _fuel().fullmatch(text) is not None


@functools.cache
def _fuel() -> re.Pattern[str]:
    name = rf"(?:{_alternatives('fuels')}|{grades()})"
    return re.compile(rf"\W*{name}(?:\W{{1,3}}(?:{name}|[0-9]{{2,3}}))*\W*", re.IGNORECASE)


def _alternatives(kind: str) -> str:
    return "|".join(map(re.escape, sorted(_known()[kind], key=len, reverse=True)))


@functools.cache
def units() -> str:
    """Return a pattern of the units of measure, the longest first."""
    longest_first = sorted(set(_known()["units"]), key=len, reverse=True)
    return rf"(?:{'|'.join(map(re.escape, longest_first))})\.?"


@functools.cache
def pieces() -> str:
    """Return a pattern of the units of counted articles, the longest first."""
    return _alternatives("pieces")


@functools.cache
def counting() -> str:
    """Return a pattern of the words for a quantity or a unit price."""
    return _alternatives("counting")


@functools.cache
def each() -> str:
    """Return a pattern of the words after the price of one."""
    return _alternatives("each")


@functools.cache
def quantity_labels() -> str:
    """Return a pattern of the labels of a number of articles."""
    return _alternatives("quantity")


@functools.cache
def grades() -> str:
    """Return a pattern of fuel grades, which are names although they have few letters."""
    return "|".join(_known()["grades"])


@functools.cache
def places() -> str:
    """Return a pattern of places such as fuel pumps, which are not item names."""
    return _alternatives("places")
