"""Puts words into lines, and lines into reading order."""

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence

from recibo.extract.model import Box, Line, Word, around

#: Two words share a row if their middles lie within this share of the smaller height of each
#: other, or, in different sizes, their feet within the second share.
_MAX_MIDDLES_APART = 0.5
_MAX_FEET_APART = 0.2

#: Words that cover each other by more than this share of the narrower one's width stand one
#: above the other.
_MAX_OVERLAP = 0.5

#: Only words so much longer than tall tell the slope of their row well.
_TELLING_RATIO = 4

#: The slope at a place is the median over so many telling words above and below it.
_WITNESSES = 3

#: Shorter ones hint at it: so many of them in a column tell how it slopes, if they stand within so
#: many heights of a word and are at most so many times as wide.
#: Of those above and of those below no more than the fourth figure are looked at: the densest
#: invoices have 118 within reach.
_HINTING_RATIO = 2
_FEWEST_HINTS = 3
_HINTING_REACH = 8
_MOST_LOOKED_AT = 300
_MOST_TIMES_WIDER = 2

#: A line of more letters is no printed one and is cut: the widest honest pages have 250. Whoever
#: searches a line may so take time by the square of its length.
_MOST_LETTERS = 600

#: Words come from top to bottom, so only the last rows can still grow.
_OPEN_ROWS = 6


def lines(words: Iterable[Word]) -> tuple[Line, ...]:
    """Return the lines from top to bottom: each holds all words of one visual row, left to right.

    Rows may be slanted or curled: each is followed from word to word. Text that runs up or down
    the page comes last, a line for each run.
    """
    upright: list[Word] = []
    upended: list[Word] = []
    for word in words:
        (upended if word.is_upended else upright).append(word)
    rows = [*_rows(upright), *([word] for word in upended)]
    return tuple(_line(part) for row in rows for part in _parts(row))


def _rows(words: Sequence[Word]) -> list[list[Word]]:
    """Gather words to rows in the order of their height at the middle of the page."""
    if not words:
        return []
    slopes = _Slopes(words)
    rows, strain = _gathered(words, slopes)
    if slopes.are_level:
        return rows
    # Paper that bends across has another slope at each side; on a page of many columns the few
    # words of one tell it badly. Where the words lie nearer to their rows is how they run.
    other_rows, other_strain = _gathered(words, _Slopes(words, is_bent=True))
    return other_rows if other_strain < strain else rows


def _gathered(words: Sequence[Word], slopes: "_Slopes") -> tuple[list[list[Word]], float]:
    """Gather words to rows, and tell how far they lie off them; a row of its own counts as 1."""
    strain = 0.0
    middle = sum(word.box.x_centre for word in words) / len(words)

    def height_at_middle(word: Word) -> float:
        return word.box.y_centre + slopes.at(word) * (middle - word.box.x_centre)

    rows: list[_Row] = []
    for word in sorted(words, key=height_at_middle):
        row, apart = _row_of(word, rows[-_OPEN_ROWS:], slopes)
        strain += apart
        if row is None:
            rows.append(row := _Row())
        row.add(word)
    gathered = [row.words for row in rows]
    return sorted(gathered, key=lambda row: sum(map(height_at_middle, row)) / len(row)), strain


class _Row:
    """The words of a row so far."""

    def __init__(self) -> None:
        """Begin with none."""
        #: In the order in which they were added.
        self.words: list[Word] = []
        # Twice the middle of each word and its index, from left to right.
        self._middles: list[tuple[float, int]] = []

    def add(self, word: Word) -> None:
        """Add a word that has room in the row."""
        bisect.insort(self._middles, (word.box.x0 + word.box.x1, len(self.words)))
        self.words.append(word)

    def neighbour(self, word: Word) -> Word | None:
        """Return the word whose middle is next in x; None if one stands over or under it.

        The words of a row hardly overlap, so only the two about its middle may do so.
        """
        middle = word.box.x0 + word.box.x1
        place = bisect.bisect_left(self._middles, (middle, 0))
        about = self._middles[max(0, place - 1) : place + 1]
        if any(_is_over(self.words[index], word) for _, index in about):
            return None
        # Of two that are as near the one that came first counts.
        return self.words[min(about, key=lambda each: (abs(each[0] - middle), each[1]))[1]]


def _row_of(word: Word, rows: Sequence[_Row], slopes: "_Slopes") -> tuple[_Row | None, float]:
    """Return the row that a word belongs to, None when it begins one, and how far it lies off."""
    nearest, least = None, 1.0
    for row in rows:
        apart = _apart(word, row, slopes)
        if apart < least:
            nearest, least = row, apart
    return nearest, least


def _apart(word: Word, row: _Row, slopes: "_Slopes") -> float:
    """Return how far a word lies off a row; below 1 it belongs to it."""
    near = row.neighbour(word)
    if near is None:
        return 1.0
    drop = slopes.between(word, near) * (word.box.x_centre - near.box.x_centre)
    height = min(word.box.height, near.box.height)
    middles = abs(word.box.y_centre - near.box.y_centre - drop)
    feet = abs(word.box.y1 - near.box.y1 - drop)
    return min(middles / _MAX_MIDDLES_APART, feet / _MAX_FEET_APART) / max(height, 1.0)


def _is_over(other: Word, word: Word) -> bool:
    """Tell whether two words share too much of a column to stand side by side."""
    one, two = other.box, word.box
    shared = min(one.x1, two.x1) - max(one.x0, two.x0)
    return shared > _MAX_OVERLAP * max(1.0, min(one.x1 - one.x0, two.x1 - two.x0))


class _Slopes:
    """How much the writing falls at each place of the page."""

    def __init__(self, words: Sequence[Word], *, is_bent: bool = False) -> None:
        telling = sorted(
            (word.box.y_centre, word.slope)
            for word in words
            if word.box.width >= _TELLING_RATIO * word.box.height
        )
        self._heights = [height for height, _ in telling]
        self._slopes = [slope for _, slope in telling]
        self.are_level = not any(self._slopes)
        self._is_bent = is_bent
        hinting = (word for word in words if word.box.width >= _HINTING_RATIO * word.box.height)
        self._hinting = sorted(hinting, key=_height) if is_bent else []
        self._columns: dict[Box, float | None] = {}

    def between(self, one: Word, other: Word) -> float:
        """Return the slope of the row from one word to another: the mean of the two ends' own."""
        ends = [self._in_column(word) for word in (one, other)] if self._is_bent else [None]
        known = [slope for slope in ends if slope is not None]
        if len(known) == len(ends):
            return sum(known) / len(known)
        # Where slopes change down the page, the longer word knows better how its row runs.
        return self.at(max(one, other, key=lambda either: either.box.width))

    def at(self, word: Word) -> float:
        """Return the slope of the rows about a word."""
        if self.are_level:
            return 0.0
        place = bisect.bisect(self._heights, word.box.y_centre)
        near = sorted(self._slopes[max(0, place - _WITNESSES) : place + _WITNESSES])
        return near[len(near) // 2]

    def _in_column(self, word: Word) -> float | None:
        """Return the slope of what stands above and below a word, None where too little does."""
        if word.box not in self._columns:
            place = bisect.bisect(self._hinting, word.box.y_centre, key=_height)
            above = self._sharing(
                word, self._hinting[max(0, place - _MOST_LOOKED_AT) : place][::-1]
            )
            below = self._sharing(word, self._hinting[place : place + _MOST_LOOKED_AT])
            near = sorted([*above, *below])
            is_known = len(near) >= _FEWEST_HINTS
            self._columns[word.box] = near[len(near) // 2] if is_known else None
        return self._columns[word.box]

    def _sharing(self, word: Word, others: Iterable[Word]) -> Iterator[float]:
        """Return the slopes of the next few words in the column of a word."""
        box, reach = word.box, _HINTING_REACH * word.box.height
        widest = _MOST_TIMES_WIDER * max(box.width, _TELLING_RATIO * box.height)
        near = itertools.takewhile(lambda each: abs(_height(each) - box.y_centre) < reach, others)
        shared = (
            each.slope
            for each in near
            if each.box.x0 < box.x1 and box.x0 < each.box.x1 and each.box.width < widest
        )
        return itertools.islice(shared, _WITNESSES)


def _height(word: Word) -> float:
    return word.box.y_centre


def _parts(row: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield the words of a row from left to right, in several parts if it is too long."""
    ordered = sorted(row, key=lambda word: word.box.x0)
    ends = itertools.accumulate(len(word.text) + 1 for word in ordered)
    numbered = zip(ordered, ends, strict=True)
    for _, part in itertools.groupby(numbered, key=lambda each: each[1] // _MOST_LETTERS):
        yield [word for word, _ in part]


def _line(words: Sequence[Word]) -> Line:
    return Line(tuple(words), around([word.box for word in words]), page=words[0].page)
