"""Leaves out the second copy of a receipt that is printed next to the first one on a page."""

import difflib
import itertools
from dataclasses import replace

from recibo.extract.model import Line, TextPage, around
from recibo.extract.text.folding import normalize

#: The fewest lines that are printed twice, and their least share of the lines of a page.
_FEWEST, _LEAST_SHARE = 6, 0.7
#: The least similarity of the two halves of a line, and the fewest letters of one and of both.
_SAME, _FEWEST_LETTERS, _MOST_LETTERS = 0.9, 4, 400
#: The halves differ by at most so many letters.
_MOST_LONGER = 3


def without(text_page: TextPage) -> TextPage:
    """Return a page without the right one of two equal copies."""
    lines = [line for line in text_page.lines if line.words]
    edges = [edge for line in lines if (edge := _second_half(line)) is not None]
    if len(edges) < max(_FEWEST, _LEAST_SHARE * len(lines)):
        return text_page
    kept = (_before(line, min(edges)) for line in lines)
    return replace(text_page, lines=tuple(line for line in kept if line is not None))


def _second_half(line: Line) -> float | None:
    """Return where a line is repeated; None if its halves differ."""
    letters = [normalize(word.text).letters for word in line.words]
    whole = sum(map(len, letters))
    if whole > _MOST_LETTERS:
        return None
    lefts = list(itertools.accumulate(map(len, letters)))
    places = [
        place
        for place, left in enumerate(lefts[:-1], start=1)
        if left >= _FEWEST_LETTERS and abs(2 * left - whole) <= _MOST_LONGER
    ]
    shares = {
        place: _likeness("".join(letters[:place]), "".join(letters[place:])) for place in places
    }
    best = max(places, key=lambda place: shares[place], default=None)
    return line.words[best].box.x0 if best and shares[best] >= _SAME else None


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def _before(line: Line, edge: float) -> Line | None:
    words = tuple(word for word in line.words if word.box.x0 < edge)
    if len(words) == len(line.words):
        return line
    return replace(line, words=words, box=around([word.box for word in words])) if words else None
