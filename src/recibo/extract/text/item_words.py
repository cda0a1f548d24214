"""The words of `data/item_words.toml`: what they mean for a row of goods."""

import functools
import re
from collections.abc import Mapping

from recibo.extract import resources
from recibo.extract.text import tables
from recibo.extract.text.phrases import Phrasebook

#: The kinds of words that a row may begin with.
_OPENINGS = ("end", "on_item", "goods", "final")


@functools.cache
def _known() -> Mapping[str, list[str]]:
    return resources.table("item_words.toml")


@functools.cache
def _openings() -> Phrasebook:
    return Phrasebook({kind: _known()[kind] for kind in _OPENINGS})


def opening(label: str) -> str | None:
    """Return the kind of the phrase that a label begins with, None if it is none of these."""
    found = _openings().find(label)
    is_first = found and not any(map(str.isalnum, label[: found[0].start]))
    return found[0].kind if is_first else None


def opening_of_measure(label: str) -> str | None:
    """Return whether a label is the word for a quantity or a rate, `measures` or `rates`."""
    found = _measuring().find(label)
    letters = sum(map(str.isalpha, label))
    covered = sum(sum(map(str.isalpha, label[each.start : each.end])) for each in found)
    return found[0].kind if found and covered * 2 > letters else None


@functools.cache
def _measuring() -> Phrasebook:
    return Phrasebook({kind: _known()[kind] for kind in ("rates", "measures")})


def is_of(word: str) -> bool:
    """Tell whether a word behind `total` says that it is a total of something."""
    return word.lower() in _known()["of"]


def is_joining(word: str) -> bool:
    """Tell whether a name cannot end with a word; one letter in capitals is a mark."""
    known = _known()["joining"]
    return word in known or (len(word) > 1 and word.lower() in known)


@functools.cache
def units() -> str:
    """Return a pattern of the units of measure, the longest first."""
    longest_first = sorted(set(_known()["units"]), key=len, reverse=True)
    return rf"(?:{'|'.join(map(re.escape, longest_first))})\.?"


@functools.cache
def counting() -> str:
    """Return a pattern of the words that go with a quantity or a unit price."""
    return "|".join(map(re.escape, sorted(_known()["counting"], key=len, reverse=True)))


@functools.cache
def grades() -> str:
    """Return a pattern of the grades of fuel, which are names though they have few letters."""
    return "|".join(_known()["grades"])


@functools.cache
def places() -> str:
    """Return a pattern of the places where something was filled, which name no goods."""
    return "|".join(map(re.escape, sorted(_known()["places"], key=len, reverse=True)))


@functools.cache
def marks() -> str:
    """Return a pattern of the marks and codes of all currencies, the longest first."""
    return rf"(?:(?<![^\W\d_])(?:{_any_mark()}))"


@functools.cache
def marks_behind() -> str:
    """Return the same for marks behind a figure, to which they may be glued."""
    return rf"(?:{_any_mark()})"


@functools.cache
def _any_mark() -> str:
    every = {
        mark
        for currency in tables.currencies().values()
        for mark in (*currency.marks, *currency.shared)
    }
    return "|".join(map(re.escape, sorted(every, key=len, reverse=True)))
