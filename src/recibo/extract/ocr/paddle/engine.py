"""PP-OCRv6 small: detection, orientation, recognition."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np

from recibo.extract.model import Picture, Word
from recibo.extract.ocr.engine import Reading
from recibo.extract.ocr.paddle import characters, recognition, regions, runtimes
from recibo.extract.ocr.paddle.detection import Detector, trim
from recibo.extract.ocr.paddle.recognition import Piece
from recibo.extract.ocr.paddle.regions import Region
from recibo.extract.ocr.runtime import Runtime

#: Text with a lower mean probability is noise more often than text.
MIN_CONFIDENCE = 0.3

#: A spot is a character only if it is read as one letter or digit with at least this confidence.
CHARACTER_CONFIDENCE = 0.9

#: The orientation is decided by reading the longest lines, until they have this many letters and
#: digits: at least and at most so many lines. The worst one does not count: a rule of asterisks is
#: read as letters, badly in any orientation.
SAMPLE_LETTERS = 60
SAMPLE_LINES = (3, 8)

#: Lines read with this mean confidence are upright. Others are also read upside down, and if
#: neither reaches the second value, on the page rotated by 90 degrees. Measured on 147 photos and
#: scans: upright lines have a confidence of 0.75 to 1.00, 97% of them at least 0.9; those upside
#: down have 0.41 to 0.84.
GOOD_CONFIDENCE = 0.9
POOR_CONFIDENCE = 0.75

#: If no orientation reaches this confidence, short lines decide: their shape and number.
POOR_TEXT, SHORT_RATIOS, SHORT_LINES = 0.8, (2.0, 5.0), 12

#: Fewer letters say nothing about the orientation.
FEWEST_LETTERS = 12

#: Only regions this many times longer than thick show the direction of the text.
LONG_RATIO = 1.5
#: So many regions next to each other, whose ends are equal within this share of their length, are
#: the bars of a barcode.
BARS, BAR_DIFFERENCE = 8, 0.05
#: All but one in some hundred words with this confidence are right: reading them again takes time
#: and changes nothing.
SURE = 0.97

#: A word belongs to a region if it extends beyond its ends by at most this share of the word's
#: length, its middle is at most this share of the region's thickness off the region's, and neither
#: is more than this many times as thick as the other.
_MOST_OUTSIDE = 0.15
_MOST_OFF = 0.25
_MOST_RATIO = 1.5

#: Words are all words of a region if they cover this share of its length.
_COVERED = 0.8


@dataclass(frozen=True, slots=True)
class _View:
    """A picture in one orientation, its text regions, and the words of those read so far."""

    picture: Picture
    turns: int
    found: Sequence[Region]
    read: dict[Region, Sequence[Word]] = field(default_factory=dict)


class PaddleEngine:
    """Reads pictures with PP-OCRv6 small on one thread."""

    def __init__(self, runtime: Runtime = Runtime.AUTO) -> None:
        """Load the models; raises MissingModel."""
        self._detect = Detector()
        self._recognize = runtimes.recognizer(runtime)

    @property
    def name(self) -> str:
        """The models, and the runtime of the one that takes most of the time."""
        return f"PP-OCRv6 small, lines read on {self._recognize.runtime}"

    def read(
        self, picture: Picture, *, scale: float = 1.0, earlier: Reading | None = None
    ) -> Reading:
        """Find all text of a picture in any of four orientations."""
        try:
            if earlier:
                return self._read_again(picture, scale, earlier)
            return self._read(picture, scale)
        finally:
            trim()

    def _read(self, picture: Picture, scale: float) -> Reading:
        view = self._upright(picture, scale)
        # A runtime must prepare for each new input shape, which takes a quarter of a line's time
        # where recognition is fastest. So lines of the same length follow each other.
        for region in _longest_first(view.found):
            self._read_once(view, region)
        words = [word for region in view.found for word in view.read[region]]
        words += self._characters(view.picture, view.found)
        unread = sum(
            max(region.width, region.height) for region in view.found if not view.read[region]
        )
        return Reading(tuple(words), view.turns, unread)

    def _upright(self, picture: Picture, scale: float) -> _View:
        """Return the picture in the orientation with the highest confidence."""
        view = self._view(picture, 0, scale)
        if _is_sideways(view.found):
            view = self._view(picture, 1, scale)
        views = {view.turns: view}
        confidence = self._confidence_by_turns(view)
        is_poor = max(confidence.values()) < POOR_CONFIDENCE
        if view.found and (is_poor or _has_few_letters(view)):
            across = self._view(picture, 1 - view.turns, scale)
            other = self._confidence_by_turns(across)
            is_sure = max(other.values()) >= POOR_CONFIDENCE and not _has_few_letters(across)
            if is_poor or is_sure:
                views[across.turns] = across
                confidence = confidence | other if is_poor else other
        if view.found and max(confidence.values()) < POOR_TEXT:
            figures = [self._confidence_of_figures(one) for one in views.values()]
            known = {turns: one[turns] for one in figures for turns in one}
            confidence = known if any(known.values()) else confidence
        best = max(confidence, key=confidence.__getitem__)
        # Detection differs a little on a page that is upside down, so it is repeated.
        return views.get(best) or self._view(picture, best, scale)

    def _view(self, picture: Picture, turns: int, scale: float) -> _View:
        turned = np.ascontiguousarray(np.rot90(picture, -turns))
        return _View(turned, turns, self._detect(turned, scale))

    def _confidence_by_turns(self, view: _View) -> dict[int, float]:
        """Return the confidence of the longest lines, also upside down if it is not good."""
        sample = self._sample_lines(view)
        upright = _confidence_of_lines([view.read[region] for region in sample])
        if upright >= GOOD_CONFIDENCE:
            return {view.turns: upright}
        turned = [self._line(view.picture, region, is_turned=True) for region in sample]
        return {view.turns: upright, view.turns + 2: _confidence_of_lines(turned)}

    def _confidence_of_figures(self, view: _View) -> dict[int, float]:
        """Return the confidence of short lines, which are amounts, upright and upside down.

        Lines in an unknown script are read as badly upright as upside down.
        """
        short = [
            region
            for region in view.found
            if not region.is_vertical and SHORT_RATIOS[0] <= region.aspect <= SHORT_RATIOS[1]
        ][:SHORT_LINES]
        return {
            view.turns + 2 * is_turned: _mean_confidence(
                [
                    word
                    for region in short
                    for word in self._line(view.picture, region, is_turned=is_turned)
                ]
            )
            for is_turned in (False, True)
        }

    def _sample_lines(self, view: _View) -> list[Region]:
        sample: list[Region] = []
        letters = 0
        least, most = SAMPLE_LINES
        for region in _longest_first(view.found):
            if (letters >= SAMPLE_LETTERS and len(sample) >= least) or len(sample) == most:
                break
            if not region.is_vertical and (more := _letters(self._read_once(view, region))):
                sample.append(region)
                letters += more
        return sample

    def _read_once(self, view: _View, region: Region) -> Sequence[Word]:
        if region not in view.read:
            view.read[region] = self._words(view.picture, region)
        return view.read[region]

    def _read_again(self, picture: Picture, scale: float, earlier: Reading) -> Reading:
        """Read the words with a low confidence in an earlier pass again, in its orientation."""
        upright = np.ascontiguousarray(np.rot90(picture, -earlier.turns))
        known = KnownWords(earlier.words)
        found = self._detect(upright, scale)
        words = self._characters(upright, found)
        for region in found:
            seen = known.inside(region)
            if seen and min(word.confidence for word in seen) >= SURE:
                words += seen
            else:
                best = max(seen, self._words(upright, region), key=_mean_confidence)
                words += best
        return Reading(tuple(words), earlier.turns, earlier.unread)

    def _characters(self, picture: Picture, found: Sequence[Region]) -> list[Word]:
        """Read the single characters that detection misses."""
        read = [self._line(picture, region) for region in characters.find(picture, found)]
        return [
            words[0]
            for words in read
            if len(words) == 1 == len(words[0].text)
            and words[0].text.isalnum()
            and words[0].confidence >= CHARACTER_CONFIDENCE
        ]

    def _words(self, picture: Picture, region: Region) -> list[Word]:
        words = self._line(picture, region)
        if region.is_vertical and _mean_confidence(words) < GOOD_CONFIDENCE:
            return max(words, self._line(picture, region, is_turned=True), key=_mean_confidence)
        return words

    def _line(self, picture: Picture, region: Region, *, is_turned: bool = False) -> list[Word]:
        """Read the line in a region."""
        line = regions.cut(picture, region, recognition.HEIGHT)
        pieces = self._recognize(np.rot90(line, 2) if is_turned else line)
        return [
            _word(piece, region, is_turned=is_turned)
            for piece in pieces
            if piece.text and piece.confidence >= MIN_CONFIDENCE
        ]


def _word(piece: Piece, region: Region, *, is_turned: bool) -> Word:
    start, end = piece.start, piece.end
    part = region.part(1 - end, 1 - start) if is_turned else region.part(start, end)
    return Word(
        piece.text,
        part.box,
        piece.confidence,
        slope=0.0 if region.is_vertical else math.tan(part.angle),
        is_vertical=region.is_vertical and len(piece.text) > 1,
    )


def _has_few_letters(view: _View) -> bool:
    return sum(map(_letters, view.read.values())) < FEWEST_LETTERS


def _letters(words: Sequence[Word]) -> int:
    """Count letters and digits; a row of dashes is the same upside down."""
    return sum(map(_count, words))


def _confidence_of_lines(lines: Sequence[Sequence[Word]]) -> float:
    """Return the mean confidence of the lines without the worst one, if enough are left."""
    best = sorted(lines, key=_mean_confidence, reverse=True)
    counted = best[:-1] if len(best) >= SAMPLE_LINES[0] else best
    return _mean_confidence(list(itertools.chain.from_iterable(counted)))


def _mean_confidence(words: Sequence[Word]) -> float:
    """Return the mean confidence of letters and digits; 0 without any."""
    letters = _letters(words)
    return sum(word.confidence * _count(word) for word in words) / letters if letters else 0.0


def _count(word: Word) -> int:
    return sum(map(str.isalnum, word.text))


def _longest_first(found: Sequence[Region]) -> list[Region]:
    return sorted(found, key=attrgetter("aspect"), reverse=True)


def _is_sideways(found: Sequence[Region]) -> bool:
    """Return whether most of the text runs up or down."""
    vertical = sum(region.height for region in _without_bars(found))
    flat = sum(region.width for region in found if region.width >= LONG_RATIO * region.height)
    return vertical > flat


def _without_bars(found: Sequence[Region]) -> Iterator[Region]:
    """Yield the regions that are no bars: those with few others between the same two ends."""
    upright = [region for region in found if region.is_vertical]
    ends = np.array([(one.y - one.height / 2, one.y + one.height / 2) for one in upright])
    for region, own in zip(upright, ends, strict=True):
        off = np.abs(ends - own).max(axis=1)
        if np.count_nonzero(off <= BAR_DIFFERENCE * region.height) < BARS:
            yield region


class KnownWords:
    """The horizontal words of an earlier pass."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = [word for word in words if not word.is_vertical]
        boxes = [word.box for word in self._words]
        self._x = np.array([box.x_center for box in boxes])
        self._y = np.array([box.y_center for box in boxes])
        self._length = np.array([box.width for box in boxes])
        self._thickness = np.array([box.height for box in boxes])

    def inside(self, region: Region) -> list[Word]:
        """Return the words in a region; none if they do not cover it."""
        if region.is_vertical or not self._words:
            return []
        dx, dy = self._x - region.x, self._y - region.y
        along = dx * math.cos(region.angle) + dy * math.sin(region.angle)
        aside = dy * math.cos(region.angle) - dx * math.sin(region.angle) - region.below(along)
        start = np.maximum(along - self._length / 2, -region.width / 2)
        end = np.minimum(along + self._length / 2, region.width / 2)
        shared = np.maximum(end - start, 0)
        belongs = (
            (shared >= (1 - _MOST_OUTSIDE) * self._length)
            & (np.abs(aside) <= _MOST_OFF * region.height)
            & (self._thickness <= _MOST_RATIO * region.height)
            & (region.height <= _MOST_RATIO * self._thickness)
        )
        if shared[belongs].sum() < _COVERED * region.width:
            return []
        return [self._words[place] for place in np.flatnonzero(belongs)]
