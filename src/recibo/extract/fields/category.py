"""Guesses what the money was spent on, from the seller's name and the goods."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from recibo.extract.locales import tables
from recibo.extract.locales.phrases import Phrasebook
from recibo.extract.model import Category

# A word in the name says what the shop is; a word among the goods may be chance.
_IN_NAME, _IN_GOODS, _MOST_GOODS = 3.0, 0.75, 4
# Below this, or this close to the next one, the category stays unknown.
_ENOUGH, _MARGIN = 2.0, 0.7


def categories(merchant: str | None, texts: Sequence[str]) -> tuple[Category, ...]:
    """Return the categories that the words speak for, best first; empty when unsure."""
    scores: dict[str, float] = defaultdict(float)
    for category in _words(merchant or "", "merchant"):
        scores[category] += _IN_NAME
    goods: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        for phrase in _book("goods").find(text):
            for category in phrase.kind.split("|"):
                goods[category].add(text[phrase.start : phrase.end].lower())
    for category, words in goods.items():
        scores[category] += _IN_GOODS * min(len(words), _MOST_GOODS)
    ranked = sorted(scores, key=lambda category: -scores[category])
    if not ranked or scores[ranked[0]] < _ENOUGH:
        return ()
    if len(ranked) > 1 and scores[ranked[0]] - scores[ranked[1]] < _MARGIN:
        return ()
    return tuple(Category(category) for category in ranked)


def _words(text: str, kind: str) -> set[str]:
    return {category for phrase in _book(kind).find(text) for category in phrase.kind.split("|")}


@cache
def _book(kind: str) -> Phrasebook:
    owners: dict[str, list[str]] = defaultdict(list)
    for category, words in tables.categories().items():
        for word in words[kind]:
            owners[word].append(category)
    kinds: dict[str, list[str]] = defaultdict(list)
    for word, names in owners.items():
        kinds["|".join(dict.fromkeys(names))].append(word)
    return Phrasebook(kinds, glued=False)
