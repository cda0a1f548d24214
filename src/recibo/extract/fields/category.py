"""Guesses the expense category from the seller's name and the line items."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache

from recibo.extract.model import Category
from recibo.extract.text import tables
from recibo.extract.text.folding import fold, normalize
from recibo.extract.text.phrases import Phrase, Phrasebook

# German and Dutch join a trade and the word before it.
_LEAST_TRADE, _LEAST_LEFT = 6, 2
_DOTTED_END = re.compile(r"(?<!\w)(?:\w{1,3}\.\s?)+\w{0,3}\.?\s*$")
# A word in the name is the shop's trade; a word in an item may be a coincidence.
_IN_NAME, _IN_ITEMS, _MOST_ITEM_WORDS = 3.0, 0.75, 3
# With a lower score, or a smaller lead over the next one, the category stays unknown.
_ENOUGH, _MARGIN = 2.0, 0.7


def categories(merchant: str | None, texts: Sequence[str]) -> tuple[Category, ...]:
    """Return the categories of the words, best first; empty if none is clear."""
    scores: dict[str, float] = defaultdict(float)
    for category in _of_name(merchant or ""):
        scores[category] += _IN_NAME
    item_words: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        for phrase in _book("items").find(text):
            for category in _categories_of(phrase):
                item_words[category].add(text[phrase.start : phrase.end].lower())
    for category, words in item_words.items():
        scores[category] += _IN_ITEMS * min(len(words), _MOST_ITEM_WORDS)
    ranked = sorted(scores, key=lambda category: -scores[category])
    if not ranked or scores[ranked[0]] < _ENOUGH:
        return ()
    if len(ranked) > 1 and scores[ranked[0]] - scores[ranked[1]] < _MARGIN:
        return ()
    return tuple(Category(category) for category in ranked)


def _of_name(name: str) -> set[str]:
    """Return the categories of the words in a name, or of the ends of its compound words."""
    trade = _without_legal_form(name)
    found = {
        category for phrase in _book("merchant").find(trade) for category in _categories_of(phrase)
    }
    return found or {
        category for word in fold(trade).split() for category in _of_compound(word.strip(".,&()"))
    }


def _without_legal_form(name: str) -> str:
    """Cut off a legal form with dots: an "S.p.A." is not a spa."""
    form = _DOTTED_END.search(name)
    known = {normalize(form.text).letters for form in tables.legal_forms()}
    is_legal = form is not None and normalize(form[0]).letters in known
    return name[: form.start()] if form and is_legal else name


def _categories_of(phrase: Phrase) -> list[str]:
    return phrase.kind.split("|")


def _of_compound(word: str) -> list[str]:
    """Return the categories of the longest trade at the end of a word: "Schlossapotheke"."""
    trades = _compounding()
    starts = range(_LEAST_LEFT, len(word) - _LEAST_TRADE + 1)
    return next((trades[word[start:]] for start in starts if word[start:] in trades), [])


@cache
def _compounding() -> Mapping[str, list[str]]:
    """Return the trades that are long enough to be found at the end of a word."""
    owners: dict[str, list[str]] = defaultdict(list)
    for category, words in tables.categories().items():
        for word in words["merchant"]:
            if len(word) >= _LEAST_TRADE and " " not in word:
                owners[word].append(category)
    return owners


@cache
def _book(kind: str) -> Phrasebook:
    owners: dict[str, list[str]] = defaultdict(list)
    for category, words in tables.categories().items():
        for word in words[kind]:
            owners[word].append(category)
    kinds: dict[str, list[str]] = defaultdict(list)
    for word, names in owners.items():
        kinds["|".join(dict.fromkeys(names))].append(word)
    return Phrasebook(kinds, joined=False)
