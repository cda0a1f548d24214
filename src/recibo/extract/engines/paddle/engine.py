"""PP-OCRv6 small: detection, the side the page lies on, recognition."""

import math
from collections.abc import Sequence

import numpy as np

from recibo.extract.engines.paddle import direction, recognition, regions
from recibo.extract.engines.paddle.detection import Detector
from recibo.extract.engines.paddle.regions import Region
from recibo.extract.engines.port import Reading
from recibo.extract.model import Picture, Word

#: The longest side that detection looks at. Measured on scanned receipts: 1280 finds what 1920
#: finds in half the time.
LONGEST_SIDE = 1280

#: Readings below this mean letter probability are noise more often than text.
MIN_CONFIDENCE = 0.3

#: So many of the widest lines vote whether the page stands on its head.
VOTERS = 16

#: Only regions so much longer than thick tell which way text runs.
TELLING_RATIO = 1.5


class PaddleEngine:
    """Reads pictures with PP-OCRv6 small on one thread."""

    name = "PP-OCRv6 small, onnxruntime"

    def __init__(self) -> None:
        """Load the models; raises MissingModel."""
        self._detect = Detector()
        self._classify = direction.DirectionClassifier()
        self._recognise = recognition.Recogniser()

    def read(self, picture: Picture) -> Reading:
        """Find all text of a picture that may lie on any of its four sides."""
        found = self._regions(picture)
        turns = 0
        if _lies_on_its_side(found):
            turns = 1
            picture = np.ascontiguousarray(np.rot90(picture, -1))
            found = self._regions(picture)
        if self._stands_on_its_head(picture, found):
            turns += 2
            height, width = picture.shape[:2]
            picture = np.ascontiguousarray(np.rot90(picture, 2))
            found = [region.half_turned(width, height) for region in found]
        words = (self._word(picture, region) for region in found)
        return Reading(tuple(word for word in words if word), turns)

    def _regions(self, picture: Picture) -> list[Region]:
        return self._detect(picture, min(1.0, LONGEST_SIDE / max(picture.shape[:2])))

    def _stands_on_its_head(self, picture: Picture, found: Sequence[Region]) -> bool:
        flat = [region for region in found if not region.is_upended]
        widest = sorted(flat, key=lambda region: region.width / region.height)[-VOTERS:]
        if not widest:
            return False
        lines = [regions.cut(picture, region, direction.HEIGHT) for region in widest]
        return float(np.mean(self._classify(lines))) > 0.5  # noqa: PLR2004

    def _word(self, picture: Picture, region: Region) -> Word | None:
        read = self._recognise(regions.cut(picture, region, recognition.HEIGHT))
        if not read.text or read.confidence < MIN_CONFIDENCE:
            return None
        return Word(
            read.text,
            region.box,
            read.confidence,
            slope=math.tan(region.angle),
            is_upended=region.is_upended and len(read.text) > 1,
        )


def _lies_on_its_side(found: Sequence[Region]) -> bool:
    """Tell whether most of the text runs up or down."""
    upended = sum(region.height for region in found if region.is_upended)
    flat = sum(region.width for region in found if region.width >= TELLING_RATIO * region.height)
    return upended > flat
