"""Groups words into lines, in reading order."""

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence

from recibo.extract.model import Box, Line, Word, around

#: Two words are in one row if the distance of their middles is at most this share of the smaller
#: height, or, in different sizes, that of their bottom edges at most the second share.
_MAX_MIDDLES_APART = 0.5
_MAX_BASELINES_APART = 0.2

#: Words that overlap horizontally by more than this share of the narrower one are one above the
#: other.
_MAX_OVERLAP = 0.5

#: Only words this much wider than high show the slope of their row reliably.
_LONG_RATIO = 4

#: The slope at a place is the median of this many long words above and below it.
_NEIGHBORS = 3

#: Shorter words count if there are enough of them in the column of a word, within this many of its
#: heights, and at most this many times as wide. At most `_MOST_SHORT_WORDS` above and below it are
#: searched; the densest invoices have 118 within reach.
_SHORT_RATIO = 2
_FEWEST_SHORT_WORDS = 3
_SHORT_REACH = 8
_MOST_SHORT_WORDS = 300
_MOST_TIMES_WIDER = 2

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
    slopes = _Slopes(words)
    rows, deviation = _gathered(words, slopes)
    if slopes.are_level:
        return rows
    # On a curved sheet the slope differs from column to column; on a page with many columns the few
    # words of one show it badly. The grouping in which words are nearer to their rows is right.
    other_rows, other_deviation = _gathered(words, _Slopes(words, is_curved=True))
    return other_rows if other_deviation < deviation else rows


def _gathered(words: Sequence[Word], slopes: "_Slopes") -> tuple[list[list[Word]], float]:
    """Return rows and the sum of the words' distances from them; a new row counts as 1."""
    deviation = 0.0
    middle = sum(word.box.x_center for word in words) / len(words)

    def height_at_middle(word: Word) -> float:
        return word.box.y_center + slopes.at(word) * (middle - word.box.x_center)

    rows: list[_Row] = []
    for word in sorted(words, key=height_at_middle):
        row, apart = _row_of(word, rows[-_OPEN_ROWS:], slopes)
        deviation += apart
        if row is None:
            rows.append(row := _Row())
        row.add(word)
    gathered = [row.words for row in rows]
    return sorted(gathered, key=lambda row: sum(map(height_at_middle, row)) / len(row)), deviation


class _Row:
    """The words of a row so far."""

    def __init__(self) -> None:
        """Create an empty row."""
        #: In the order in which they were added.
        self.words: list[Word] = []
        # Twice the middle of each word, and its index, from left to right.
        self._middles: list[tuple[float, int]] = []

    def add(self, word: Word) -> None:
        """Add a word that overlaps no other."""
        bisect.insort(self._middles, (word.box.x0 + word.box.x1, len(self.words)))
        self.words.append(word)

    def neighbor(self, word: Word) -> Word | None:
        """Return the word whose middle is nearest in x; None if a word is above or below it.

        The words of a row hardly overlap, so only the two next to its middle need a check.
        """
        middle = word.box.x0 + word.box.x1
        place = bisect.bisect_left(self._middles, (middle, 0))
        about = self._middles[max(0, place - 1) : place + 1]
        if any(_overlap(self.words[index], word) for _, index in about):
            return None
        # Of two at the same distance, the one added first counts.
        return self.words[min(about, key=lambda each: (abs(each[0] - middle), each[1]))[1]]


def _row_of(word: Word, rows: Sequence[_Row], slopes: "_Slopes") -> tuple[_Row | None, float]:
    """Return the row of a word and its distance; None if it begins a new row."""
    nearest, least = None, 1.0
    for row in rows:
        apart = _distance(word, row, slopes)
        if apart < least:
            nearest, least = row, apart
    return nearest, least


def _distance(word: Word, row: _Row, slopes: "_Slopes") -> float:
    """Return the distance of a word from a row; below 1 it belongs to the row."""
    near = row.neighbor(word)
    if near is None:
        return 1.0
    drop = slopes.between(word, near) * (word.box.x_center - near.box.x_center)
    height = min(word.box.height, near.box.height)
    middles = abs(word.box.y_center - near.box.y_center - drop)
    baselines = abs(word.box.y1 - near.box.y1 - drop)
    return min(middles / _MAX_MIDDLES_APART, baselines / _MAX_BASELINES_APART) / max(height, 1.0)


def _overlap(other: Word, word: Word) -> bool:
    """Return whether two words overlap too much in x to be next to each other."""
    one, two = other.box, word.box
    shared = min(one.x1, two.x1) - max(one.x0, two.x0)
    return shared > _MAX_OVERLAP * max(1.0, min(one.x1 - one.x0, two.x1 - two.x0))


class _Slopes:
    """The slope of the text at each place of the page."""

    def __init__(self, words: Sequence[Word], *, is_curved: bool = False) -> None:
        long_words = sorted(
            (word.box.y_center, word.slope)
            for word in words
            if word.box.width >= _LONG_RATIO * word.box.height
        )
        self._heights = [height for height, _ in long_words]
        self._slopes = [slope for _, slope in long_words]
        self.are_level = not any(self._slopes)
        self._is_curved = is_curved
        short_words = (word for word in words if word.box.width >= _SHORT_RATIO * word.box.height)
        self._short_words = sorted(short_words, key=_height) if is_curved else []
        self._columns: dict[Box, float | None] = {}

    def between(self, one: Word, other: Word) -> float:
        """Return the slope of the row between two words: the mean of the slopes at both."""
        ends = [self._in_column(word) for word in (one, other)] if self._is_curved else [None]
        known = [slope for slope in ends if slope is not None]
        if len(known) == len(ends):
            return sum(known) / len(known)
        # Where slopes change down the page, that of the longer word is more reliable.
        return self.at(max(one, other, key=lambda either: either.box.width))

    def at(self, word: Word) -> float:
        """Return the slope of the rows near a word."""
        if self.are_level:
            return 0.0
        place = bisect.bisect(self._heights, word.box.y_center)
        near = sorted(self._slopes[max(0, place - _NEIGHBORS) : place + _NEIGHBORS])
        return near[len(near) // 2]

    def _in_column(self, word: Word) -> float | None:
        """Return the slope of the words above and below a word; None if there are too few."""
        if word.box not in self._columns:
            place = bisect.bisect(self._short_words, word.box.y_center, key=_height)
            above = self._sharing(
                word, self._short_words[max(0, place - _MOST_SHORT_WORDS) : place][::-1]
            )
            below = self._sharing(word, self._short_words[place : place + _MOST_SHORT_WORDS])
            near = sorted([*above, *below])
            is_known = len(near) >= _FEWEST_SHORT_WORDS
            self._columns[word.box] = near[len(near) // 2] if is_known else None
        return self._columns[word.box]

    def _sharing(self, word: Word, others: Iterable[Word]) -> Iterator[float]:
        """Return the slopes of the next few words in the column of a word."""
        box, reach = word.box, _SHORT_REACH * word.box.height
        widest = _MOST_TIMES_WIDER * max(box.width, _LONG_RATIO * box.height)
        near = itertools.takewhile(lambda each: abs(_height(each) - box.y_center) < reach, others)
        shared = (
            each.slope
            for each in near
            if each.box.x0 < box.x1 and box.x0 < each.box.x1 and each.box.width < widest
        )
        return itertools.islice(shared, _NEIGHBORS)


def _height(word: Word) -> float:
    return word.box.y_center


def _parts(row: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield the words of a row from left to right, in several parts if it is too long."""
    ordered = sorted(row, key=lambda word: word.box.x0)
    ends = itertools.accumulate(len(word.text) + 1 for word in ordered)
    numbered = zip(ordered, ends, strict=True)
    for _, part in itertools.groupby(numbered, key=lambda each: each[1] // _MOST_LETTERS):
        yield [word for word, _ in part]


def _line(words: Sequence[Word]) -> Line:
    return Line(tuple(words), around([word.box for word in words]), page=words[0].page)
