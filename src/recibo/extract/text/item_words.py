"""The words of `data/item_words.toml`, which occur in rows of items."""

import functools
import re
from collections.abc import Mapping

from recibo.extract import resources
from recibo.extract.text.phrases import Phrasebook

#: The kinds of phrases with which a row may begin.
_ROW_KINDS = ("end", "on_item", "item", "final")


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
    return Phrasebook({kind: _known()[kind] for kind in ("rates", "measures")})


def is_of(word: str) -> bool:
    """Return whether a word after `total` shows that it is a total of something, not a name."""
    return word.lower() in _known()["of"]


def is_joining(word: str) -> bool:
    """Return whether no name ends with a word; a single capital letter may be a code."""
    known = _known()["joining"]
    return word in known or (len(word) > 1 and word.lower() in known)


@functools.cache
def units() -> str:
    """Return a pattern of the units of measure, the longest first."""
    longest_first = sorted(set(_known()["units"]), key=len, reverse=True)
    return rf"(?:{'|'.join(map(re.escape, longest_first))})\.?"


@functools.cache
def counting() -> str:
    """Return a pattern of the words for a quantity or a unit price."""
    return "|".join(map(re.escape, sorted(_known()["counting"], key=len, reverse=True)))


@functools.cache
def grades() -> str:
    """Return a pattern of fuel grades, which are names although they have few letters."""
    return "|".join(_known()["grades"])


@functools.cache
def places() -> str:
    """Return a pattern of places such as fuel pumps, which are not item names."""
    return "|".join(map(re.escape, sorted(_known()["places"], key=len, reverse=True)))
