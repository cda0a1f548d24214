"""PP-OCRv6 small: detection, the side the page lies on, recognition."""

import itertools
import math
from collections.abc import Iterator, Sequence
from operator import attrgetter

import numpy as np

from recibo.extract.model import Picture, Word
from recibo.extract.ocr.engine import Reading
from recibo.extract.ocr.paddle import direction, malloc_trim, recognition, regions, runtimes
from recibo.extract.ocr.paddle.detection import Detector
from recibo.extract.ocr.paddle.previous_words import SURE, KnownWords
from recibo.extract.ocr.paddle.recognition import Piece
from recibo.extract.ocr.paddle.regions import Region
from recibo.extract.ocr.runtime import Runtime

#: Readings below this mean letter probability are noise more often than text.
MIN_CONFIDENCE = 0.3

#: So many of the widest lines vote whether the page stands on its head.
VOTERS = 16

#: A chance above it is more likely than not.
HALF = 0.5

#: Between these shares of the votes blur or noise has deceived the voters: then so many of the
#: lines are read both ways. Measured on damaged photos: votes from 0.2 to 0.6 for pages that stand
#: upright, whose lines are read with 0.84 to 0.98 upright and with 0.56 to 0.64 on their heads.
DOUBTFUL_VOTES = (0.15, 0.85)
LINES_READ_BOTH_WAYS = 4

#: Only regions so much longer than thick tell which way text runs.
TELLING_RATIO = 1.5


class PaddleEngine:
    """Reads pictures with PP-OCRv6 small on one thread."""

    def __init__(self, runtime: Runtime = Runtime.AUTO) -> None:
        """Load the models; raises MissingModel."""
        self._detect = Detector()
        self._classify = direction.DirectionClassifier()
        self._recognise = runtimes.recogniser(runtime)

    @property
    def name(self) -> str:
        """The models, and what runs the one that takes most of the time."""
        return f"PP-OCRv6 small, lines read on {self._recognise.runtime}"

    def read(
        self, picture: Picture, *, fineness: float = 1.0, earlier: Reading | None = None
    ) -> Reading:
        """Find all text of a picture that may lie on any of its four sides."""
        try:
            if earlier:
                return self._read_again(picture, fineness, earlier)
            return self._read(picture, fineness)
        finally:
            malloc_trim.give_back()

    def _read(self, picture: Picture, fineness: float) -> Reading:
        found = self._detect(picture, fineness)
        turns = 0
        if _lies_on_its_side(found):
            turns = 1
            picture = np.ascontiguousarray(np.rot90(picture, -1))
            found = self._detect(picture, fineness)
        if self._stands_on_its_head(picture, found):
            turns += 2
            picture = np.ascontiguousarray(np.rot90(picture, 2))
            # The network sees a page on its head a little differently: its lines are cut anew.
            found = self._detect(picture, fineness)
        read = {region: tuple(self._words(picture, region)) for region in _by_length(found)}
        words = (read[region] for region in found)
        return Reading(tuple(itertools.chain.from_iterable(words)), turns)

    def _read_again(self, picture: Picture, fineness: float, earlier: Reading) -> Reading:
        """Read what an earlier look left in doubt, on the side that it found the page to lie on."""
        upright = np.ascontiguousarray(np.rot90(picture, -earlier.turns))
        known = KnownWords(earlier.words)
        words: list[Word] = []
        for region in self._detect(upright, fineness):
            seen = known.inside(region)
            if seen and min(word.confidence for word in seen) >= SURE:
                words += seen
            else:
                read = list(self._words(upright, region))
                surer = max(seen, read, key=_sureness)
                words += surer
        return Reading(tuple(words), earlier.turns)

    def _stands_on_its_head(self, picture: Picture, found: Sequence[Region]) -> bool:
        flat = [region for region in found if not region.is_upended]
        widest = _by_length(flat)[-VOTERS:]
        if not widest:
            return False
        lines = [regions.cut(picture, region, direction.HEIGHT) for region in widest]
        votes = float(np.mean(self._classify(lines)))
        least, most = DOUBTFUL_VOTES
        if least < votes < most:
            return self._reads_better_turned(picture, widest[-LINES_READ_BOTH_WAYS:])
        return votes > HALF

    def _reads_better_turned(self, picture: Picture, found: Sequence[Region]) -> bool:
        """Tell whether these lines are read more surely when they are turned by 180 degrees."""
        lines = [regions.cut(picture, region, recognition.HEIGHT) for region in found]
        upright, turned = (
            sum(_sureness(self._recognise(np.rot90(line, turns))) for line in lines)
            for turns in (0, 2)
        )
        return turned > upright

    def _words(self, picture: Picture, region: Region) -> Iterator[Word]:
        line = regions.cut(picture, region, recognition.HEIGHT)
        is_turned = region.is_upended and self._classify([line])[0] > HALF
        for piece in self._recognise(np.rot90(line, 2) if is_turned else line):
            if piece.text and piece.confidence >= MIN_CONFIDENCE:
                start, end = piece.start, piece.end
                part = region.part(1 - end, 1 - start) if is_turned else region.part(start, end)
                yield _word(piece, part, is_upended=region.is_upended)


def _word(piece: Piece, part: Region, *, is_upended: bool) -> Word:
    return Word(
        piece.text,
        part.box,
        piece.confidence,
        slope=0.0 if is_upended else math.tan(part.angle),
        is_upended=is_upended and len(piece.text) > 1,
    )


def _sureness(words: Sequence[Word] | Sequence[Piece]) -> float:
    """Return the mean confidence of a letter; 0 without any."""
    letters = sum(len(word.text) for word in words)
    return sum(word.confidence * len(word.text) for word in words) / letters if letters else 0.0


def _by_length(found: Sequence[Region]) -> list[Region]:
    """Return the regions in such an order that lines of one input shape follow each other.

    A runtime that meets another shape must work out again how to run it: a quarter of a line's
    time where recognition is fastest.
    """
    return sorted(found, key=attrgetter("aspect"))


def _lies_on_its_side(found: Sequence[Region]) -> bool:
    """Tell whether most of the text runs up or down."""
    upended = sum(region.height for region in found if region.is_upended)
    flat = sum(region.width for region in found if region.width >= TELLING_RATIO * region.height)
    return upended > flat
