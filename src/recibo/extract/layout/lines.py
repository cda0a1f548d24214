"""Groups words into lines, in reading order."""

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

import numpy as np

from recibo.extract.layout import alignment
from recibo.extract.layout.alignment import Levelled
from recibo.extract.layout.slopes import SlopeField
from recibo.extract.model import Line, Word, around

#: Two words are in one row if the distance of their middles is at most this share of the smaller
#: height, or, in different sizes, that of their bottom edges at most the second share.
_MAX_MIDDLES_APART = 0.5
_MAX_BASELINES_APART = 0.2

#: Words that overlap horizontally by more than this share of the narrower one are one above the
#: other.
_MAX_OVERLAP = 0.5

#: A longer line is cut, since it is not printed: the widest pages have 250 characters. So a search
#: in a line may take quadratic time.
_MOST_LETTERS = 600

#: Words are added from top to bottom, so only the last rows can still grow.
_OPEN_ROWS = 6


def lines(words: Iterable[Word]) -> tuple[Line, ...]:
    """Return the lines from top to bottom, each with all words of a visual row, left to right.

    Rows may be slanted or curved: each is followed from word to word. Vertical text comes last, one
    line per word.
    """
    horizontal: list[Word] = []
    vertical: list[Word] = []
    for word in words:
        (vertical if word.is_vertical else horizontal).append(word)
    rows = [*_rows(horizontal), *([word] for word in vertical)]
    return tuple(_line(part) for row in rows for part in _parts(row))


def _rows(words: Sequence[Word]) -> list[list[Word]]:
    """Group words into rows, ordered by their height at the middle of the page."""
    if not words:
        return []
    slopes = SlopeField.fitted(words)
    if slopes is None:
        return _gathered([(word.box.y_center, word) for word in words])
    # The rows of the first grouping are longer than any word, so they show their slope better.
    rows = _gathered(_levelled(words, slopes))
    ordered = [sorted(row, key=lambda word: word.box.x0) for row in rows]
    levelled = _levelled(words, SlopeField.fitted(words, ordered) or slopes)
    heights = {id(word): height for height, word in levelled}
    known = [[(heights[id(word)], word) for word in row] for row in _gathered(levelled)]
    return [[word for _, word in row] for row in alignment.aligned(known)]


def _levelled(words: Sequence[Word], slopes: SlopeField) -> list[Levelled]:
    x = np.array([word.box.x_center for word in words])
    y = np.array([word.box.y_center for word in words])
    return list(zip(slopes.heights_at(float(x.mean()), x, y).tolist(), words, strict=True))


def _gathered(words: Sequence[Levelled]) -> list[list[Word]]:
    """Return the words of each row, from the highest row to the lowest."""
    rows: list[_Row] = []
    for height, word in sorted(words, key=itemgetter(0)):
        row = _row_of(height, word, rows[-_OPEN_ROWS:])
        if row is None:
            rows.append(row := _Row())
        row.add(height, word)
    return [row.words for row in sorted(rows, key=lambda row: row.height)]


class _Row:
    """The words of a row so far."""

    def __init__(self) -> None:
        """Create an empty row."""
        #: In the order in which they were added, and their heights at the middle of the page.
        self.words: list[Word] = []
        self._heights: list[float] = []
        # Twice the middle of each word, and its index, from left to right.
        self._middles: list[tuple[float, int]] = []

    @property
    def height(self) -> float:
        """The mean height of the words at the middle of the page."""
        return sum(self._heights) / len(self._heights)

    def add(self, height: float, word: Word) -> None:
        """Add a word that overlaps no other."""
        bisect.insort(self._middles, (word.box.x0 + word.box.x1, len(self.words)))
        self.words.append(word)
        self._heights.append(height)

    def distance(self, height: float, word: Word) -> float:
        """Return the distance of a word from the row; below 1 it belongs to the row."""
        place = self._neighbor(word)
        if place is None:
            return 1.0
        near = self.words[place]
        apart = height - self._heights[place]
        middles = abs(apart)
        baselines = abs(apart + (word.box.height - near.box.height) / 2)
        least = min(word.box.height, near.box.height)
        return min(middles / _MAX_MIDDLES_APART, baselines / _MAX_BASELINES_APART) / max(least, 1.0)

    def _neighbor(self, word: Word) -> int | None:
        """Return the index of the word nearest in x; None if a word is above or below it.

        The words of a row hardly overlap, so only the two next to its middle need a check.
        """
        middle = word.box.x0 + word.box.x1
        place = bisect.bisect_left(self._middles, (middle, 0))
        about = self._middles[max(0, place - 1) : place + 1]
        if any(_overlap(self.words[index], word) for _, index in about):
            return None
        # Of two at the same distance, the one added first counts.
        return min(about, key=lambda each: (abs(each[0] - middle), each[1]))[1]


def _row_of(height: float, word: Word, rows: Sequence[_Row]) -> _Row | None:
    """Return the row of a word; None if it begins a new row."""
    nearest, least = None, 1.0
    for row in rows:
        apart = row.distance(height, word)
        if apart < least:
            nearest, least = row, apart
    return nearest


def _overlap(other: Word, word: Word) -> bool:
    """Return whether two words overlap too much in x to be next to each other."""
    one, two = other.box, word.box
    shared = min(one.x1, two.x1) - max(one.x0, two.x0)
    return shared > _MAX_OVERLAP * max(1.0, min(one.x1 - one.x0, two.x1 - two.x0))


def _parts(row: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield the words of a row from left to right, in several parts if it is too long."""
    ordered = sorted(row, key=lambda word: word.box.x0)
    ends = itertools.accumulate(len(word.text) + 1 for word in ordered)
    numbered = zip(ordered, ends, strict=True)
    for _, part in itertools.groupby(numbered, key=lambda each: each[1] // _MOST_LETTERS):
        yield [word for word, _ in part]


def _line(words: Sequence[Word]) -> Line:
    return Line(tuple(words), around([word.box for word in words]), page=words[0].page)
