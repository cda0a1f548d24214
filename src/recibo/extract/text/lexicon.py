"""The words of each language: labels by role, months, frequent words.

`data/languages/` has a file for each language. docs/languages.md explains the roles, and how to
add a label or a language.
"""

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
        *("due_date", "customer", "addressed", "tip", "service_charge", "taxable"),
        *("discount_sum", "discount_word", "zero_rated", "loyalty", "no_payment"),
    }
)
_PAID = "paid_"


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
def phrasebook(*roles: str) -> Phrasebook:
    """Return the phrasebook of some roles; a phrase of two roles has the first one."""
    return Phrasebook({role: labels()[role] for role in roles}, repaired=labels()["repaired"])


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
